"""The recipe for browsers: the graph gives there what the library gives here."""

from __future__ import annotations

import functools
import http.server
import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import shafer

ROOT = Path(__file__).parents[2]
RUNTIME = ROOT / "tools" / "onnxruntime_web" / "node_modules" / "onnxruntime-web" / "dist"
FILES = ("ort.wasm.min.mjs", "ort-wasm-simd-threaded.mjs", "ort-wasm-simd-threaded.wasm")
OUTPUTS = ("answer", "probability", "set", "reasons", "reasons_log_odds")
FIELDS = "form label"
ANSWERS = """async (rows) => {
  const answers = [];
  for (const row of rows) answers.push(await answer(row));
  return answers;
}"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves a folder without a log."""

    def log_message(self, *given: Any) -> None:
        del given


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    if not RUNTIME.exists():
        pytest.skip("no onnxruntime-web on this machine: npm ci --prefix tools/onnxruntime_web")
    for name in FILES:
        shutil.copy(RUNTIME / name, tmp_path)
    shutil.copy(ROOT / "docs" / "recipes" / "evidence_in_browser.html", tmp_path)
    handler = functools.partial(Quiet, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/evidence_in_browser.html"
        server.shutdown()
        thread.join()


def written(explainer: shafer.Explainer, folder: Path) -> None:
    """What the guide does."""
    graph = shafer.export.to_onnx(explainer, OUTPUTS)
    onnx.save(graph, folder / "evidence.onnx")
    names = {entry.key: json.loads(entry.value) for entry in graph.metadata_props}
    (folder / "names.json").write_text(json.dumps(names))


def test_rows_of_numbers(browser: Any, address: str, tmp_path: Path) -> None:
    heart = shafer.datasets.load_heart(as_frame=True)
    rows, y = heart.data, heart.target_names[heart.target]
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(rows[:200], y[:200])
    explainer = shafer.Explainer(model, rows[:200]).conformalize(rows[200:400], y[200:400])
    written(explainer, tmp_path)
    new = rows[400:420]
    told = explainer.answer(new, reasons=3)
    page = browser.new_page()
    page.goto(address)
    page.wait_for_selector(FIELDS)
    texts = [{k: str(v) for k, v in row.items()} for row in new.to_dict("records")]
    found = page.evaluate(ANSWERS, texts)
    assert [one["answer"] for one in found] == told.labels.tolist()
    gap = np.abs(np.array([one["probability"] for one in found]) - told.probability)
    assert gap.max() < 1e-15
    records = told.records()
    assert [one["set"] for one in found] == [record["set"] for record in records]
    for one, record in zip(found, records, strict=True):
        assert [r["name"] for r in one["reasons"]] == [r["component"] for r in record["reasons"]]
        for mine, right in zip(one["reasons"], record["reasons"], strict=True):
            assert mine["log_odds"] == pytest.approx(right["log_odds"], abs=1e-14)
    for name, value in texts[0].items():
        page.fill(f"input[name='{name}']", value)
    page.wait_for_function("document.querySelectorAll('li').length > 0")
    assert f"Answer: {told.labels[0]}." in page.inner_text("[role=status]")
    page.fill("input[name='age']", "")
    page.wait_for_function("document.querySelector('p').textContent === 'A value is missing.'")
    page.close()


def test_rows_with_categories(browser: Any, address: str, tmp_path: Path) -> None:
    credit = shafer.datasets.load_german_credit()
    rows, y = credit.data[["checking_account", "purpose", "amount"]], np.asarray(credit.target)
    encode = make_column_transformer(
        (OneHotEncoder(), ["checking_account", "purpose"]), (StandardScaler(), ["amount"])
    )
    model = make_pipeline(encode, LogisticRegression()).fit(rows[:500], y[:500])
    explainer = shafer.Explainer(model, rows[:500]).conformalize(rows[500:900], y[500:900])
    written(explainer, tmp_path)
    told = explainer.answer(rows[900:920], reasons=3)
    page = browser.new_page()
    page.goto(address)
    page.wait_for_selector(FIELDS)
    texts = [{k: str(v) for k, v in row.items()} for row in rows[900:920].to_dict("records")]
    found = page.evaluate(ANSWERS, texts)
    assert [one["answer"] for one in found] == [str(label) for label in told.labels.tolist()]
    assert [one["set"] for one in found] == [record["set"] for record in told.records()]
    assert [[r["name"] for r in one["reasons"]] for one in found] == [
        [r["component"] for r in record["reasons"]] for record in told.records()
    ]
    page.close()
