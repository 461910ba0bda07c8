"""A trial of a stored CatBoost model in a process of its own, with limits on memory and time.

CatBoost alone can read its format, and a forged file can end the process that reads it. So another
process reads the file first, asks the model about some rows, computes their contributions, and
writes all of it in another format. A row meets few entries of the tables of categories; writing
meets them all.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from multiprocessing.spawn import get_executable

_SECONDS = 120
_MEGABYTE = 2**20
_ADDRESSES = 8192 * _MEGABYTE  # threads reserve far more than they use
_USED = 512 * _MEGABYTE
_tried: set[bytes] = set()  # digests of models that passed

# Runs in the other process. What CatBoost itself needs does not count.
_TRIAL = """
import json, os, sys, tempfile
sys.path[:] = json.loads(sys.argv[3])
import numpy, catboost
content = sys.stdin.buffer.read()

def used():
    return 0 if resource is None else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

try:
    import resource
except ImportError:  # on Windows; the limit of time stays
    resource = None
else:
    resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]), int(sys.argv[1])))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
before = used()
model = catboost.CatBoost()
try:
    model.load_model(blob=content)
    words = {j: "0" for j in model.get_cat_feature_indices()}
    words.update({j: "a b" for j in model.get_text_feature_indices()})
    vectors = model.get_embedding_feature_indices()
    n = len(model.feature_names_)
    model.get_metadata()
    model.get_scale_and_bias()
    if not vectors and model.is_fitted() and n <= 100_000:
        rows = [[words.get(j, x) for j in range(n)] for x in (0.0, 1.0, -1e9, 1e9, float("nan"))]
        pool = catboost.Pool(
            rows,
            cat_features=model.get_cat_feature_indices(),
            text_features=model.get_text_feature_indices(),
            thread_count=1,
        )
        model.predict(pool, prediction_type="RawFormulaVal", thread_count=1)
        if model.tree_count_:
            model.get_feature_importance(pool, type="ShapValues", thread_count=1)
        with tempfile.TemporaryDirectory() as folder:
            if not model.get_text_feature_indices():  # it has no such format
                # Reads every tree and every entry of the tables of categories.
                path = os.path.join(folder, "model.json")
                model.save_model(path, format="json", pool=pool)
    kilobyte = 1 if sys.platform == "darwin" else 1024
    fits = (used() - before) * kilobyte <= int(sys.argv[2])
    sys.stdout.write("passed" if fits else "refused: it takes too much memory")
except (Exception, MemoryError) as error:
    sys.stdout.write("refused: " + str(error)[:200])
sys.stdout.flush()
os._exit(0)
"""


def try_catboost(content: bytes) -> None:
    """Refuse a model of CatBoost that another process cannot read and use.

    Raises
    ------
    ValueError
    """
    digest = hashlib.sha256(content).digest()
    if digest in _tried:
        return
    limits = [str(most + 64 * len(content)) for most in (_ADDRESSES, _USED)]
    places = json.dumps([place for place in sys.path if isinstance(place, str)])
    try:
        run = subprocess.run(
            [os.fsdecode(get_executable()), "-I", "-c", _TRIAL, *limits, places],
            input=content,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ValueError(
            f"CatBoost needs more than {_SECONDS} seconds for its model, so the model is damaged"
        ) from None
    if run.returncode or not run.stdout.endswith(b"passed"):
        raise ValueError("CatBoost cannot read its model, which is damaged")
    _tried.add(digest)
