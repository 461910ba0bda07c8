"""Models on disk: skops files of known types; pickles only if the user insists."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shafer.cli.clean_errors import one_line

_SKOPS, _PICKLES = (".skops",), (".pkl", ".pickle", ".joblib")
# Our own models and what they hold. A partial runs nothing but the function it names, which must be
# known as well.
_OURS = (
    "shafer.models.",
    "shafer.evidence.identification.linear_pool.",
    "shafer.evidence.identification.additive_pool.",
)
# Parts of scikit-learn's own models that skops leaves to the user because no public name leads to
# them; they are plain Python and hold nothing but numbers. Trees are left out on purpose: skops
# does not trust them, because scikit-learn follows their stored indices unchecked.
_HARMLESS = (
    "functools.partial",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
)


def load_model(path: Path, trusted: Sequence[str] = (), trust_pickle: bool = False) -> Any:
    """Load a model.

    Parameters
    ----------
    path : Path
        A skops file; or a pickle or joblib file, with ``trust_pickle``.
    trusted : sequence of str
        Types that the user trusts besides those of scikit-learn, NumPy, SciPy and this library.
    trust_pickle : bool
        Load a pickle, which may run any code.
    """
    if path.is_dir():
        raise ValueError(f"{path} is a folder; a model must be a .skops file.")
    if not path.is_file():
        raise ValueError(f"There is no file {path}.")
    suffix = path.suffix.lower()
    if suffix in _PICKLES:
        if not trust_pickle:
            raise ValueError(
                f"{path} is a pickle, and loading one may run any code. If you trust where it "
                "comes from, add --trust-pickle; better, save the model with skops.io.dump."
            )
        return _unpickled(path)
    if suffix not in _SKOPS:
        raise ValueError(f"{path}: a model must be a .skops file (or a pickle: --trust-pickle).")
    return _from_skops(path, trusted)


def _unpickled(path: Path) -> Any:
    import joblib

    try:
        return joblib.load(path)
    except Exception as error:  # a pickle may fail in any way
        raise ValueError(f"{path} cannot be loaded: {one_line(error)}") from error


def _from_skops(path: Path, trusted: Sequence[str]) -> Any:
    import skops.io

    try:
        found = skops.io.get_untrusted_types(file=path)
    except Exception as error:  # not a zip file, or made by an unknown version
        raise ValueError(f"{path} is no skops file: {one_line(error)}") from error
    known = [t for t in found if t.startswith(_OURS) or t in _HARMLESS or t in trusted]
    unknown = [t for t in found if t not in known]
    if unknown:
        options = " ".join(f"--trust {name}" for name in unknown)
        raise ValueError(
            f"{path} holds types that are not known to be safe. If you trust them, add: {options}"
        )
    try:
        return skops.io.load(path, trusted=known)
    except Exception as error:
        raise ValueError(f"{path} cannot be loaded: {one_line(error)}") from error
