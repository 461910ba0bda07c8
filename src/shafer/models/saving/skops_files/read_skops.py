"""A model from a skops file, after its content was checked."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Collection
from typing import Any, BinaryIO

from shafer._safe_archive import open_archive
from shafer._text import listed, printable, shortened
from shafer.models.saving.skops_files.skops_audit import audit
from shafer.models.saving.skops_files.trust_wording import TrustWording
from shafer.models.saving.skops_files.vectorizer_check import check_vocabularies

_LONGEST = 600


def read_skops(file: BinaryIO, source: str, trusted: Collection[str], wording: TrustWording) -> Any:
    """Load a model from a skops file.

    Parameters
    ----------
    file : binary file
    source : str
        The name of the file, for messages.
    trusted : collection of str
        Full names of classes that the user trusts, besides the list in ``trusted_classes``.
        Functions and methods are never loaded.
    wording : TrustWording

    Raises
    ------
    ValueError
        In one line, if the file is damaged or forged, or holds classes that are not trusted.
    """
    try:
        with open_archive(file) as archive:
            found = audit(archive)
    except Exception as error:  # a forged file can fail in any way
        raise ValueError(f"{source} is not loaded: {_line(error)}. {wording.again}") from error
    unknown = [name for name in found.unknown if name not in trusted]
    if unknown:
        _refuse(source, unknown, wording)
    for name in found.unknown:
        _check_class(name, wording)
    import skops.io  # now that the file is known to be harmless

    file.seek(0)
    try:
        model = skops.io.load(file, trusted=list(found.names))
    except Exception as error:  # its attributes may be anything
        raise ValueError(f"{source} cannot be loaded: {_line(error)}") from error
    check_vocabularies(model, source)
    return model


def _line(error: object) -> str:
    text = printable(" ".join(str(error).split())) or type(error).__name__
    return shortened(text, _LONGEST)


def _refuse(source: str, unknown: list[str], wording: TrustWording) -> None:
    own = [name for name in unknown if name.startswith("shafer.")]
    if own:
        raise ValueError(
            f"{source} is not loaded: it holds {listed(own)}, which this version of shafer does "
            "not write into model files. The file comes from another version, or is forged. Save "
            "the model again with this version."
        )
    calls = [name for name in unknown if _is_known_not_to_be_a_class(name)]
    if calls:
        raise ValueError(
            f"{source} is not loaded: it holds {listed(calls)}, which is not a class. Functions "
            "are never loaded from a model file. The file may be forged."
        )
    raise ValueError(
        f"{source} holds classes that are not known to be safe. {wording.advice(unknown)}"
    )


def _is_known_not_to_be_a_class(name: str) -> bool:
    """Look a name up in the modules that are loaded; nothing is imported for a name in a file."""
    module, _, attribute = name.rpartition(".")
    loaded = sys.modules.get(module)
    return loaded is not None and not isinstance(vars(loaded).get(attribute, object), type)


def _check_class(name: str, wording: TrustWording) -> None:
    """Refuse a name that the user trusts but that is not the name of a class."""
    module, _, attribute = name.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(
            f"{wording.given([name])}: this class cannot be imported ({_line(error)}). Install "
            "its package, or check the name."
        ) from error
    if not isinstance(found, type) or f"{found.__module__}.{found.__qualname__}" != name:
        raise ValueError(
            f"{wording.given([name])}: this is not a class. Functions and methods are never loaded "
            "from a model file."
        )
