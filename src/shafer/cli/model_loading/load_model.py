"""Models on disk: saved files, skops files of known classes; pickles only if the user insists."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from shafer.cli.clean_errors import one_line
from shafer.models.saving.saved_object import load_object
from shafer.models.saving.skops_files.read_skops import read_skops
from shafer.models.saving.skops_files.trust_wording import TrustWording

SAVED = (".shafer",)
_SKOPS, _PICKLES = (".skops",), (".pkl", ".pickle", ".joblib")
_WORDING = TrustWording(True, "Save the model again with skops.io.dump.")
_WORDING_OF_SAVED = TrustWording(True, "Save the model again.")


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
        A file of ``Explainer.save``, a skops file; or a pickle or joblib file, with
        ``trust_pickle``.
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
    if suffix in SAVED:
        return load_object(path, trusted=trusted, wording=_WORDING_OF_SAVED)
    if suffix in _PICKLES:
        if not trust_pickle:
            raise ValueError(
                f"{path} is a pickle, and loading a pickle may run any code. If you trust its "
                "source, add --trust-pickle. It is safer to save the model with skops.io.dump."
            )
        return _unpickled(path)
    if suffix not in _SKOPS:
        raise ValueError(
            f"{path} must be a .shafer or .skops file, or a .pkl, .pickle or .joblib file with "
            "--trust-pickle."
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
        return read_skops(file, str(path), trusted, _WORDING)
