from __future__ import annotations

from typing import Any

import pytest

from shafer.datasets import load_german_credit


def test_the_table() -> None:
    credit = load_german_credit()
    assert credit.data.shape == (1000, 19)
    assert credit.target.value_counts().to_dict() == {"good": 700, "bad": 300}
    assert credit.target.name == "risk"
    assert list(credit.frame.columns) == [*credit.feature_names, "risk"]
    assert credit.target_names == ["bad", "good"]
    assert not credit.frame.isna().any(axis=None)
    numbers = credit.data.select_dtypes("number")
    assert list(numbers.columns) == [
        "duration",
        "amount",
        "instalment_rate",
        "residence",
        "age",
        "existing_credits",
        "dependants",
    ]
    # Sums over all applicants, as the file of the UCI repository has them.
    assert numbers.sum().tolist() == [20903, 3271258, 2973, 2845, 35546, 1407, 1155]


def test_the_first_applicant() -> None:
    data, target = load_german_credit(return_X_y=True)
    assert data.iloc[0].tolist() == [
        "below 0 DM",
        6,
        "critical or other credits",
        "radio or television",
        1169,
        "unknown or none",
        "7 years or more",
        4,
        "none",
        4,
        "real estate",
        67,
        "none",
        "own",
        2,
        "skilled",
        1,
        "yes",
        "yes",
    ]
    assert target.iloc[0] == "good"


@pytest.mark.parametrize(
    ("column", "counts"),
    [
        ("checking_account", [394, 274, 269, 63]),
        ("credit_history", [530, 293, 88, 49, 40]),
        ("purpose", [280, 234, 181, 103, 97, 50, 22, 12, 12, 9]),
        ("savings", [603, 183, 103, 63, 48]),
        ("foreign_worker", [963, 37]),
    ],
)
def test_counts_of_categories(column: str, counts: list[int]) -> None:
    frame: Any = load_german_credit().frame
    assert frame[column].value_counts().tolist() == counts


def test_source_is_stated() -> None:
    text = load_german_credit().DESCR
    for word in ("UCI Machine Learning Repository", "CC BY 4.0", "Grömping", "personal status"):
        assert word in text
