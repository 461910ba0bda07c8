"""What is published: its metadata, its texts, the wheel, the workflows."""

from __future__ import annotations

import re
import runpy
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

import shafer

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SUPPORT = (ROOT / "docs" / "background" / "support.md").read_text(encoding="utf-8")
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
Check = dict[str, Callable[..., Any]]

# The name is not on a package index yet, so whoever registers it would be installed.
BY_NAME = re.compile(
    r"\b(?:pip|pipx|uv|conda|poetry)\b[^\n`]*?\b(?:install|add)\b[^\n`]*?[\s'\"]shafer(?![\w./-])"
    r"|(?<![/\w])shafer\[[a-z]|\buvx shafer\b"
)


def _texts() -> list[Path]:
    folders = [ROOT / name for name in ("src", "docs", "benchmarks", "tools")]
    found = [*ROOT.glob("*.md"), ROOT / "Makefile", *(ROOT / ".github").rglob("*.yml")]
    for folder in folders:
        for ending in ("py", "md", "jinja", "js", "txt", "yml", "yaml", "Dockerfile"):
            found += folder.rglob(f"*.{ending}")
    return [path for path in found if "node_modules" not in path.parts]


def test_nothing_is_installed_by_a_name_that_is_not_published() -> None:
    texts = _texts()
    assert len(texts) > 400
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in texts
        for match in BY_NAME.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("pip install shafer", True),
        ("run: pip install 'shafer[onnx]'", True),
        ("uv add shafer", True),
        ("the extra shafer[dask]", True),
        ("uvx shafer report", True),
        ("pip install '/src/shafer[cli]'", False),
        ("pip install '.[onnx]' in a copy of the repository", False),
        ("pip install dist/shafer-0.2.0-py3-none-any.whl", False),
        ("shafer score new.csv", False),
    ],
)
def test_what_counts_as_by_name(text: str, wrong: bool) -> None:
    assert bool(BY_NAME.search(text)) == wrong


def test_the_version_is_final_and_the_same_everywhere() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", shafer.__version__)
    assert PROJECT["version"] == shafer.__version__
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == shafer.__version__
    assert f"version = {{{shafer.__version__}}}" in (ROOT / "docs" / "cite.md").read_text("utf-8")


def test_no_address_is_named_before_there_is_one() -> None:
    assert "urls" not in PROJECT


def test_the_same_versions_of_python_are_declared_tested_and_documented() -> None:
    prefix = "Programming Language :: Python :: 3."
    declared = [name.rpartition(" ")[2] for name in PROJECT["classifiers"] if prefix in name]
    assert declared == PYTHONS
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))["jobs"]
    assert jobs["systems"]["strategy"]["matrix"]["python"] == PYTHONS
    heading = next(line for line in SUPPORT.splitlines() if line.startswith("| | Python"))
    assert re.findall(r"3\.\d+", heading) == PYTHONS
    assert " ".join(PYTHONS) in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_the_documented_floors_are_the_declared_ones() -> None:
    extras = PROJECT["optional-dependencies"]
    used = {name: needs for name, needs in extras.items() if name not in ("docs", "bench", "test")}
    floors: dict[str, set[str]] = {}
    for requirement in [*PROJECT["dependencies"], *(need for n in used.values() for need in n)]:
        name, _, version = requirement.partition(";")[0].strip().partition(">=")
        floors.setdefault(name.partition("[")[0].lower(), set()).add(version)
    assert {name: found for name, found in floors.items() if len(found) > 1} == {}
    rows = re.findall(r"^\| ([a-z][\w-]+) \| ([\d.]+) \|", SUPPORT, re.MULTILINE)
    assert len(rows) >= 25
    assert {name: {version} for name, version in rows} == {name: floors[name] for name, _ in rows}
    required = {need.partition(">=")[0] for need in PROJECT["dependencies"]}
    assert required <= {name for name, _ in rows}


def test_workflows_call_targets_that_exist_and_pin_their_actions() -> None:
    targets = set(re.findall(r"^([\w./% -]+):(?!=)", (ROOT / "Makefile").read_text("utf-8"), re.M))
    names = {name for line in targets for name in line.split()}
    called = set()
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        text = path.read_text(encoding="utf-8")
        for run in re.findall(r"run: make ([^\n]+)", text):
            words = [word.strip('"') for word in run.split() if "=" not in word]
            called |= {word.replace("$LIBRARIES", kind) for word in words for kind in _KINDS}
        for action in re.findall(r"uses: (\S+)", text):
            assert re.search(r"@[0-9a-f]{40}$", action) or action.startswith("./"), action
    assert called == {
        *(f"test-{kind}" for kind in _KINDS),
        ".venv/.test",
        "docs-check",
        "release-check",
    }
    assert called <= names


_KINDS = ("lowest", "newest")


@pytest.fixture(scope="module")
def check() -> Check:
    return runpy.run_path(str(ROOT / "tools" / "release_check.py"))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = str(tmp_path_factory.mktemp("dist"))
    [wheel] = WheelBuilder(str(ROOT)).build(directory=folder, versions=["standard"])
    [sdist] = SdistBuilder(str(ROOT)).build(directory=folder, versions=["standard"])
    return Path(wheel), Path(sdist)


def test_wheel_and_sdist_hold_what_they_should(check: Check, built: tuple[Path, Path]) -> None:
    wheel, sdist = built
    assert check["wrong_in_wheel"](wheel) == []
    assert check["wrong_in_sdist"](sdist) == []


def test_what_is_wrong_is_found(check: Check, built: tuple[Path, Path], tmp_path: Path) -> None:
    wheel, _ = built
    worse = tmp_path / wheel.name
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(worse, "w") as new:
        for name in old.namelist():
            if name != "shafer/py.typed":
                new.writestr(name, old.read(name))
        new.writestr("tests/test_x.py", "")
    assert check["wrong_in_wheel"](worse) == [
        f"{worse.name} lacks shafer/py.typed.",
        f"{worse.name} also holds tests/test_x.py.",
        f"{worse.name} has {worse.stat().st_size:,} bytes; at most 2,000,000.",
    ]


def test_a_tag_must_be_the_version(check: Check) -> None:
    assert check["wrong_tag"](f"v{shafer.__version__}") == []
    [problem] = check["wrong_tag"]("v9.9.9")
    assert problem.startswith("The tag v9.9.9 is not v")
