"""``reproduce``: both experiments, all figures, results.json and the page, in one call."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.figure import Figure
from tqdm import tqdm

from shafer._files.atomic import replacing
from shafer.paper import figures_gaussian, figures_heart, figures_views, findings
from shafer.paper.figure_style import paper_style, save_figure
from shafer.paper.gaussian_experiment import GaussianResult, Plan, run_gaussian
from shafer.paper.heart_experiment import HeartResult, run_heart
from shafer.paper.penalty_selection import PENALTIES, Selection, cross_validate
from shafer.paper.results import gaussian_results, heart_results
from shafer.paper.results_page import write_page

PENALTY = 0.5
EPOCHS = 450
"""Median over twenty training sets of what cross-validation chose for λ = 0.5.

See docs/background/paper.md.
"""

CHECKPOINTS = (50, 100, 150, 200, 300, 400, 500, 600, 700, 800, 900, 1000)
"""Numbers of epochs that are compared."""


class _Size(NamedTuple):
    """The size of the experiments: full, or small for tests."""

    replications: int
    plan: Plan
    checkpoints: tuple[int, ...]
    penalties: tuple[float, ...]
    resolution: int


_FULL = _Size(
    30,
    Plan(40, tuple(sorted({*CHECKPOINTS, EPOCHS})), EPOCHS, 15_000, PENALTY),
    CHECKPOINTS,
    PENALTIES,
    400,
)
_QUICK = _Size(2, Plan(4, (10, 20, 30), 30, 3000, PENALTY), (5, 10), (0.1, 0.5), 60)


def _bar(title: str) -> Callable[[Any], Any]:
    return lambda steps: tqdm(steps, desc=title, mininterval=0.5)


def reproduce(
    out: str | Path, *, quick: bool = False, seed: int = 0, select_lambda: bool = False
) -> dict[str, Any]:
    """Run both experiments of the paper; write figures, results.json and index.html.

    Parameters
    ----------
    out : path
        Folder for the files; created if missing.
    quick : bool
        Run very small experiments, for tests. The numbers are meaningless.
    seed : int
        Seed of all random numbers.
    select_lambda : bool
        Choose λ and the number of epochs by 10-fold cross-validation. By default the paper's λ and
        450 epochs are used.

    Returns
    -------
    dict
        The content of results.json.

    See Also
    --------
    shafer.datasets.make_gaussian : The data of the second experiment.
    shafer.report.heart_study : The model of the first experiment.

    Examples
    --------
    This takes a few minutes:

    .. code-block:: python

        from shafer.paper import reproduce

        results = reproduce("out/paper")
    """
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**32:
        raise ValueError(f"seed must be an integer from 0 to 2^32 - 1; got {seed!r}.")
    start = time.perf_counter()
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    size = _QUICK if quick else _FULL
    heart = run_heart(size.replications, seed, _bar("heart: replications"))
    plan, selection = size.plan, None
    if select_lambda:
        plan, selection = _selected(size, seed)
    gaussian = run_gaussian(plan, seed, _bar("Gaussian: epochs"))
    results: dict[str, Any] = {
        "heart": heart_results(heart),
        "gaussian": gaussian_results(gaussian, selection),
        "seed": seed,
        "quick": quick,
    }
    found = {
        **findings.heart_findings(heart),
        **findings.gaussian_findings(gaussian, results["gaussian"], size.resolution // 2),
    }
    _draw(folder, heart, gaussian, size.resolution)
    results["seconds"] = round(time.perf_counter() - start, 1)
    write_page(folder, results, found)
    with replacing(folder / "results.json") as file:
        file.write(json.dumps(results, indent=1, ensure_ascii=False).encode())
    return results


def _selected(size: _Size, seed: int) -> tuple[Plan, Selection]:
    """Choose λ and epochs by cross-validation; return the plan with both."""
    bar = _bar("cross-validation: epochs")
    selection = cross_validate(seed, size.checkpoints, size.penalties, bar)
    epochs = selection.epochs_for(selection.penalty)
    checkpoints = tuple(sorted({*size.plan.checkpoints, epochs}))
    plan = size.plan._replace(penalty=selection.penalty, epochs=epochs, checkpoints=checkpoints)
    return plan, selection


def _draw(folder: Path, heart: HeartResult, gaussian: GaussianResult, resolution: int) -> None:
    """Draw and write every figure."""
    drawings: dict[str, Callable[[], Figure]] = {
        "generalised": figures_views.generalised,
        "contours": lambda: figures_heart.contours(resolution),
        "binary-views": figures_views.binary_views,
        "multinomial-views": figures_views.multinomial_views,
        "heart-data": lambda: figures_heart.heart_data(heart, resolution),
        "heart-weights": lambda: figures_heart.heart_weights(heart),
        "heart-masses": lambda: figures_heart.heart_masses(heart),
        "heart-planes": lambda: figures_heart.heart_planes(heart, resolution),
        "gaussian-data": lambda: figures_gaussian.gaussian_data(gaussian, resolution),
        "gaussian-masses": lambda: figures_gaussian.gaussian_masses(gaussian, resolution),
        "hidden-unit": lambda: figures_gaussian.hidden_unit(gaussian),
        "hidden-units": lambda: figures_gaussian.hidden_units(gaussian),
        "decision-regions": lambda: figures_gaussian.decision_regions(gaussian, resolution),
        "epochs": lambda: figures_gaussian.epochs(gaussian),
    }
    with paper_style():
        for name, draw in _bar("figures")(drawings.items()):
            save_figure(draw(), folder, name)
