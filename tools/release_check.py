"""Check what would be published: the files in out/dist, and the wheel in an empty environment.

``make release-check`` builds the files and runs this. ``--tag v1.2.3`` only compares a tag with the
version. Every problem is one line; the exit code is 1 if there is one.
"""

from __future__ import annotations

import argparse
import doctest
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from email.parser import HeaderParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Larger files have something in them that does not belong there. Today: 1.5 and 5.3 MB.
LARGEST_WHEEL, LARGEST_SDIST = 2_000_000, 8_000_000
# What a person needs to build, test and trust a copy of the source.
IN_SDIST = (
    *("CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "SECURITY.md"),
    *("constraints.txt", "pyproject.toml", "src/shafer/py.typed", "tests/conftest.py"),
)
EXTRAS = "[cli,report]"  # those of the README


def version() -> str:
    """Return the version in pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project["version"])


def wrong_tag(tag: str) -> list[str]:
    """Compare a tag with the version, which must be final and have its part of the changelog."""
    own = version()
    found = [f"The tag {tag} is not v{own}, the version in pyproject.toml."] * (tag != f"v{own}")
    if not re.fullmatch(r"\d+\.\d+\.\d+", own):
        found.append(f"The version {own} is not final.")
    if f"## [{own}]" not in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"):
        found.append(f"CHANGELOG.md has no part about {own}.")
    return found


def package_files() -> set[str]:
    """Return the files of the package, as they must be in the wheel."""
    source = ROOT / "src"
    files = (path for path in (source / "shafer").rglob("*") if path.is_file())
    return {
        path.relative_to(source).as_posix()
        for path in files
        if "__pycache__" not in path.parts and path.suffix not in {".pyc", ".nbi", ".nbc"}
    }


def wrong_in_wheel(path: Path) -> list[str]:
    """Compare a wheel with the source: no file missing, none besides, and the right metadata."""
    found = []
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        info = f"shafer-{version()}.dist-info"
        about = {name for name in names if name.startswith(f"{info}/")}
        if f"{info}/METADATA" not in names:
            return [f"{path.name} is not of version {version()}."]
        metadata = HeaderParser().parsestr(archive.read(f"{info}/METADATA").decode())
    expected = package_files()
    found += [f"{path.name} lacks {name}." for name in sorted(expected - names)]
    found += [f"{path.name} also holds {name}." for name in sorted(names - expected - about)]
    if f"{info}/licenses/LICENSE" not in about:
        found.append(f"{path.name} lacks the licence.")
    if not path.name.endswith("-py3-none-any.whl"):
        found.append(f"{path.name} is not for every system and Python 3.")
    for url in metadata.get_all("Project-URL", []):
        found.append(f"{path.name} names {url}. The project has no address yet.")
    if path.stat().st_size > LARGEST_WHEEL:
        found.append(f"{path.name} has {path.stat().st_size:,} bytes; at most {LARGEST_WHEEL:,}.")
    return found


def wrong_in_sdist(path: Path) -> list[str]:
    """Look for what a copy of the source needs, and for what is only by accident in it."""
    with tarfile.open(path) as archive:
        top = f"shafer-{version()}/"
        names = {member.name.removeprefix(top) for member in archive if member.isfile()}
    found = [f"{path.name} lacks {name}." for name in IN_SDIST if name not in names]
    found += [
        f"{path.name} lacks src/{name}."
        for name in sorted(package_files())
        if f"src/{name}" not in names
    ]
    made = re.compile(r"(^|/)(\.venv|out|node_modules|__pycache__|\.git|auto_examples|generated)/")
    found += [f"{path.name} also holds {name}." for name in sorted(names) if made.search(name)]
    if path.stat().st_size > LARGEST_SDIST:
        found.append(f"{path.name} has {path.stat().st_size:,} bytes; at most {LARGEST_SDIST:,}.")
    return found


def wrong_when_installed(wheel: Path) -> list[str]:
    """Install the wheel in an empty environment and run the README in another folder."""
    with tempfile.TemporaryDirectory() as place:
        venv.create(Path(place) / "env", with_pip=True)
        scripts = Path(place) / "env" / ("Scripts" if sys.platform == "win32" else "bin")
        python, shafer = scripts / "python", scripts / "shafer"
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        examples = doctest.DocTestParser().get_doctest(readme, {}, "README.md", "README.md", 0)
        if not examples.examples:
            return ["README.md has no example."]
        (Path(place) / "README.md").write_text(readme, encoding="utf-8")
        run_readme = (
            "import doctest, pathlib, shafer, sys\n"
            f"assert pathlib.Path(shafer.__file__).is_relative_to({place!r}), shafer.__file__\n"
            f"assert shafer.__version__ == {version()!r}, shafer.__version__\n"
            "flags = doctest.NORMALIZE_WHITESPACE\n"
            "done = doctest.testfile('README.md', module_relative=False, optionflags=flags)\n"
            "sys.exit(done.failed > 0)\n"
        )
        steps = [
            ["install", [python, "-m", "pip", "install", "--quiet", f"{wheel.resolve()}{EXTRAS}"]],
            ["requirements", [python, "-m", "pip", "check"]],
            ["README", [python, "-c", run_readme]],
            ["command line", [shafer, "--version"]],
            ["report", [shafer, "report", "--out", "report"]],
        ]
        for name, command in steps:
            done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                return [f"{wheel.name}: {name} failed:\n{done.stdout}{done.stderr}"]
            print(f"{wheel.name}: {name} passed", flush=True)
    return []


def main() -> int:
    """Print every problem."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="with one wheel and one sdist")
    parser.add_argument("--tag", help="compare this tag with the version, and do nothing else")
    parser.add_argument("--quick", action="store_true", help="do not install the wheel")
    options = parser.parse_args()
    if options.tag is not None:
        found = wrong_tag(options.tag)
    elif options.folder is None:
        parser.error("name the folder with the wheel and the sdist, or a --tag")
    else:
        [wheel] = options.folder.glob("*.whl")
        [sdist] = options.folder.glob("*.tar.gz")
        found = [*wrong_in_wheel(wheel), *wrong_in_sdist(sdist)]
        for path in (wheel, sdist):
            print(f"{path.name}: {path.stat().st_size:,} bytes")
        if not found and not options.quick:
            found = wrong_when_installed(wheel)
    print("\n".join(found) or "Nothing is wrong.")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
