from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from shafer import Evidence
from shafer.fusion import conflict_between
from shafer.plots import SourceConflictDisplay


def sources(n_sources: int = 3) -> dict[str, Evidence]:
    random = np.random.default_rng(0)
    return {
        f"source {s} <$&>": Evidence.from_weights(random.normal(size=(5, 2, 4)))
        for s in range(n_sources)
    }


def test_degrees_are_those_measured() -> None:
    conflict = conflict_between(sources())
    mean = SourceConflictDisplay.from_evidences(sources())
    assert_allclose(mean.degrees, conflict.degrees.mean(axis=0))
    assert mean.total == pytest.approx(conflict.total.mean())
    one = SourceConflictDisplay.from_conflict(conflict, row=-1)
    assert_allclose(one.degrees, conflict.degrees[4])
    assert one.what == "instance 4"
    tempered = SourceConflictDisplay.from_evidences(sources(), tempering=[0.0, 1.0, 1.0])
    assert_allclose(tempered.degrees[0], 0.0, atol=1e-12)
    with pytest.raises(ValueError, match="row must be a whole number from 0 to 4; got 5"):
        SourceConflictDisplay.from_conflict(conflict, row=5)
    with pytest.raises(ValueError, match="row must be a whole number from 0 to 4; got 'last'"):
        SourceConflictDisplay.from_conflict(conflict, row="last")  # type: ignore[arg-type]


def test_picture() -> None:
    ax = Figure().subplots()
    display = SourceConflictDisplay.from_evidences(sources(), 2).plot(ax, colorbar=False)
    assert display.ax_ is ax
    written = [text.get_text() for text in ax.texts]
    assert written[:2] == ["–", f"{display.degrees[0, 1]:.2f}"]
    assert len(written) == 9
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        rf"source {s} <\$&>" for s in range(3)
    ]
    assert ax.get_title() == f"conflict of all together: {display.total:.2f}; instance 2"
    assert np.isnan(np.asarray(ax.images[0].get_array().filled(np.nan)).diagonal()).all()


def test_many_sources_on_a_dark_ground() -> None:
    with pyplot.style.context("dark_background"):
        display = SourceConflictDisplay.from_evidences(sources(20)).plot()
        display.figure_.canvas.draw()
    assert not display.ax_.texts
    assert "mean of 5 instances" in display.ax_.get_title()
    assert SourceConflictDisplay(np.zeros((2, 2)), "ab").plot().ax_.get_title() == ""
