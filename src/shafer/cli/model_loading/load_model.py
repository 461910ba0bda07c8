"""Models on disk: skops files of known classes; pickles only if the user insists."""

from __future__ import annotations

import importlib
import shlex
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from shafer._safe_archive import open_archive
from shafer._text import listed
from shafer.cli.clean_errors import one_line
from shafer.cli.model_loading.skops_audit import audit
from shafer.cli.model_loading.vectorizer_check import check_vocabularies

_SKOPS, _PICKLES = (".skops",), (".pkl", ".pickle", ".joblib")


@final
@dataclass(frozen=True)
class NamedModel:
    """A loaded model and the name of its file."""

    model: Any
    file_name: str


def load_model(path: Path, trusted: Sequence[str] = (), trust_pickle: bool = False) -> Any:
    """Load a model.

    Parameters
    ----------
    path : Path
        A skops file; or a pickle or joblib file, with ``trust_pickle``.
    trusted : sequence of str
        Full names of classes that the user trusts, besides the list in ``trusted_classes``.
        Functions and methods are never loaded.
    trust_pickle : bool
        Load a pickle, which may run any code.
    """
    if path.is_dir():
        raise ValueError(f"{path} is a folder. Give a model file, such as model.skops.")
    if not path.is_file():
        raise ValueError(f"{path} does not exist. Check the path.")
    suffix = path.suffix.lower()
    if suffix in _PICKLES:
        if not trust_pickle:
            raise ValueError(
                f"{path} is a pickle, and loading a pickle may run any code. If you trust its "
                "source, add --trust-pickle. It is safer to save the model with skops.io.dump."
            )
        return _unpickled(path)
    if suffix not in _SKOPS:
        raise ValueError(
            f"{path} must be a .skops file, or a .pkl, .pickle or .joblib file with --trust-pickle."
        )
    return _from_skops(path, trusted)


def _unpickled(path: Path) -> Any:
    import joblib

    try:
        return joblib.load(path)
    except Exception as error:  # a pickle may fail in any way
        raise ValueError(f"{path} cannot be loaded: {one_line(error)}") from error


def _from_skops(path: Path, trusted: Collection[str]) -> Any:
    with path.open("rb") as file:
        try:
            with open_archive(file) as archive:
                found = audit(archive)
        except Exception as error:  # a forged file can fail in any way
            raise ValueError(
                f"{path} is not loaded: {one_line(error)}. Save the model again with skops.io.dump."
            ) from error
        unknown = [name for name in found.unknown if name not in trusted]
        if unknown:
            _refuse(path, unknown)
        for name in found.unknown:
            _check_class(name)
        import skops.io  # now that the file is known to be harmless

        file.seek(0)
        try:
            model = skops.io.load(file, trusted=list(found.names))
        except Exception as error:  # its attributes may be anything
            raise ValueError(f"{path} cannot be loaded: {one_line(error)}") from error
    check_vocabularies(model, path)
    return model


def _refuse(path: Path, unknown: list[str]) -> None:
    own = [name for name in unknown if name.startswith("shafer.")]
    if own:
        raise ValueError(
            f"{path} is not loaded: it holds {listed(own)}, which this version of shafer does not "
            "write into model files. The file comes from another version, or is forged. Save the "
            "model again with this version."
        )
    calls = [name for name in unknown if _is_known_not_to_be_a_class(name)]
    if calls:
        raise ValueError(
            f"{path} is not loaded: it holds {listed(calls)}, which is not a class. Functions are "
            "never loaded from a model file. The file may be forged."
        )
    options = " ".join(f"--trust {shlex.quote(name)}" for name in unknown)
    raise ValueError(
        f"{path} holds classes that are not known to be safe. If you trust them, add: {options}"
    )


def _is_known_not_to_be_a_class(name: str) -> bool:
    """Look a name up in the modules that are loaded; nothing is imported for a name in a file."""
    module, _, attribute = name.rpartition(".")
    loaded = sys.modules.get(module)
    return loaded is not None and not isinstance(vars(loaded).get(attribute, object), type)


def _check_class(name: str) -> None:
    """Refuse a name that the user trusts but that is not the name of a class."""
    module, _, attribute = name.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(
            f"--trust {name}: this class cannot be imported ({one_line(error)}). Install its "
            "package, or check the name."
        ) from error
    if not isinstance(found, type) or f"{found.__module__}.{found.__qualname__}" != name:
        raise ValueError(
            f"--trust {name}: this is not a class. Functions and methods are never loaded from a "
            "model file."
        )
