from __future__ import annotations

from numpy.testing import assert_array_equal

from shafer.datasets import load_heart


def test_the_table() -> None:
    heart = load_heart()
    assert heart.data.shape == (462, 9)
    assert heart.target.sum() == 160
    assert heart.feature_names[0] == "sbp"
    assert heart.data[0].tolist() == [160.0, 12.0, 5.73, 23.11, 1.0, 49.0, 25.3, 97.2, 52.0]
    assert set(heart.data[:, heart.feature_names.index("famhist")]) == {0.0, 1.0}
    assert "Elements of Statistical Learning" in heart.DESCR
    assert heart.frame is None


def test_frame() -> None:
    heart = load_heart(as_frame=True)
    assert heart.frame.shape == (462, 10)
    assert list(heart.data.columns) == heart.feature_names
    assert heart.target.name == "chd"
    data, target = load_heart(return_X_y=True)
    assert_array_equal(heart.data.to_numpy(), data)
    assert_array_equal(heart.target.to_numpy(), target)
