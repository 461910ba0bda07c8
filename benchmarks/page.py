"""The report page of a boosted model: milliseconds for each move of a slider, bytes of the page.

Trees of depth 6 on three classes, in Chromium. A move is the whole answer of the page: weights,
probabilities, sets, sentences and drawing. The pages that interpret and explainerdashboard write
for the same model are measured where these packages are installed; neither computes the model.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from machine import RESULTS, describe
from playwright.sync_api import sync_playwright
from xgboost import XGBClassifier

import shafer
from shafer.report import make_study, write_report

ROWS, COLUMNS, CLASSES, DEPTH = 2_000, 12, 3, 6
MOVES = 60
SHELLS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
MOVE = """moves => {
  const sliders = [...document.querySelectorAll(".slider input[type=range]")];
  const times = [];
  for (let m = 0; m < moves; m += 1) {
    const slider = sliders[m % sliders.length];
    slider.value = Number(slider.min) + ((m * 0.618) % 1) * (slider.max - slider.min);
    const start = performance.now();
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    times.push(performance.now() - start);
  }
  return times;
}"""


def data() -> tuple[pd.DataFrame, Any]:
    """Return noisy classes, so that the trees fill their depth."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(8_000, COLUMNS)), columns=[f"x{j}" for j in range(COLUMNS)])
    score = X["x0"] * X["x1"] + X["x2"] + rng.normal(size=len(X))
    return X, np.digitize(score, [-0.7, 0.7])


def report_page(explainer: Any, X: Any, folder: Path) -> tuple[Path, float]:
    """Write our page; return it and the seconds that took."""
    path = folder / "shafer.html"
    start = time.perf_counter()
    write_report(make_study(explainer, X), path)
    return path, time.perf_counter() - start


def interpret_page(model: Any, X: Any, folder: Path) -> Path:
    """Write what interpret draws of one row: SHAP values of the model."""
    from interpret.greybox import ShapTree

    path = folder / "interpret.html"
    found = ShapTree(model, X.iloc[:200]).explain_local(X.iloc[:5])
    found.visualize(0).write_html(path)
    return path


def dashboard_page(model: Any, X: Any, y: Any, folder: Path) -> Path:
    """Write explainerdashboard's page without its server; its what-if needs the server."""
    from explainerdashboard import ClassifierExplainer, ExplainerDashboard

    path = folder / "dashboard.html"
    explainer = ClassifierExplainer(model, X, pd.Series(y, index=X.index))
    ExplainerDashboard(explainer, shap_interaction=False).save_html(path)
    return path


def moves_of(path: Path, browser: Any) -> tuple[float, list[float]]:
    """Return the milliseconds until the page is ready, and those of each move."""
    page = browser.new_page()
    start = time.perf_counter()
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready=true]")
    ready = 1e3 * (time.perf_counter() - start)
    times = page.evaluate(MOVE, MOVES)
    page.close()
    return ready, times


def peers(model: Any, X: Any, y: Any, folder: Path) -> dict[str, Any]:
    """Return the bytes and seconds of the other pages; why not, where there are none."""
    found: dict[str, Any] = {}
    writers = {
        "interpret": lambda: interpret_page(model, X, folder),
        "explainerdashboard": lambda: dashboard_page(model, X, y, folder),
    }
    for name, write in writers.items():
        start = time.perf_counter()
        try:
            path = write()
        except Exception as error:  # not installed, or does not take this model
            found[name] = {"why_not": f"{type(error).__name__}: {error}".splitlines()[0][:200]}
            continue
        seconds = time.perf_counter() - start
        found[name] = {"bytes": path.stat().st_size, "seconds_to_write": round(seconds, 1)}
    return found


def measured(n_rounds: int, browser: Any, folder: Path, with_peers: bool) -> dict[str, Any]:
    """Train a model, and measure its page."""
    X, y = data()
    model = XGBClassifier(n_estimators=n_rounds, max_depth=DEPTH, learning_rate=0.02).fit(X, y)
    shown, labels = X[:ROWS], y[:ROWS]
    path, seconds = report_page(shafer.Explainer(model, X[ROWS:], prior="own"), shown, folder)
    ready, times = moves_of(path, browser)
    dump = model.get_booster().get_dump()
    found = {
        "trees": len(dump),
        "nodes": sum(tree.count("\n") for tree in dump),
        "bytes": path.stat().st_size,
        "seconds_to_write": round(seconds, 1),
        "ms_until_ready": round(ready),
        "ms_per_move": {
            "first": round(times[0], 1),
            "median": round(float(np.median(times[1:])), 1),
            "worst": round(float(np.max(times[1:])), 1),
        },
    }
    if with_peers:
        found["peers"] = peers(model, shown, labels, folder)
    return found


def main() -> None:
    """Measure 200 trees, and 200 rounds of one tree for each class."""
    warnings.simplefilter("ignore")
    shell = next(filter(None, map(shutil.which, SHELLS)))
    with tempfile.TemporaryDirectory() as name, sync_playwright() as runner:
        browser = runner.chromium.launch(executable_path=shell, args=["--no-sandbox"])
        results = [
            measured(n_rounds, browser, Path(name), with_peers)
            for n_rounds, with_peers in ((67, False), (200, True))
        ]
        browser.close()
    found = {
        "machine": describe(),
        "what": f"XGBoost, depth {DEPTH}, {CLASSES} classes, {COLUMNS} inputs, {ROWS} rows shown",
        "results": results,
    }
    (RESULTS / "page.json").write_text(json.dumps(found, indent=2) + "\n")
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
