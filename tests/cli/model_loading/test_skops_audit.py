"""Forged model files: nothing of them runs, and the refusal is one line."""

from __future__ import annotations

import ast
import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skops.io
from skops.io import _persist
from skops.io._audit import NODE_TYPE_MAPPING

import shafer
from shafer.saving.skops import audit
from shafer.saving.trusted import BY_LOADER, NEVER, OWN_CLASSES, is_known
from shafer.scale.models import load_model

from ..running import refused, run
from .forging import Node, array, forged, many, mapping, model, node, packed, text, write

assert _persist is not None  # fills the table of loaders
LOADERS = sorted({loader for loader, _ in NODE_TYPE_MAPPING})
SYSTEM = f"{os.system.__module__}.system"


def method_of(name: str, method: str) -> Node:
    return node("MethodNode", name, content={"obj": node("TypeNode", name), "func": method})


def calls(canary: Path) -> dict[str, Node]:
    """Every way to have skops call something, each to leave a file behind."""
    command = f"touch {canary}"
    system = node("FunctionNode", SYSTEM)
    arguments = {"args": many(text(command)), "kwds": mapping(), "namespace": text({})}
    reference = node("CachedNode", SYSTEM, __id__=7)
    return {
        "reduce": node("ConstructorFromReduceNode", SYSTEM, content=many(text(command))),
        "popen": node(
            "ConstructorFromReduceNode", "subprocess.Popen", content=many(text(command.split()))
        ),
        "eval": node("ConstructorFromReduceNode", "builtins.eval", content=many(text("1"))),
        "loss": node(
            "LossNode",
            SYSTEM,
            content=mapping(),
            __reduce__={"args": many(text(command))},
        ),
        "tree": node(
            "TreeNode", SYSTEM, content=mapping(), __reduce__={"args": many(text(command))}
        ),
        "forest": node(
            "QuantileForestNode",
            SYSTEM,
            content=mapping(),
            __reduce__={"args": many(text(command))},
        ),
        "operator": node("OperatorFuncNode", "operator.call", attrs=many(system, text(command))),
        "methodcaller": node("OperatorFuncNode", "operator.methodcaller", attrs=many(text("x"))),
        "partial": node("PartialNode", "functools.partial", content={"func": system, **arguments}),
        "method": method_of("pathlib.Path", "touch"),
        "function": system,
        "type": node("TypeNode", SYSTEM),
        "key type": mapping(key_type=SYSTEM, **{command: text(1)}),
        "key type by number": many(
            node("ListNode", "builtins.list", content=[node("TypeNode", SYSTEM)], __id__=5),
            mapping() | {"key_types": {"__id__": 5}, "content": {command: text(1)}},
        ),
        "dict": mapping(SYSTEM),
        "default factory": node(
            "DefaultDictNode",
            "collections.defaultdict",
            content={"main": mapping(), "default_factory": system},
        ),
        "list": node("ListNode", SYSTEM, content=[text(command)]),
        "set": node("SetNode", SYSTEM, content=[text(command)]),
        "tuple": node("TupleNode", SYSTEM, content=[text(command)]),
        "array": node("NdArrayNode", SYSTEM, type="numpy", file="a.npy"),
        "object": node("ObjectNode", "pathlib.Path", content=mapping()),
        "random state": node("RandomStateNode", SYSTEM, content=mapping()),
        "generator": node(
            "RandomGeneratorNode",
            "numpy.random._generator.Generator",
            content={
                "bit_generator": mapping(bit_generator=text("seed")),
                "seed_seq": mapping(pool_size=text(4)),
            },
        ),
        "cached": many(node("FunctionNode", SYSTEM, __id__=7), reference),
        "unknown loader": node("ShellNode", SYSTEM),
        "no loader": node("ObjectNode", SYSTEM) | {"__loader__": {"a": 1}},
        "no name": node("TypeNode", SYSTEM) | {"__module__": None},
    }


