"""``OutputFolder``: a folder of scores that appears when it is complete, and can be resumed.

Until then everything lies beside it, in a folder with a hidden name: a reader of the folder itself
finds nothing. The last step gives the hidden folder its name.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, final

from shafer._files import replacing
from shafer.cli.scoring.work_plan import Unit, WorkPlan, difference

SUCCESS = "_SUCCESS"
_PLAN = "_plan.json"
_TEMPORARY = ".shafer-"  # how names of files begin that are being written


@final
class OutputFolder:
    """A folder of scores, and the hidden folder in which it grows.

    Parameters
    ----------
    path : Path
        The folder that the user named.
    """

    def __init__(self, path: Path) -> None:
        self._path = Path(os.path.realpath(path))  # a link stays a link
        self.growing = self._path.with_name(f".{self._path.name}.unfinished")

    def finished_plan(self) -> WorkPlan | None:
        """Return the plan of a complete folder; None if there is no folder yet.

        Raises
        ------
        ValueError
            If the path exists and is not a complete folder of scores.
        """
        if not self._path.exists() or (self._path.is_dir() and not any(self._path.iterdir())):
            return None
        try:
            return WorkPlan.read((self._path / SUCCESS).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ValueError(
                f"--out must be a new folder; {self._path} exists and does not hold scores of "
                "this command. Give another name, or remove it."
            ) from error

    def begun_plan(self) -> WorkPlan | None:
        """Return the plan of a run that was interrupted; None if there was none."""
        for name in (_PLAN, SUCCESS):  # it may have been interrupted in its last step
            try:
                return WorkPlan.read((self.growing / name).read_text(encoding="utf-8"))
            except FileNotFoundError:
                continue
            except ValueError as error:
                raise ValueError(
                    f"{self.growing} cannot be resumed: {error}. Remove it."
                ) from error
        return None

    def check_same(self, plan: WorkPlan, request: Mapping[str, Any], where: Path) -> None:
        """Refuse a folder that was begun, or written, for another request."""
        other = difference(plan.request, request)
        if other:
            raise ValueError(
                f"{where} was begun with another request: {other} changed. Repeat the command as "
                "it was, give another --out, or remove the folder to begin again."
            )

    def plan_for(self, request: Mapping[str, Any]) -> tuple[WorkPlan | None, bool]:
        """Return the plan of an earlier run of the same request, and whether it is complete."""
        done = self.finished_plan()
        if done is not None:
            self.check_same(done, request, self._path)
            self._check_parts(done, self._path, "Remove the folder, and repeat the command.")
            return done, True
        begun = self.begun_plan()
        if begun is not None:
            self.check_same(begun, request, self.growing)
        return begun, False

    def begin(self, plan: WorkPlan) -> None:
        """Write the plan; the first step of a run."""
        self.growing.mkdir(parents=True, exist_ok=True)
        with replacing(self.growing / _PLAN) as file:
            file.write(plan.text().encode())

    def is_done(self, unit: Unit, plan: WorkPlan) -> bool:
        """Return whether a unit is complete."""
        return _holds(self.growing / unit.file_name, unit, plan)

    def complete(self, plan: WorkPlan) -> None:
        """Give the folder its name; the last step of a run.

        Raises
        ------
        ValueError
            If a unit is not there.
        """
        self._check_parts(plan, self.growing, "Repeat the command.")
        for left in self.growing.glob(f"{_TEMPORARY}*"):  # of workers that died
            left.unlink(missing_ok=True)
        (self.growing / _PLAN).replace(self.growing / SUCCESS)
        if self._path.is_dir():
            self._path.rmdir()  # it is empty
        self.growing.replace(self._path)

    def _check_parts(self, plan: WorkPlan, folder: Path, advice: str) -> None:
        missing = [
            unit.file_name for unit in plan.units if not _holds(folder / unit.file_name, unit, plan)
        ]
        if missing:
            raise ValueError(
                f"{len(missing)} of {len(plan.units)} parts are missing or damaged in {folder}, "
                f"such as {missing[0]}. {advice}"
            )


def _holds(path: Path, unit: Unit, plan: WorkPlan) -> bool:
    """Return whether a file has all scores of a unit, and was written for this plan.

    A worker of an earlier run may still write its last part after its driver was killed.
    """
    from pyarrow import ArrowException, parquet

    try:
        found = parquet.read_metadata(path)
        about = json.loads((found.metadata or {})[b"shafer"])
    except (OSError, KeyError, ValueError, ArrowException):
        return False
    return bool(found.num_rows == unit.rows and about.get("plan") == plan.digest)
