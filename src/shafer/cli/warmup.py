"""``shafer warmup``."""

from __future__ import annotations

import warnings

import click

from shafer._terminal import say
from shafer.cli.options import careful, examples


@click.command(epilog=examples("shafer warmup"))
def warmup() -> None:
    """Compile the kernels of numba once, and keep them on disk for all later processes.

    Run it when an image or an environment is built. They are kept in the folder of shafer, or in
    NUMBA_CACHE_DIR if that is set. Later processes need to read that folder only. Kernels are for
    one kind of processor: another one compiles its own, or does without.
    """
    with careful():
        import importlib.util

        from shafer._kernels.compilation import UnusableError
        from shafer._kernels.warm_up import warm_up

        if importlib.util.find_spec("numba") is None:
            raise ValueError(
                "numba is not installed, so there is nothing to compile. Install the extra: pip "
                "install '.[fast]'."
            )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # said below
                done = warm_up()
        except (UnusableError, ImportError) as error:
            raise ValueError(f"numba cannot compile here: {error}.") from error
        if len(done.stored) < done.compiled:
            raise ValueError(
                f"{done.compiled} kernels were compiled, but no folder takes them. Run this as a "
                "user who may write to the folder of shafer, or set NUMBA_CACHE_DIR to a folder "
                "that can be written."
            )
        if not done.compiled:
            say("All kernels are compiled already.")
            return
        size = sum(path.stat().st_size for path in done.stored) / 1e6
        say(
            f"{done.compiled} kernels were compiled in {done.seconds:.0f} s, and are in "
            f"{done.stored[0].parent} ({size:.1f} MB)."
        )