@pytest.mark.parametrize("way", sorted(calls(Path("x"))))
@pytest.mark.parametrize("where", ["root", "attribute", "unread place"])
def test_nothing_runs(way: str, where: str, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    bad = calls(canary)[way]
    schema = {
        "root": bad,
        "attribute": model(C=text(1.0), extra=bad),
        "unread place": text("harmless") | {"unread": [[{"deep": bad}]]},
    }[where]
    path = write(tmp_path / "m.skops", forged(schema, a_npy=array(np.ones(2))))
    with pytest.raises(ValueError, match="is not loaded: |holds classes that are not known"):
        load_model(path)
    assert not canary.exists()


def test_every_loader_of_skops_is_judged() -> None:
    """A new version of skops with a new loader must be looked at."""
    assert set(LOADERS) <= {*BY_LOADER, *NEVER}


@pytest.mark.parametrize("loader", LOADERS)
def test_every_loader_with_a_foreign_name(loader: str, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    arguments = many(text(f"touch {canary}"))
    bad = node(
        loader,
        SYSTEM,
        content=arguments,
        attrs=arguments,
        key_types=many(),
        type="numpy",
        file="a.npy",
        __reduce__={"args": arguments},
    )
    path = write(tmp_path / "m.skops", forged(model(a=bad), a_npy=array(np.ones(2))))
    with pytest.raises(ValueError, match="is not loaded: |holds classes that are not known"):
        load_model(path)
    with pytest.raises(ValueError, match="is not loaded: |this is not a class"):
        load_model(path, trusted=[SYSTEM])
    assert not canary.exists()


def modules() -> dict[str, Path]:
    """Every module of the package, and its file."""
    root = Path(shafer.__file__).parent
    files = {path.relative_to(root).with_suffix("").parts: path for path in root.rglob("*.py")}
    return {".".join(("shafer", *p)).removesuffix(".__init__"): file for p, file in files.items()}


def names_in(file: Path) -> set[str]:
    """All names of a module, imported names included."""
    names = {"__builtins__", "__loader__"}
    for statement in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(statement, ast.Import | ast.ImportFrom):
            aliases = [alias.asname or alias.name for alias in statement.names]
            names.update(alias.partition(".")[0] for alias in aliases)
        elif isinstance(statement, ast.ClassDef | ast.FunctionDef):
            names.add(statement.name)
    return names


@pytest.mark.parametrize(("module", "file"), sorted(modules().items()), ids=sorted(modules()))
def test_every_name_of_every_module(module: str, file: Path) -> None:
    names = {f"{module}.{attribute}" for attribute in names_in(file)}
    for name in names:
        allowed = {loader for loader in LOADERS if is_known(loader, name)}
        assert allowed == ({"ObjectNode"} if name in OWN_CLASSES else set())
    nodes = [node("ObjectNode", name) for name in names]
    with zipfile.ZipFile(io.BytesIO(forged(many(*nodes)))) as archive:
        assert set(audit(archive).unknown) == names - set(OWN_CLASSES)


def test_own_classes_are_classes() -> None:
    for name in OWN_CLASSES:
        module, _, attribute = name.rpartition(".")
        found = getattr(__import__(module, fromlist=[attribute]), attribute)
        assert isinstance(found, type)
        assert f"{found.__module__}.{found.__qualname__}" == name


@pytest.mark.skipif(sys.platform == "win32", reason="the forged file calls a POSIX shell")
@pytest.mark.parametrize("module", ["shafer.models.families", "shafer.models.registry"])
def test_the_command_line_runs_nothing(module: str, tmp_path: Path) -> None:
    """The file that ran a command under version 0.1.0."""

    def call(function: Node, argument: Node) -> Node:
        content = many(function, argument, mapping())
        return node("ConstructorFromReduceNode", f"{module}._read", content=content)

    def attribute(name: str, of: Node, wanted: str) -> Node:
        return node("MethodNode", f"{module}.{name}", content={"obj": of, "func": wanted})

    loader = node("TypeNode", f"{module}.importlib")
    library = call(attribute("importlib", loader, "import_module"), text("os"))
    canary = tmp_path / "canary"
    schema = call(attribute("_read", library, "system"), text(f"touch {canary}"))
    write(tmp_path / "m.skops", forged(schema))
    (tmp_path / "d.csv").write_text("a,b\n1,2\n3,4\n")
    refused("m.skops", "explain", "--model", tmp_path / "m.skops", "--data", tmp_path / "d.csv")
    assert not canary.exists()


def random_state(position: Any) -> Node:
    key = node("NdArrayNode", "numpy.ndarray", type="numpy", file="key.npy")
    state = mapping(key=key, pos=text(position))
    extra = {"has_gauss": text(0), "gauss": text(0.0)}
    content = mapping(bit_generator=text("MT19937"), state=state, **extra)
    return node("RandomStateNode", "numpy.random.mtrand.RandomState", content=content)


DAMAGED: dict[str, tuple[Any, dict[str, bytes]]] = {
    "pickled array": (
        node("NdArrayNode", "numpy.ndarray", type="numpy", file="a.npy"),
        {"a_npy": array(np.array([{}], dtype=object), allow_pickle=True)},
    ),
    "array without end": (
        node("NdArrayNode", "numpy.ndarray", type="numpy", file="a.npy"),
        {"a_npy": array(np.ones(8)).replace(b"(8,)", b"(9,)")},
    ),
    "array too long": (
        node("NdArrayNode", "numpy.ndarray", type="numpy", file="a.npy"),
        {"a_npy": array(np.ones(8))[:-1]},
    ),
    "elements of no size": (
        node("NdArrayNode", "numpy.ndarray", type="numpy", file="a.npy"),
        {"a_npy": array(np.zeros(10**6, dtype="S1")).replace(b"|S1", b"|S0")[:128]},
    ),
    "no array": (node("NdArrayNode", "numpy.ndarray", type="numpy", file="b.npy"), {}),
    "array of another folder": (
        node("NdArrayNode", "numpy.ndarray", type="numpy", file="../../etc/passwd"),
        {},
    ),
    "no bytes": (node("BytesNode", "builtins.bytes", file="b.bin"), {}),
    "position before": (random_state(-1), {"key_npy": array(np.zeros(624, np.uint32))}),
    "position beyond": (random_state(10**6), {"key_npy": array(np.zeros(624, np.uint32))}),
    "huge pool": (
        node(
            "RandomGeneratorNode",
            "numpy.random._generator.Generator",
            content={
                "bit_generator": mapping(bit_generator=text("PCG64")),
                "seed_seq": mapping(pool_size=text(10**9)),
            },
        ),
        {},
    ),
    "JSON in JSON": (text(1) | {"content": "[" * 10**5}, {}),
    "slice": (
        node("SliceNode", "builtins.slice", content={"start": [], "stop": 1, "step": 1}),
        {},
    ),
    "deep": ("[" * 10**6, {}),
    "many parts": ("[" + "[]," * (4 * 10**6) + "[]]", {}),
    "a list": ("[]", {}),
    "no JSON": ("{", {}),
    "number": (text(1) | {"__id__": []}, {}),
}


@pytest.mark.parametrize("case", sorted(DAMAGED))
def test_damaged_content(case: str, tmp_path: Path) -> None:
    schema, members = DAMAGED[case]
    path = write(tmp_path / "m.skops", forged(schema, **members))
    with pytest.raises(ValueError, match="is not loaded: ") as caught:
        load_model(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("protocol", [0, -1, True, None, "2", 99])
def test_protocols(protocol: Any, tmp_path: Path) -> None:
    """Protocol 0 names functions where the audit of the others does not look."""
    function = node("FunctionNode", "numpy.exp")
    function["content"] = {"module_path": os.system.__module__, "function": "system"}
    with pytest.raises(ValueError, match="too old|too new"):
        load_model(write(tmp_path / "m.skops", forged(function, protocol)))


def sparse_case(name: str) -> bytes:
    good = {
        "format": np.array(b"csr"),
        "shape": np.array([3, 4]),
        "data": np.ones(3),
        "indices": np.array([0, 1, 3], dtype=np.int32),
        "indptr": np.array([0, 1, 2, 3], dtype=np.int32),
    }
    row = np.array([0, 1, 10**6])
    changes: dict[str, dict[str, Any]] = {
        "good": {},
        "indptr": {"indptr": np.array([0, 10**6, 2, 3], dtype=np.int32)},
        "end": {"indptr": np.array([0, 1, 2, 10**6], dtype=np.int32)},
        "index": {"indices": np.array([0, 1, 10**6], dtype=np.int32)},
        "negative": {"indices": np.array([0, 1, -5], dtype=np.int32)},
        "floats": {"indices": np.array([0.0, 1.0, 2.0])},
        "shape": {"shape": np.array([3, -4])},
        "three axes": {"shape": np.array([3, 4, 5])},
        "short": {"data": np.ones(2)},
        "texts": {"data": np.array(["a", "b", "c"])},
        "format": {"format": np.array(b"dia")},
        "no format": {"format": np.array([b"csr", b"csc"])},
        "coo": {"format": np.array(b"coo"), "row": row, "col": row},
    }
    return packed(**{**good, **changes[name]})


@pytest.mark.parametrize(
    "name",
    [
        *("indptr", "end", "index", "negative", "floats", "shape", "three axes", "short"),
        *("texts", "format", "no format", "coo"),
    ],
)
def test_forged_sparse_matrix(name: str, tmp_path: Path) -> None:
    matrix = node("SparseMatrixNode", "scipy.sparse._csr.csr_matrix", type="scipy", file="s.npz")
    good = write(tmp_path / "g.skops", forged(matrix, s_npz=sparse_case("good")))
    assert load_model(good).shape == (3, 4)
    path = write(tmp_path / "m.skops", forged(matrix, s_npz=sparse_case(name)))
    with pytest.raises(ValueError, match="is not loaded: "):
        load_model(path)


def test_names_on_the_terminal(tmp_path: Path) -> None:
    """Names from the file neither control the terminal nor run when advice is pasted."""
    (tmp_path / "d.csv").write_text("a\n1\n2\n")
    bad = node("TypeNode", "x.Model") | {
        "__class__": "Model;touch${IFS}PWNED;#",
        "__module__": "\x1b[2J\x1b]0;owned\x07tool",
    }
    write(tmp_path / "m.skops", forged(bad))
    result = run("explain", "--model", tmp_path / "m.skops", "--data", tmp_path / "d.csv")
    assert result.exit_code == 2
    assert "\x1b" not in result.output
    assert "\\x1b[2J" in result.output
    assert "--trust Model" not in result.output
    other = write(tmp_path / "o.skops", forged(node("ObjectNode", "tool.Model")))
    refused("add: --trust tool.Model", "explain", "--model", other, "--data", tmp_path / "d.csv")


def test_functions_are_not_offered_for_trust(tmp_path: Path) -> None:
    path = write(tmp_path / "m.skops", forged(node("TypeNode", "posixpath.join")))
    with pytest.raises(ValueError, match="holds 'posixpath.join', which is not a class") as caught:
        load_model(path)
    assert "--trust" not in str(caught.value)


def test_functions_are_never_trusted(tmp_path: Path) -> None:
    path = write(tmp_path / "m.skops", forged(node("TypeNode", "posixpath.join")))
    with pytest.raises(ValueError, match="--trust posixpath.join: this is not a class"):
        load_model(path, trusted=["posixpath.join"])
    path = write(tmp_path / "f.skops", forged(node("FunctionNode", "posixpath.join")))
    with pytest.raises(ValueError, match="holds the function posixpath.join"):
        load_model(path, trusted=["posixpath.join"])
    path = write(tmp_path / "n.skops", forged(node("ObjectNode", "no_such_package.Thing")))
    with pytest.raises(ValueError, match="this class cannot be imported"):
        load_model(path, trusted=["no_such_package.Thing"])


def test_a_vocabulary_out_of_range(tmp_path: Path) -> None:
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer().fit(["a good dog", "a bad cat"])
    vectorizer.vocabulary_["dog"] = 10**6
    skops.io.dump(vectorizer, tmp_path / "m.skops")
    with pytest.raises(ValueError, match="the vocabulary in it is damaged"):
        load_model(tmp_path / "m.skops")


@pytest.mark.parametrize(
    "damage",
    [
        {"k": 10**6},
        {"k": -3},
        {"_t": np.array([0.0, 1.0])},
        {"_t": np.array([3.0, 2.0] * 8)},
        {"_c": np.ones((2, 2))},
        {"_c": None},
        {"axis": 7},
        {"_t": None},
    ],
)
def test_a_spline_out_of_range(damage: dict[str, Any], tmp_path: Path) -> None:
    from sklearn.preprocessing import SplineTransformer

    transformer = SplineTransformer().fit(np.arange(20.0)[:, None])
    skops.io.dump(transformer, tmp_path / "m.skops")
    new = np.array([[3.5]])
    again = load_model(tmp_path / "m.skops").transform(new)
    np.testing.assert_array_equal(again, transformer.transform(new))
    held = vars(transformer.bsplines_[0])  # before SciPy 1.16 the names had no underscore
    held.update({name if name in held else name[1:]: value for name, value in damage.items()})
    skops.io.dump(transformer, tmp_path / "m.skops")
    with pytest.raises(ValueError, match="a spline in it is damaged"):
        load_model(tmp_path / "m.skops")


def test_schema_is_json_of_bounded_size(tmp_path: Path) -> None:
    """The bomb that took 2 GB under version 0.1.0."""
    path = tmp_path / "bomb.skops"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        head = json.dumps(text("")).replace('""', "")[:-1]
        with archive.open("schema.json", "w", force_zip64=True) as member:
            member.write(head.encode())
            for _ in range(800):
                member.write(b"a" * 2**20)
    (tmp_path / "d.csv").write_text("a\n1\n2\n")
    code = (
        "import resource, subprocess, sys\n"
        "r = subprocess.run([sys.executable, '-m', 'shafer', *sys.argv[1:]], capture_output=True)\n"
        "sys.stderr.buffer.write(r.stderr)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)\n"
    )
    command = [sys.executable, "-c", code, "explain", "--model", path, "--data", tmp_path / "d.csv"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "would unpack to" in done.stderr
    assert done.stderr.count("\n") == 1
    assert int(done.stdout) < 700  # MB, most of it the libraries themselves
