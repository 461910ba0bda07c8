"""One row, and requests per second: ``answer`` and ``shafer.serve`` beside plain ``predict_proba``.

Both services run side by side, in turns of some seconds, so that a busy machine slows both. ``wrk``
sends rows over sixteen connections. On a busy machine the system gives time by thread, and the
plain service has more threads; the CPU time of a request does not depend on that.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import warnings
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
from machine import describe, record, table
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import shafer

HERE = Path(__file__).parent
CONNECTIONS = 16


def worlds() -> dict[str, tuple[Any, pd.DataFrame, Any]]:
    """Return models, their rows and classes."""
    heart = shafer.datasets.load_heart(as_frame=True)
    numbers, ill = heart.data, heart.target_names[heart.target]
    credit = shafer.datasets.load_german_credit()
    rows, good = credit.data, np.asarray(credit.target)
    texts = [name for name in rows if name not in rows.select_dtypes("number")]
    encode = make_column_transformer(
        (StandardScaler(), [name for name in rows if name not in texts]),
        (OneHotEncoder(handle_unknown="ignore"), texts),
    )
    typed = rows.astype(dict.fromkeys(texts, "category"))
    booster = lightgbm.LGBMClassifier(n_estimators=100, verbose=-1, n_jobs=1)
    scaled = make_pipeline(StandardScaler(), LogisticRegression())
    return {
        "scaled, 9 numbers": (scaled, numbers, ill),
        "one-hot pipeline, 20 columns": (
            make_pipeline(encode, LogisticRegression(max_iter=1000)),
            rows,
            good,
        ),
        "LightGBM, 100 trees, 20 columns": (booster, typed, good),
    }


def explained(model: Any, rows: pd.DataFrame, y: Any) -> shafer.Explainer:
    """Train a model, and promise sets and deferral."""
    half, three = len(rows) // 2, 3 * len(rows) // 4
    model.fit(rows[:half], y[:half])
    explainer = shafer.Explainer(model, rows[:half])
    held = slice(half, three)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that nothing can be promised with so few rows
        explainer.conformalize(rows[held], y[held]).control_error(rows[held], y[held], 0.25)
    return explainer


def one_row(explainer: shafer.Explainer, row: pd.DataFrame, n: int) -> dict[str, Any]:
    """Time one row, in turns: a call of each. The fastest tenth, as others use the machine."""
    calls = [
        lambda: explainer.model.predict_proba(row),
        lambda: explainer.answer(row),
        lambda: (explainer.predict_set(row), explainer.predict_or_defer(row), explainer(row)),
    ]
    times = np.empty((n, len(calls)))
    for i in range(n):
        for k, call in enumerate(calls):
            start = time.process_time()
            call()
            times[i, k] = 1e3 * (time.process_time() - start)
    plain, answer, three = np.quantile(times, 0.1, axis=0).round(2).tolist()
    return {
        "predict_proba, ms": plain,
        "answer, ms": answer,
        "allowed, ms": round(2 * plain + 1, 2),
        "three calls, ms": three,
    }


class Served:
    """A service in a process of its own."""

    def __init__(self, kind: str, path: Path, port: int) -> None:
        command = [sys.executable, "-m", "uvicorn", "services:app", "--port", str(port)]
        environment = {
            **os.environ, "SERVED_AS": kind, "SERVED_MODEL": str(path), "OMP_NUM_THREADS": "1",
        }  # fmt: skip
        self.url = f"http://127.0.0.1:{port}/answer"
        self.process = subprocess.Popen(
            [*command, "--no-access-log", "--log-level", "warning"],
            cwd=HERE / "serving", env=environment,
        )  # fmt: skip

    def asked(self, row: dict[str, Any]) -> Any:
        """Return one answer, as soon as there is one."""
        body = json.dumps(row).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.url, body, headers)
        for _ in range(600):
            try:
                with urllib.request.urlopen(request, timeout=10) as found:
                    return json.load(found)
            except urllib.error.HTTPError:
                raise
            except OSError:
                if self.process.poll() is not None:
                    raise
                time.sleep(0.1)
        raise TimeoutError(self.url)

    def requests_per_second(self, script: Path, seconds: int) -> float:
        """Ask with wrk; an answer that is not 200 ends the benchmark."""
        command = [
            "wrk",
            "-t1",
            f"-c{CONNECTIONS}",
            f"-d{seconds}s",
            "--timeout",
            "30s",
            "-s",
            str(script),
            self.url,
        ]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        if "Non-2xx" in told or "Socket errors" in told:
            raise RuntimeError(told)
        return float(re.search(r"Requests/sec:\s+([0-9.]+)", told)[1])

    def cpu_seconds(self) -> float:
        """Return the time that the processor has worked for the process."""
        stat = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        """End the process."""
        self.process.terminate()
        self.process.wait()


def script_of(rows: list[dict[str, Any]], path: Path) -> Path:
    """Write a script of wrk that sends rows in turn."""
    bodies = ",\n".join(f"[==[{json.dumps(row)}]==]" for row in rows)
    path.write_text(
        f"local rows = {{{bodies}}}\nlocal i = 0\nwrk.method = 'POST'\n"
        "wrk.headers['Content-Type'] = 'application/json'\n"
        "request = function() i = i % #rows + 1; return wrk.format(nil, nil, nil, rows[i]) end\n"
    )
    return path


def served(path: Path, rows: pd.DataFrame, turns: int, seconds: int) -> dict[str, Any]:
    """Load both services in turns, and return the medians."""
    plain_rows = [
        {name: value.item() if hasattr(value, "item") else value for name, value in row.items()}
        for row in rows.to_dict(orient="records")
    ]
    script = script_of(plain_rows, path.with_suffix(".lua"))
    services = {kind: Served(kind, path, port) for kind, port in (("plain", 8131), ("ours", 8132))}
    speeds: dict[str, list[float]] = {kind: [] for kind in services}
    costs: dict[str, list[float]] = {kind: [] for kind in services}
    try:
        told = {kind: service.asked(plain_rows[0]) for kind, service in services.items()}
        for name, value in told["plain"].items():
            assert abs(told["ours"]["probability"][name] - value) < 1e-9
        assert {"set", "deferred", "reasons"} <= set(told["ours"])
        for turn in range(turns + 1):  # the first one warms up
            for kind, service in services.items():
                before = service.cpu_seconds()
                found = service.requests_per_second(script, seconds)
                cost = 1e3 * (service.cpu_seconds() - before) / (found * seconds)
                speeds[kind] += [found] if turn else []
                costs[kind] += [cost] if turn else []
    finally:
        for service in services.values():
            service.stop()
    plain, ours = (float(np.median(speeds[kind])) for kind in ("plain", "ours"))
    return {
        "predict_proba, requests/s": round(plain),
        "shafer.serve, requests/s": round(ours),
        "share": f"{ours / plain:.0%}",
        "predict_proba, CPU ms/request": round(float(np.median(costs["plain"])), 2),
        "shafer.serve, CPU ms/request": round(float(np.median(costs["ours"])), 2),
    }


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="shorter turns, nothing is saved")
    quick = parser.parse_args().quick
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (model, rows, y) in worlds().items():
            explainer = explained(model, rows, y)
            last = rows[3 * len(rows) // 4 :]
            times = one_row(explainer, last[:1], 50 if quick else 400)
            path = Path(folder) / "m.shafer"
            explainer.save(path)
            speeds = served(path, last, 1 if quick else 5, 2 if quick else 5)
            found.append({"model": name, **times, **speeds})
            print(found[-1], flush=True)
    print(table(found))
    if not quick:
        record("serving", describe(), found)


if __name__ == "__main__":
    main()
