"""A headless Chromium from the operating system, and reports to open in it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shafer
from shafer.report import Study, heart_study, make_study, write_report
from shafer.scale.default_model import train_default_model

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

HOSTILE = [
    "<script>window.hacked=1</script>",
    "</script><img src=x onerror=window.hacked=1>",
    "\"quoted\" & 'single' <b>bold</b>",
    "🫀 heart\u2028line\u2029end",
    "{{ 7 * 7 }} ${window.hacked=1} \\u003c",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    # The first has no windows to draw, which halves the time of these tests.
    shell = "chromium-headless-shell"
    names = (shell, "chromium", "chromium-browser", "google-chrome", "chrome")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    with playwright.sync_playwright() as runner:
        running = runner.chromium.launch(
            executable_path=found,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        yield running
        running.close()


class Opened:
    """A page, the requests it made, and what it complained about."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.by_pointer = True
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on(
            "console",
            lambda message: (
                message.type in ("error", "warning") and self.complaints.append(message.text)
            ),
        )

    def show(self, row: int) -> None:
        """Search a row and open it; with the pointer once, then by script, which is much faster."""
        if self.by_pointer:
            self.by_pointer = False
            self.page.fill("#search", str(row))
            self.page.click(f"#table tr[data-row='{row}'] button")
            self.page.fill("#search", "")
            return
        self.page.evaluate(
            """row => {
              const search = document.getElementById("search");
              const type = (text) => {
                search.value = text;
                search.dispatchEvent(new Event("input", { bubbles: true }));
              };
              type(row);
              document.querySelector(`#table tr[data-row='${row}'] button`).click();
              type("");
            }""",
            str(row),
        )

    def unfold(self) -> None:
        """Open what is folded at first, and show the reasons in log-odds too."""
        self.page.evaluate(
            """async () => {
              for (const fold of document.querySelectorAll("details")) fold.open = true;
              document.getElementById("as-log-odds").click();
              for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
            }"""
        )

    def bars(self) -> list[dict[str, Any]]:
        """Read the bars of the waterfall: component, weight and half-width of its interval."""
        found: list[dict[str, Any]] = self.page.eval_on_selector_all(
            "#waterfall tbody tr",
            """rows => rows.map(({ dataset, className }) => ({
              component: dataset.component === undefined ? className : dataset.component,
              weight: Number(dataset.weight),
              half: dataset.half === undefined ? null : Number(dataset.half),
            }))""",
        )
        return found

    def compare(self, class_: int, over: int | str) -> None:
        """Pick the pair of classes that the bars compare."""
        self.page.select_option("#class", str(class_))
        self.page.select_option("#over", str(over))

    def numbers(self) -> dict[str, Any]:
        """Read the instance as the page shows it."""
        result: dict[str, Any] = self.page.evaluate(
            """() => {
              const section = document.getElementById("case").dataset;
              const rows = [...document.querySelectorAll("#intervals tbody tr[data-class]")]
                .map((row) => row.dataset).sort((a, b) => a.class - b.class);
              const take = (name) => rows.map((row) => Number(row[name]));
              return {
                row: Number(section.row), ignorance: Number(section.ignorance),
                conflict: Number(section.conflict), disagreement: Number(section.disagreement),
                decided: section.decided.split(",").map(Number),
                belief: take("belief"), plausibility: take("plausibility"),
                probability: take("probability"), pignistic: take("pignistic"),
                sentence: document.getElementById("sentence").textContent,
                sets: [...document.querySelectorAll("#sets tbody tr")]
                  .map((row) => [row.dataset.set.split(",").map(Number), Number(row.dataset.mass)]),
              };
            }"""
        )
        return result


@pytest.fixture(scope="session")
def _written() -> dict[Any, tuple[Study, bytes]]:
    """The pages of this session: many tests open the same."""
    return {}


