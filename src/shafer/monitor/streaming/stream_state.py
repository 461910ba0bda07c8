"""``StreamState``: everything that a stream remembers, as arrays of fixed size and a history."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from shafer._typing import FloatArray
from shafer.monitor.streaming.jumping_bets import log_martingale

MOST_UPDATES = 1000  # in the history


def _never(n: int = 0) -> NDArray[np.int64]:
    return np.full(n, -1, dtype=np.int64)


@final
@dataclass(frozen=True, eq=False)
class StreamState:
    """The memory of a stream of rows.

    Attributes
    ----------
    names : tuple of C strings
        What is watched.
    alpha : float
    seed : int
    counts : array of shape (C, B)
        Scores so far in each bin, of reference rows and of the stream.
    shares : array of shape (C, 6, 3)
        Shares of the capital in each bet.
    log_capital : array of shape (C, 6)
    n_rows : int
    crossed : array of shape (C,)
        The row with which a martingale reached the threshold; −1 if it did not yet.
    seen, logs : arrays of shape (u,) and (u, C)
        Rows and logarithms of the martingales after updates, at most 1,000 of them.
    """

    names: tuple[str, ...]
    alpha: float
    seed: int
    counts: NDArray[np.int64]
    shares: FloatArray
    log_capital: FloatArray
    n_rows: int = 0
    crossed: NDArray[np.int64] = field(default_factory=_never)
    seen: NDArray[np.int64] = field(default_factory=_never)
    logs: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))

    def __post_init__(self) -> None:
        n = len(self.names)
        if self.n_rows == 0 and len(self.crossed) != n:
            object.__setattr__(self, "crossed", _never(n))
            object.__setattr__(self, "logs", np.zeros((0, n)))

    @property
    def threshold(self) -> float:
        """The logarithm that one of C martingales must reach: ln(C/α)."""
        return float(np.log(len(self.names) / self.alpha))

    def chances(self, n: int) -> FloatArray:
        """Return random numbers in (0, 1] for the next n rows, (n, C), to break ties.

        They depend on the seed and the number of rows before, not on the division into updates.
        """
        generator = np.random.PCG64(self.seed).advance(self.n_rows * len(self.names))
        chances: FloatArray = 1.0 - np.random.Generator(generator).random((n, len(self.names)))
        return chances

    def after(
        self,
        n: int,
        counts: NDArray[np.int64],
        shares: FloatArray,
        log_capital: FloatArray,
        crossed: NDArray[np.int64],
    ) -> StreamState:
        """Return the state after n more rows."""
        rows = self.n_rows + n
        # A long history is thinned: every second update stays.
        kept = slice(1, None, 2) if len(self.seen) >= MOST_UPDATES else slice(None)
        return replace(
            self,
            counts=counts,
            shares=shares,
            log_capital=log_capital,
            n_rows=rows,
            crossed=crossed,
            seen=np.append(self.seen[kept], rows),
            logs=np.concatenate([self.logs[kept], log_martingale(log_capital)[None]]),
        )
