"""Compiled kernels where nothing can be written, where the compiler is missing, and when they pay.

The processes here run as a user without rights, on a copy of the package that nobody can write to.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from shafer._kernels import compilation, dispatch, pooling
from shafer._kernels.compiled import numba_kernels
from shafer._kernels.warm_up import warm_up
from unprivileged import close_to_all, reopen, run_without_rights

PACKAGE = Path(compilation.__file__).parents[1]


@pytest.fixture(scope="module")
def tree() -> Iterator[Path]:
    """A folder that all can read, with a copy of the package, and that nobody can write to."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        leave = shutil.ignore_patterns("__pycache__", "*.npz", "*.png")
        shutil.copytree(PACKAGE, root / "shafer", ignore=leave)
        close_to_all(root)
        yield root
        reopen(root)


def as_nobody(code: str, tree: Path, **environment: str) -> dict[str, Any]:
    """Run code as a user without rights and without a home, and return the JSON that it prints."""
    command = [sys.executable, "-c", CALLS + code]
    done = run_without_rights(command, tree, PYTHONPATH=str(tree), **environment)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


CALLS = """
import json, os, sys, warnings
import numpy as np
from shafer._kernels import compilation, dispatch, pooling
assert compilation.__file__.startswith(os.getcwd())
for folder in (os.path.dirname(compilation.__file__), os.path.dirname(os.environ["HOME"])):
    assert not os.access(folder, os.W_OK)
said = []
warnings.simplefilter("always")
warnings.showwarning = lambda message, *rest: said.append(str(message))
weights = np.random.default_rng(0).normal(size=(5, 4, 3))

def compiled_now(name):
    '''Let one kernel be compiled now, whatever the work.'''
    dispatch._COMPILING[name] = 0

def equal_bits():
    '''Compare two kernels, which compile fast, with the plain ones.'''
    found = dispatch.additive_weights(weights, weights[0])
    same = found.tobytes() == pooling.additive_weights(weights, weights[0]).tobytes()
    return same and np.array_equal(dispatch.pool(weights), pooling.pool(weights))
"""
COMPILE_BOTH = """
compiled_now("additive_weights")
compiled_now("pool")
"""
ANSWER = """
print(json.dumps({'same': equal_bits(), 'used': dispatch._is_loaded(), 'said': said}))
"""


def test_a_tree_that_cannot_be_written(tree: Path) -> None:
    """Two kernels are compiled and not kept; one warning tells why, and what to do."""
    found = as_nobody(COMPILE_BOTH + ANSWER, tree)
    assert found["same"]
    assert found["used"]
    [warning] = found["said"]
    assert "cannot be kept on disk" in warning
    assert "shafer warmup" in warning
    assert "Permission denied" in warning


@pytest.fixture
def kernels(tree: Path) -> Iterator[Path]:
    """The read-only tree, with the kernels of this one in it."""
    warm_up()  # nothing to do, if the tests are run by make
    within = tree / "shafer" / "_kernels" / "compiled"
    within.chmod(0o755)
    held = next(folder for folder in compilation.folders() if compilation._stored(folder))
    (within / "__pycache__").mkdir()
    for path in compilation._stored(held):
        shutil.copy(path, within / "__pycache__")
    close_to_all(within)
    yield tree
    reopen(within)
    shutil.rmtree(within / "__pycache__")
    within.chmod(0o555)


def test_kernels_that_were_compiled_before_are_read(kernels: Path) -> None:
    """A linear model on 100,000 rows, and trees: with the kernels of the image, and no warning."""
    code = """
import shafer
from sklearn.ensemble import HistGradientBoostingClassifier
rng = np.random.default_rng(0)
X = rng.normal(size=(100_000, 12))
linear = shafer.Explainer((rng.normal(size=12), 0.1), X[:9])
trees = HistGradientBoostingClassifier(max_iter=2).fit(X[:200], X[:200, 0] > 0)
trees = shafer.Explainer(trees, X[:99])
def everything():
    return [values.tobytes() for ev in (linear(X), trees(X[:1]), trees(X[:200]))
            for values in (ev.belief, ev.weights_for, ev.conflict)]
plain = everything()
assert not dispatch._is_loaded()
before = dict(dispatch._done)
dispatch._LOADING = 0
same = everything() == plain
print(json.dumps({'same': same, 'used': dispatch._is_loaded(), 'said': said,
                  'by NumPy': [k for k, v in dispatch._done.items() if v != before[k]]}))
"""
    found = as_nobody(code, kernels)
    assert found == {"same": True, "used": True, "said": [], "by NumPy": []}


