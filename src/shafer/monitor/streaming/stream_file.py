"""The state of a stream on disk: arrays and a JSON header."""

from __future__ import annotations

import os

import numpy as np

from shafer._array_file import Arrays, Header, read_array_file, write_array_file
from shafer.monitor.monitor_options import checked_options
from shafer.monitor.stored_arrays import floats, texts, whole_numbers
from shafer.monitor.streaming.binned_ranks import N_BINS
from shafer.monitor.streaming.jumping_bets import N_BETS, N_JUMPERS
from shafer.monitor.streaming.stream_state import StreamState

FORMAT = "shafer-monitor-stream-1"
_ARRAYS = ("counts", "shares", "log_capital", "crossed", "seen", "logs")


def save_stream(state: StreamState, path: str | os.PathLike[str]) -> None:
    """Write the state of a stream."""
    header = {
        "format": FORMAT,
        "names": list(state.names),
        "alpha": state.alpha,
        "seed": state.seed,
        "n_rows": state.n_rows,
    }
    write_array_file(path, header, {name: getattr(state, name) for name in _ARRAYS})


def load_stream(path: str | os.PathLike[str], start: StreamState) -> StreamState:
    """Read the state of a stream that began as ``start``."""
    state = read_array_file(path, FORMAT, _understood, "MonitorStream.save", "the stream")
    if state.names != start.names or (state.counts < start.counts).any():
        raise ValueError(
            f"{os.fspath(path)!r} belongs to another monitor: its components or its reference rows "
            "are not those of this one. Use the monitor that started the stream."
        )
    return state


def _understood(header: Header, arrays: Arrays) -> StreamState:
    names = texts(header, "names")
    options = checked_options(header["alpha"], 50, 2, header["seed"])
    n_rows, n = header["n_rows"], len(names)
    if not isinstance(n_rows, int) or isinstance(n_rows, bool) or n_rows < 0:
        raise ValueError(f"its number of rows must not be {n_rows!r}")
    shares = floats(arrays, "shares", (n, N_JUMPERS, N_BETS))
    if (shares < 0.0).any() or not np.allclose(shares.sum(axis=2), 1.0):
        raise ValueError("its shares of the capital must be positive and sum to 1")
    seen = whole_numbers(arrays, "seen", (None,), 0)
    if (seen[-1] if len(seen) else 0) != n_rows:
        raise ValueError("its history does not end with its last row")
    crossed = whole_numbers(arrays, "crossed", (n,), -1)
    if (crossed >= n_rows).any():
        raise ValueError("an alarm lies after its last row")
    return StreamState(
        names,
        options.alpha,
        options.seed,
        whole_numbers(arrays, "counts", (n, N_BINS), 0),
        shares,
        floats(arrays, "log_capital", (n, N_JUMPERS)),
        n_rows,
        crossed,
        seen,
        floats(arrays, "logs", (len(seen), n)),
    )
