"""``python -m shafer``."""

from shafer.cli import main

main(prog_name="shafer")
