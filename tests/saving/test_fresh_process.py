"""Saved files give the same bits in a new process, and are the same there if saved again."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from shafer.saving.file import saved_bytes

from . import fresh_process
from .families import families

# Loading makes other objects of the same numbers, or a library writes more than it reads.
MADE_AGAIN = {
    "catboost",
    "catboost categories",
    "catboost in a classifier",
    "gradient boosting",
    "lightgbm categories",
    "periodic splines",
    "splines",
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning:optbinning")
@pytest.mark.filterwarnings("ignore:.*force_all_finite.*:FutureWarning")
def test_the_evidence_is_the_same_to_the_last_bit(tmp_path: Path) -> None:
    made = {name: make() for name, make in families().items()}
    for name, saved in made.items():
        path = tmp_path / f"{name}.shafer"
        saved.model.save(path)
        assert saved_bytes(saved.model) == path.read_bytes(), name
    rows = {name: saved.needed for name, saved in made.items()}
    (tmp_path / "rows.pkl").write_bytes(pickle.dumps(rows))
    kernels = "compiled" if fresh_process.COMPILED in sys.modules else "reference"
    done = subprocess.run(
        [sys.executable, fresh_process.__file__, tmp_path, kernels], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    differ = set(json.loads(done.stdout))
    assert differ <= MADE_AGAIN
    for name, saved in made.items():
        here = fresh_process.numbers(saved.model, saved.rows)
        with np.load(tmp_path / f"{name}.npz", allow_pickle=False) as there:
            assert set(there) == set(here), name
            for key, value in here.items():
                assert there[key].tobytes() == value.tobytes(), (name, key)
