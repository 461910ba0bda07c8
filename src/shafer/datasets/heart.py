"""The heart data of the paper: 462 men of a high-risk region of the Western Cape, South Africa."""

from __future__ import annotations

import csv
from importlib import resources
from typing import Any

import numpy as np
from sklearn.utils import Bunch

_DESCRIPTION = """\
South African heart disease: 462 men between 15 and 64, 160 of them with coronary heart disease.

Features: sbp (systolic blood pressure), tobacco (cumulative, kg), ldl (low-density lipoprotein
cholesterol), adiposity, famhist (family history of heart disease: 1 present, 0 absent), typea
(type-A behaviour score), obesity, alcohol (current consumption), age (at onset or survey).
Target: chd, 1 for coronary heart disease, 0 for none.

Source: T. Hastie, R. Tibshirani and J. Friedman, The Elements of Statistical Learning; a sample of
Rousseauw et al. (1983), South African Medical Journal. Taken from the KEEL data repository.
"""


def load_heart(*, as_frame: bool = False, return_X_y: bool = False) -> Any:
    """Return the South African heart disease data: 462 men, 9 features, 2 classes.

    Parameters
    ----------
    as_frame : bool
        Return ``data``, ``target`` and ``frame`` as pandas objects (``famhist`` stays 0/1).
    return_X_y : bool
        Return ``(data, target)`` only.

    Returns
    -------
    Bunch
        ``data`` (462, 9), ``target`` (462,) with 1 for coronary heart disease, ``feature_names``,
        ``target_names``, ``frame``, ``DESCR``.

    See Also
    --------
    load_german_credit : Numbers and categories, more rows.
    shafer.report.heart_study : A report on these data.

    Examples
    --------
    >>> from shafer.datasets import load_heart
    >>> heart = load_heart()
    >>> heart.data.shape, int(heart.target.sum())
    ((462, 9), 160)
    """
    text = resources.files("shafer.datasets").joinpath("data/saheart.csv").read_text("utf-8")
    header, *rows = csv.reader(text.splitlines())
    code = {"Present": "1", "Absent": "0"}
    table = np.array([[float(code.get(cell, cell)) for cell in row] for row in rows])
    data, target = table[:, :-1], table[:, -1].astype(np.int64)
    bunch = Bunch(
        data=data,
        target=target,
        frame=None,
        feature_names=header[:-1],
        target_names=np.array(["no", "chd"]),
        DESCR=_DESCRIPTION,
    )
    if as_frame:
        try:
            import pandas as pd
        except ImportError:
            raise ImportError(
                "load_heart(as_frame=True) needs pandas. Run: pip install pandas"
            ) from None

        bunch.frame = pd.DataFrame(table, columns=header).astype({header[-1]: np.int64})
        bunch.data, bunch.target = bunch.frame[header[:-1]], bunch.frame[header[-1]]
    return (bunch.data, bunch.target) if return_X_y else bunch
