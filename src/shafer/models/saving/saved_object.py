"""Saving an object to one file and loading it: without pickle, all or nothing."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable
from typing import Any, BinaryIO

from shafer._files import replacing
from shafer._text import printable, shortened
from shafer.models.saving.artefact_reader import ArtefactReader, RefusedFileError
from shafer.models.saving.artefact_writer import written
from shafer.models.saving.formats.torch_format import ModuleMismatchError
from shafer.models.saving.skops_files.trust_wording import TrustWording

SAVED_CLASSES = {
    "shafer.models.ensemble.evidential_voting.EvidentialVotingClassifier": (
        "EvidentialVotingClassifier"
    ),
    "shafer.models.evidential_classifier.EvidentialClassifier": "EvidentialClassifier",
    "shafer.models.explainer.Explainer": "Explainer",
}
"""The classes with a method ``load``, and their public names."""

_IN_PYTHON = TrustWording(False, "Save it again.")


def saved_bytes(value: Any) -> bytes:
    """Return what :func:`save_object` writes."""
    return written(value)


def save_object(value: Any, path: str | os.PathLike[str]) -> None:
    """Write an object to a file, all or nothing."""
    content = written(value)
    with replacing(path) as file:
        file.write(content)


def loaded_bytes(
    content: bytes, *, wanted: type | None = None, trusted: Iterable[str] = (), module: Any = None
) -> Any:
    """Return the object that :func:`saved_bytes` wrote."""
    return _loaded(io.BytesIO(content), "The saved model", wanted, trusted, module, _IN_PYTHON)


def load_object(
    path: str | os.PathLike[str],
    *,
    wanted: type | None = None,
    trusted: Iterable[str] = (),
    module: Any = None,
    wording: TrustWording = _IN_PYTHON,
) -> Any:
    """Return the object in a file.

    Parameters
    ----------
    path : str or Path
    wanted : class, optional
        The class that the object must have.
    trusted : iterable of str
        Full names of classes that may be loaded, besides those known to be safe.
    module : torch.nn.Module, optional
        Gets the weights of a saved torch module.
    wording : TrustWording
        How errors tell the user to trust a class.

    Raises
    ------
    ValueError
        In one line, if the file is of another version, damaged or forged, or needs ``trusted`` or
        ``module``.
    """
    name = os.fspath(path)  # a number would be an open file
    with open(name, "rb") as file:  # a missing file is an OSError
        return _loaded(file, repr(name), wanted, trusted, module, wording)


def _loaded(
    file: BinaryIO,
    source: str,
    wanted: type | None,
    trusted: Iterable[str],
    module: Any,
    wording: TrustWording,
) -> Any:
    names = _class_names(trusted)
    reader = None
    try:
        reader = ArtefactReader(file, source, names, module, wording)
        _check_wanted(reader.class_name, wanted, source)
        found = reader.root()
    except (RefusedFileError, ModuleMismatchError) as error:
        raise ValueError(str(error)) from error
    except (ImportError, MemoryError):
        raise
    except Exception as error:  # a damaged file can fail in any way
        reason = shortened(printable(" ".join(str(error).split())) or type(error).__name__, 300)
        other = "" if reader is None or not reader.versions else f" It is from {reader.versions}."
        raise ValueError(
            f"{source} cannot be loaded: {reason.rstrip('.')}.{other} The file is damaged, or was "
            "not written by save(). Save the model again."
        ) from error
    if wanted is not None and not isinstance(found, wanted):
        raise ValueError(f"{source} holds {type(found).__name__}; {wanted.__name__} was expected.")
    return found


def _class_names(trusted: Iterable[str]) -> tuple[str, ...]:
    listed = isinstance(trusted, Iterable) and not isinstance(trusted, str | bytes)
    names = tuple(trusted) if listed else ()
    if not listed or not all(isinstance(name, str) for name in names):
        raise ValueError(
            f"trusted must be a list of full class names, such as ['package.module.Class']; got "
            f"{trusted!r}."
        )
    return names


def _check_wanted(held: str, wanted: type | None, source: str) -> None:
    """Refuse a file of another class of ours, and name the right method."""
    if wanted is None or held not in SAVED_CLASSES:
        return
    if held != f"{wanted.__module__}.{wanted.__qualname__}":
        public = SAVED_CLASSES[held]
        raise RefusedFileError(
            f"{source} holds a saved {public}; {wanted.__name__} was expected. Load it with "
            f"shafer.{public}.load."
        )
