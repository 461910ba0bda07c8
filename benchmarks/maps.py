"""Do maps tell the truth? Deletion, insertion and the pointing game for images; deletion for texts.

The modules in ``maps`` define every figure. Networks are trained once and kept in
``results/maps``, and so are the scores of each; ``--fresh`` starts again. ``--texts`` and
``--images`` run one half. Prints tables for docs/.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import torch
from machine import RESULTS, describe, record, table
from maps.image_tables import confirmed_tables, time_table


def images(machine: dict[str, Any]) -> None:
    """Run the half about images, and print its tables."""
    from maps.image_study import networks, study, times

    trained = networks()
    print(table(trained))
    rows, taken = study(), times()
    record("maps", machine, [*trained, *rows, *taken])


def show() -> None:
    """Print the tables of the last run."""
    rows = json.loads((RESULTS / "maps.json").read_text())["rows"]
    for heading, lines in confirmed_tables(rows):
        print(f"\n{heading}\n{table(lines)}")
    print(f"\nmilliseconds per image, one core\n{table(time_table(rows))}")


def main() -> None:
    """Run what is asked for: both halves by default."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", action="store_true", help="only the images")
    parser.add_argument("--texts", action="store_true", help="only the texts")
    parser.add_argument("--fresh", action="store_true", help="forget the scores of earlier runs")
    parser.add_argument("--show", action="store_true", help="print the tables of the last run")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.show:
        show()
        return
    if options.fresh:
        for path in (RESULTS / "maps").glob("scores-*.npz"):
            path.unlink()
    if not options.texts:
        images(describe() | {"torch": torch.__version__})
        show()
    if not options.images:
        from maps import text_deletion

        text_deletion.main()


if __name__ == "__main__":
    main()
