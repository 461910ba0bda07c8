"""The documented Dockerfile, line by line, in a folder: without an engine and without a network."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import shafer
from shafer._kernels import compilation
from shafer._kernels.warm_up import warm_up
from unprivileged import close_to_all, reopen, run_without_rights

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "production.md"
PACKAGE = Path(shafer.__file__).parent


def lines() -> list[tuple[str, str]]:
    [block] = re.findall(r"```dockerfile\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    return [tuple(line.split(" ", 1)) for line in block.strip().splitlines()]  # type: ignore[misc]


class Image:
    """A folder in the place of the root of an image."""

    def __init__(self, root: Path, context: Path) -> None:
        self.root, self.context = root, context
        self.environment: dict[str, str] = {}
        self.user, self.command = "root", list[str]()

    def build(self) -> None:
        for name, rest in lines():
            getattr(self, f"_{name.lower()}")(rest)
        close_to_all(self.root)

    def _from(self, base: str) -> None:
        assert re.fullmatch(r"python:3\.\d\d-slim", base)

    def _copy(self, rest: str) -> None:
        given, place = rest.split()
        target = self.within(place)
        target.parent.mkdir(parents=True, exist_ok=True)
        if given != ".":
            shutil.copy(self.context / given, target)

    def _run(self, rest: str) -> None:
        words = shlex.split(rest)
        if words[:2] == ["pip", "install"]:
            [wanted] = [word for word in words[2:] if not word.startswith("--")]
            assert wanted == "/src/shafer[cli,fast]"
            self._install()
        elif words[0] == "useradd":
            assert words[-1] == "app"
        else:
            done = self.ran(*words)
            assert done.returncode == 0, done.stderr
            self.printed = done.stdout

    def _env(self, rest: str) -> None:
        self.environment |= dict(part.split("=", 1) for part in shlex.split(rest))

    def _user(self, name: str) -> None:
        self.user = name

    def _entrypoint(self, rest: str) -> None:
        self.command = json.loads(rest)

    def _cmd(self, rest: str) -> None:
        self.command += json.loads(rest)

    def within(self, place: str) -> Path:
        return self.root / place.lstrip("/")

    def _install(self) -> None:
        """Copy the package, and make the packages of this environment known."""
        packages = self.root / "packages"
        leave = shutil.ignore_patterns("__pycache__", "*.png")
        shutil.copytree(PACKAGE, packages / "shafer", ignore=leave)
        self.environment["PYTHONPATH"] = str(packages)
        warm_up()  # nothing to do, if the tests are run by make
        held = next(folder for folder in compilation.folders() if compilation._stored(folder))
        kernels = packages / "shafer" / "_kernels" / "compiled" / "__pycache__"
        kernels.mkdir()
        for path in compilation._stored(held):  # to compile them all would take a minute
            if b"_weigh_rows" not in path.read_bytes():
                shutil.copy(path, kernels)

    def ran(self, *words: str):  # type: ignore[no-untyped-def]
        """Run a command of the image, with paths in the folder."""
        assert words[0] == "shafer"
        rest = [str(self.within(word)) if word.startswith("/") else word for word in words[1:]]
        command = [sys.executable, "-m", "shafer", *rest]
        return run_without_rights(command, self.root, **self.environment)


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)
        reopen(Path(name))


def test_the_documented_image_scores_without_rights(folder: Path) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(40, 3)), columns=list("abc"))
    explainer = shafer.Explainer(LogisticRegression().fit(X, X["a"] > 0), X)
    context, root, out = folder / "context", folder / "root", folder / "root" / "out"
    context.mkdir()
    root.mkdir()
    explainer.save(context / "model.shafer")
    image = Image(root, context)
    (root / "data").mkdir()
    X.to_csv(root / "data" / "new.csv", index=False)
    image.build()
    assert image.user == "app"
    assert image.printed.startswith("4 kernels were compiled")
    root.chmod(0o755)
    out.mkdir(mode=0o777)
    out.chmod(0o777)
    root.chmod(0o555)
    before = {path for path in root.rglob("*") if out not in path.parents}
    done = image.ran(*image.command)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    assert before == {path for path in root.rglob("*") if out not in path.parents}
    scored = pd.read_csv(out / "scored.csv")
    np.testing.assert_allclose(scored["probability_True"], explainer(X).probability[:, 1])
    again = image.ran("shafer", "warmup")
    assert again.stdout == "All kernels are compiled already.\n", again.stderr
