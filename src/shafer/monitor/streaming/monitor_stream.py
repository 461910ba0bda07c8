"""``MonitorStream``: watches rows one after another, with a bound on ever raising a false alarm."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._typing import FloatArray
from shafer.models.inputs.table_checks import check_rows
from shafer.monitor.rows.row_facts import RowFacts, row_facts
from shafer.monitor.streaming.binned_ranks import N_BINS, bins_of, ranked, stream_splits
from shafer.monitor.streaming.jumping_bets import bet, first_capital, log_martingale
from shafer.monitor.streaming.stream_state import StreamState

if TYPE_CHECKING:
    from shafer.monitor.monitor import Monitor
    from shafer.plots import MonitorDisplay

TYPICALITY = "typicality"


@final
class MonitorStream:
    r"""Tests after every row whether the stream is still exchangeable with the reference.

    :meth:`shafer.Monitor.watch` returns one. Each component, and the typicality, has a test
    martingale: capital that bets against the uniformity of conformal p-values. A row's score is
    ranked among the reference rows and all rows of the stream before it. There is an alarm when one
    of the C martingales reaches C/α. If nothing changes, this happens with a chance of at most α,
    however long the stream is and however often it is looked at (Ville's inequality for each, and
    the union bound).

    Parameters
    ----------
    monitor : Monitor
        The reference.
    state : StreamState
        What was seen so far; for use inside the library.

    Attributes
    ----------
    n_rows : int
        Rows seen so far.
    alarm : bool
        Whether there was an alarm at any time.
    moved : tuple of strings
        Components whose own martingale has raised the alarm, in the order in which they did;
        ``"typicality"`` stands for rows unlike the reference as a whole.
    alarm_row : int or None
        The row (from 0) that raised the first alarm.
    evidence : float
        The logarithm of the largest martingale divided by C, now. An alarm needs −ln α (3.0 for
        α = 0.05).

    See Also
    --------
    shafer.Monitor.watch : Makes one.
    shafer.Monitor.check : For whole batches.

    Examples
    --------
    >>> import numpy as np, shafer
    >>> random = np.random.default_rng(0)
    >>> usual = random.normal(size=(1000, 2))
    >>> explainer = shafer.Explainer(([1.0, -2.0], 0.0), usual, names=["u", "v"])
    >>> stream = shafer.Monitor.fit(explainer, usual).watch()
    >>> stream.update(random.normal(size=(500, 2)))
    False
    >>> stream.update(random.normal(size=(100, 2)) + [0.0, 1.0])
    True
    >>> stream.moved
    ('v',)
    """

    def __init__(self, monitor: Monitor, state: StreamState) -> None:
        self._monitor = monitor
        self._state = state
        self._splits = _splits(monitor)

    @classmethod
    def start(cls, monitor: Monitor, alpha: float, seed: int) -> MonitorStream:
        """Return a stream without rows; for use inside the library.

        Parameters
        ----------
        monitor : Monitor
            The reference.
        alpha : float
            The chance of an alarm, ever, if nothing changes.
        seed : int
            For breaking ties.

        Returns
        -------
        MonitorStream
        """
        held_out = monitor.reference.held_out
        scores = _scores(monitor.reference.facts)
        bins = bins_of(scores[held_out], _splits(monitor))
        counts = np.stack([np.bincount(column, minlength=N_BINS) for column in bins.T])
        shares, log_capital = first_capital(len(counts))
        names = (*monitor.component_names, TYPICALITY)
        return cls(monitor, StreamState(names, alpha, seed, counts, shares, log_capital))

    def update(self, X: Any) -> bool:
        """Take in rows, in the order of time, and return whether there is an alarm.

        The result does not depend on how the rows are divided into updates.

        Parameters
        ----------
        X : as the model takes it
            One row or more.

        Returns
        -------
        bool
        """
        check_rows(X, "X")
        monitor, state = self._monitor, self._state
        monitor.explainer_print.check(monitor.explainer)
        reference = monitor.reference
        facts = row_facts(monitor.explainer, X, reference.axes, reference.profile)
        bins = bins_of(_scores(facts), self._splits)
        chances = state.chances(len(bins))
        counts, shares, log_capital = state.counts, state.shares, state.log_capital
        crossed = state.crossed.copy()
        for row, (places, chance) in enumerate(zip(bins, chances, strict=True)):
            p, counts = ranked(counts, places, chance)
            shares, log_capital = bet(shares, log_capital, p)
            new = (crossed < 0) & (log_martingale(log_capital) >= state.threshold)
            crossed[new] = state.n_rows + row
        self._state = state.after(len(bins), counts, shares, log_capital, crossed)
        return self.alarm

    @property
    def state(self) -> StreamState:
        """What the stream remembers; for use inside the library."""
        return self._state

    @property
    def n_rows(self) -> int:
        """Rows seen so far."""
        return self._state.n_rows

    @property
    def alarm(self) -> bool:
        """Whether there was an alarm at any time."""
        return bool((self._state.crossed >= 0).any())

    @property
    def moved(self) -> tuple[str, ...]:
        """Names of the components that raised the alarm, in the order in which they did."""
        crossed = self._state.crossed
        order = np.argsort(crossed, kind="stable")
        return tuple(self._state.names[c] for c in order if crossed[c] >= 0)

    @property
    def alarm_row(self) -> int | None:
        """The row (from 0) that raised the first alarm."""
        crossed = self._state.crossed
        return int(crossed[crossed >= 0].min()) if self.alarm else None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of what is watched: the components, then ``"typicality"``."""
        return self._state.names

    @property
    def log_martingales(self) -> FloatArray:
        """The logarithm of each martingale now, (C,), in the order of ``names``."""
        return log_martingale(self._state.log_capital)

    @property
    def evidence(self) -> float:
        """The logarithm of the largest martingale divided by C; −ln α raises an alarm."""
        return float(self.log_martingales.max() - np.log(len(self.names)))

    @property
    def history(self) -> tuple[NDArray[np.int64], FloatArray]:
        """Rows seen (u,), and the logarithms of the martingales (u, C), after updates.

        A long history is thinned, so that it has at most 1,000 updates.
        """
        return self._state.seen, self._state.logs

    def display(self) -> MonitorDisplay:
        """Return a picture of the martingales after each update: call its ``plot()``.

        Returns
        -------
        MonitorDisplay
        """
        from shafer.monitor.streaming.stream_display import stream_display

        return stream_display(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file of plain arrays (``.npz``), to continue later.

        :meth:`shafer.Monitor.resume` reads it.

        Parameters
        ----------
        path : str or Path
            Such as ``"stream.npz"``. An existing file is replaced.
        """
        from shafer.monitor.streaming.stream_file import save_stream

        save_stream(self._state, path)

    def __repr__(self) -> str:
        state = "alarm" if self.alarm else "quiet"
        return f"<MonitorStream: {self.n_rows} rows, {state}, evidence {self.evidence:.2f}>"


def _scores(facts: RowFacts) -> FloatArray:
    """Return what is ranked, (n, C): each component's first score, and the typicality."""
    return np.concatenate([facts.scores[:, :, 0], facts.typicality[:, None]], axis=1)


def _splits(monitor: Monitor) -> FloatArray:
    """Return the bins, from the half of the reference that is not ranked."""
    reference = monitor.reference
    tolerance = np.append(reference.tolerance[:, 0], 0.0)
    return stream_splits(_scores(reference.facts)[~reference.held_out], tolerance)