@pytest.fixture
def open_report(
    browser: Any, _written: dict[Any, tuple[Study, bytes]], tmp_path: Path
) -> Iterator[Callable[..., Opened]]:
    contexts = []

    def opened(
        study: Study,
        rows: list[int] | None = None,
        judge_first: bool = False,
        unfolded: bool = True,
        alone: bool = False,
        **options: Any,
    ) -> Opened:
        path = tmp_path / "report.html"
        key = id(study), str(rows), judge_first, alone
        if key not in _written:
            write_report(study, path, rows, judge_first=judge_first, alone=alone)
            _written[key] = study, path.read_bytes()  # the study lives: its id stays its own
        path.write_bytes(_written[key][1])
        # A click waits until a smooth scroll has ended: half of the time of these tests.
        usual = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}
        context = browser.new_context(**{**usual, **options})
        contexts.append(context)
        found = Opened(context.new_page())
        found.page.goto(path.as_uri())
        found.page.wait_for_selector("html[data-ready=true]")
        if unfolded:
            found.unfold()
        return found

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def heart() -> Study:
    return heart_study()


@pytest.fixture(scope="session")
def iris() -> Study:
    data = load_iris()
    X = pd.DataFrame(data.data, columns=data.feature_names)
    model = make_pipeline(StandardScaler(), LogisticRegression(C=10.0)).fit(X, data.target)
    options = {"groups": "source", "classes": data.target_names, "prior": "own"}
    explainer = shafer.Explainer(model, X, errors="laplace", **options)
    return make_study(explainer, X, data.target_names[data.target], title="Iris")


@pytest.fixture(scope="session")
def mixed() -> Study:
    """Numbers and categories, some of both missing, behind encoders."""
    rng = np.random.default_rng(0)
    n = 120
    X = pd.DataFrame(
        {
            "size": rng.normal(1e4, 3e3, n),
            "count": rng.integers(0, 9, n).astype(float),
            "colour": rng.choice(["red", "green", "blue"], n).astype(object),
        }
    )
    y = np.where(
        X["size"] / 1e4 + (X["colour"] == "red") + rng.normal(0, 0.5, n) > 1.3, "yes", "no"
    )
    X.loc[3, "count"] = np.nan
    X.loc[5, "colour"] = np.nan
    model = train_default_model(X, y)
    return make_study(shafer.Explainer(model, X, groups="source", prior="own"), X, y)


@pytest.fixture(scope="session")
def boosted() -> Study:
    """A model without a linear form: its weights are stored, only the strongest by name."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 4))
    y = (X[:, 0] * X[:, 1] > 0) * 1 + (X[:, 2] > 1)
    model = HistGradientBoostingClassifier(max_iter=20).fit(X, y)
    return make_study(
        shafer.Explainer(model, X, components="tree", prior="own"), X, y, title="Boosted"
    )


@pytest.fixture(scope="session")
def discounted() -> Study:
    """Evidence with a reliability for each row."""
    data = load_iris()
    model = LogisticRegression(C=10.0).fit(data.data[::3], data.target[::3])
    options = {"moderate": "laplace+discount", "prior": "shared"}
    explainer = shafer.Explainer(model, data.data[::3], **options)
    return make_study(explainer, data.data * 1.3, data.target, title="Discounted")


@pytest.fixture(scope="session")
def texts() -> Study:
    words = ["good", "bad", "film", "plot", "text", "<b>bold</b>"]
    rng = np.random.default_rng(3)
    X = [" ".join(rng.choice(words, 5)) for _ in range(60)]
    y = np.where([text.count("good") >= text.count("bad") for text in X], "liked", "not liked")
    model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(X, y)
    return make_study(shafer.Explainer(model, X, prior="shared"), X, y, title="Texts")


@pytest.fixture(scope="session")
def hostile() -> Study:
    rng = np.random.default_rng(2)
    X = pd.DataFrame(rng.normal(size=(60, len(HOSTILE) - 1)), columns=HOSTILE[:-1])
    X[HOSTILE[-1]] = rng.choice(HOSTILE, 60).astype(object)
    y = np.array(HOSTILE)[rng.integers(0, len(HOSTILE), 60)]
    model = train_default_model(X, y)
    explainer = shafer.Explainer(model, X, groups="source")
    return make_study(explainer, X, y, title=HOSTILE[1], about=HOSTILE)