def test_a_full_disk(tree: Path) -> None:
    """No file may have a byte: what the kernel of the system says of a full disk."""
    with tempfile.TemporaryDirectory() as name:
        cache = Path(name)
        cache.chmod(0o777)
        limit = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
        found = as_nobody(limit + COMPILE_BOTH + ANSWER, tree, NUMBA_CACHE_DIR=name)
        assert not [path for path in cache.rglob("*") if path.is_file()]
    assert found["same"]
    assert found["used"]
    [warning] = found["said"]
    assert "cannot be kept on disk" in warning
    assert "File too large" in warning


def test_without_a_compiler(tree: Path) -> None:
    found = as_nobody(COMPILE_BOTH + ANSWER, tree, NUMBA_DISABLE_JIT="1")
    assert found["same"]
    assert not found["used"]
    [warning] = found["said"]
    assert "NUMBA_DISABLE_JIT" in warning
    assert "NumPy computes the same numbers" in warning


def test_a_numba_that_cannot_be_imported(tree: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        broken = Path(name, "numba.py")
        broken.write_text("raise ImportError('Numba needs NumPy 1.9 or less')")
        broken.chmod(0o644)
        path = f"sys.path.insert(0, {name!r})\n"
        found = as_nobody(path + COMPILE_BOTH + ANSWER, tree)
    assert found["same"]
    [warning] = found["said"]
    assert "ImportError: Numba needs NumPy 1.9 or less" in warning


def test_a_kernel_that_does_not_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is tried once; the numbers are those of NumPy."""
    tried: list[str] = []

    def failing(weights: Any) -> None:
        tried.append("pool")
        raise NotImplementedError("no registers")

    monkeypatch.setattr(dispatch, "_compiled", lambda: SimpleNamespace(pool=failing))
    monkeypatch.setattr(dispatch, "_pays", lambda *_: (True, True))
    monkeypatch.setattr(dispatch, "_failed", set())
    weights = np.ones((2, 3, 4))
    compilation.warn_unusable.cache_clear()
    with pytest.warns(RuntimeWarning, match="NotImplementedError: no registers"):
        found = dispatch.pool(weights)
    np.testing.assert_array_equal(found, pooling.pool(weights))
    dispatch.pool(weights)  # without a second warning
    assert tried == ["pool"]
    compilation.warn_unusable.cache_clear()


def test_an_error_about_the_arrays_is_no_failure_of_the_compiler(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dispatch, "_pays", lambda *_: (True, True))
    with pytest.raises((TypeError, ValueError)):
        dispatch.pool(np.ones(3))  # no components
    assert not dispatch._failed


THREADS = """
import threading
import numpy as np
from shafer._kernels import dispatch, pooling
dispatch._LOADING = 0
rng = np.random.default_rng(0)
given = rng.normal(size=(80_000, 30)), np.zeros(30), rng.normal(size=(30, 2)), np.zeros(2)
plain = np.stack(pooling.pool_linear(*given)).tobytes()
def call():
    for _ in range(5):
        assert np.stack(dispatch.pool_linear(*given)).tobytes() == plain
call()
from shafer._kernels.compiled.kernel import _THREADS
assert _THREADS.started
"""


@pytest.mark.parametrize(
    ("layer", "then"),
    [
        (
            "workqueue",
            "rest = [threading.Thread(target=call) for _ in range(3)]\n"
            "[t.start() for t in rest]\n[t.join() for t in rest]",
        ),
        (
            "default",
            "import os\nchild = os.fork()\nif child == 0:\n    call()\n    os._exit(7)\n"
            "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7",
        ),
    ],
    ids=["threads without libgomp", "fork"],
)
def test_threads_and_forks_do_not_end_the_process(layer: str, then: str) -> None:
    warm_up()  # nothing to do, if the tests are run by make
    threads = {"NUMBA_NUM_THREADS": "2", "NUMBA_THREADING_LAYER": layer}
    command = [sys.executable, "-W", "ignore", "-c", THREADS + then]
    done = subprocess.run(
        command, env={**os.environ, **threads}, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr


# Files of kernels.


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    found = [tmp_path / "a" / "deep", tmp_path / "b"]
    monkeypatch.setattr(compilation, "folders", lambda: found)
    return found


def test_a_damaged_file_is_not_used(folders: list[Path]) -> None:
    path = compilation.store_kernel("name", b"content")
    assert path is not None
    assert path.parent == folders[0]
    assert compilation.is_any_stored()
    assert compilation.stored_kernel("name") == b"content"
    for damaged in (path.read_bytes()[:-1], path.read_bytes().replace(b"co", b"cc"), b""):
        path.write_bytes(damaged)
        assert compilation.stored_kernel("name") is None
    assert compilation.stored_kernel("other") is None


def test_a_file_of_another_library_is_compiled_again(folders: list[Path]) -> None:
    """Whole, but not what this version of numba can read."""
    import numba

    from shafer._kernels.compiled.kernel import KernelCache, kernel

    def double(x: float) -> float:
        return 2.0 * x

    first = kernel(error_model="numpy")(double)
    with compilation.permission(True) as asked:
        assert first(2.0) == 4.0
    assert (len(asked.compiled), len(asked.stored)) == (1, 1)
    again = kernel(error_model="numpy")(double)
    with compilation.permission(False):
        assert again(2.0) == 4.0
        with pytest.raises(compilation.NotCompiledError):
            again(1)  # whole numbers are another kernel
    name = asked.stored[0].name.partition("-")[2].partition(".")[0]
    compilation.store_kernel(name, b"no pickle")
    third = kernel(error_model="numpy")(double)
    with compilation.permission(False), pytest.raises(compilation.NotCompiledError):
        third(2.0)
    assert third(2.0) == 4.0
    assert isinstance(third._cache, KernelCache)
    assert numba.__version__


def test_the_first_folder_that_can_be_written(folders: list[Path]) -> None:
    folders[0].parent.write_text("a file")
    path = compilation.store_kernel("name", b"content")
    assert path is not None
    assert path.parent == folders[1]
    old = folders[1] / "0123-old.kernel"
    other = folders[1] / "other.txt"
    old.write_text("")
    other.write_text("")
    compilation.remove_older()
    assert sorted(folders[1].iterdir()) == sorted([path, other])


def test_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "chosen"))
    own = tmp_path / "shafer"
    within = PACKAGE / "_kernels" / "compiled" / "__pycache__"
    assert compilation.folders() == [tmp_path / "chosen" / "shafer", within, own]
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    own.mkdir(mode=0o755)
    assert compilation.folders() == [within, own]
    own.chmod(0o777)  # what it holds is run, and anyone can write it
    assert compilation.folders() == [within]
    own.chmod(0o755)
    monkeypatch.setattr(os, "geteuid", lambda: own.stat().st_uid + 1)
    assert compilation.folders() == [within] if own.stat().st_uid else [within, own]


# When they pay.


def test_compiling_never_takes_longer_than_the_work_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A kernel for one kind of arrays costs its price once, and the next kind costs it again."""
    on_disk: set[np.dtype[Any]] = set()
    compiled = 0

    def additive_weights(given: Any, constant: Any) -> Any:
        nonlocal compiled
        if given.dtype not in on_disk:
            compilation.ask_to_compile("additive_weights")
            compiled += price
            on_disk.add(given.dtype)
        return pooling.additive_weights(given, constant)

    price, work, rng = 1000, 0, np.random.default_rng(0)
    stand_in = SimpleNamespace(additive_weights=additive_weights)
    monkeypatch.setattr(dispatch, "_compiled", lambda: stand_in)
    monkeypatch.setattr(dispatch, "_is_loaded", lambda: True)
    monkeypatch.setattr(dispatch, "_COMPILING", {"additive_weights": price})
    monkeypatch.setattr(dispatch, "_done", Counter())
    for _ in range(60):
        weights = np.ones((int(rng.integers(1, 90)), 1, 2), rng.choice(["f4", "f8"]))
        dispatch.additive_weights(weights, weights[0])
        work += weights.size
        assert compiled <= work
    assert len(on_disk) == 2


def test_numba_is_loaded_where_kernels_are_on_disk_and_there_is_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dispatch, "_is_loaded", lambda: False)
    monkeypatch.setattr(dispatch, "_done", Counter(pool=dispatch._LOADING - 10))
    monkeypatch.setattr(dispatch, "_next_look", 0.0)
    for stored in (True, False):
        monkeypatch.setattr(dispatch, "is_any_stored", lambda stored=stored: stored)
        assert dispatch._pays("closed_forms", 9) == (False, False)
        assert dispatch._pays("closed_forms", 10) == (stored, False)
    assert dispatch._pays("closed_forms", dispatch._COMPILING["closed_forms"]) == (True, True)
    monkeypatch.setattr(dispatch, "is_any_stored", lambda: True)
    assert dispatch._pays("closed_forms", 10) == (False, False)  # the disk is not asked each time
    monkeypatch.setattr(dispatch, "_next_look", 0.0)
    assert dispatch._pays("closed_forms", 10) == (True, False)


@pytest.mark.parametrize("name", dispatch._COMPILING)
def test_each_kernel_has_a_price(name: str) -> None:
    assert callable(getattr(numba_kernels, name))


def test_work_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "_pays", lambda *_: (False, False))
    monkeypatch.setattr(dispatch, "_done", Counter())
    shapes = (30, 20), (20,), (20, 3), (3,)
    pooled = dispatch.pool_linear(*(np.ones(shape) for shape in shapes))
    dispatch.closed_forms(pooled)
    dispatch.pool(np.ones((7, 5, 2)))
    assert dispatch._done == {"pool_linear": 1800, "closed_forms": 12 * 90, "pool": 70}
