"""``MonitorStream``: watches rows one after another, with a bound on ever raising a false alarm."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._checks.labels import component_names
from shafer._files.arrays import Arrays, Header, read_array_file, write_array_file
from shafer._files.codec import STREAM, Limits, read, written
from shafer._typing import BoolArray, FloatArray
from shafer.monitor.options import LEAST_KEPT, checked_options
from shafer.monitor.reference import RowFacts, row_facts
from shafer.monitor.report import component_order
from shafer.monitor.shift_tests import ValueClusters
from shafer.rows.checks import check_rows

if TYPE_CHECKING:
    from shafer.monitor.monitor import Monitor
    from shafer.plots.monitor_display import MonitorDisplay


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
        return stream_display(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file of plain arrays (``.npz``), to continue later.

        :meth:`shafer.Monitor.resume` reads it.

        Parameters
        ----------
        path : str or Path
            Such as ``"stream.npz"``. An existing file is replaced.
        """
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


# Everything that a stream remembers, as arrays of fixed size and a history.

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

    names: Annotated[tuple[str, ...], "C"]
    alpha: float
    seed: int
    counts: Annotated[NDArray[np.int64], "C 128", Limits(least=0)]
    shares: Annotated[FloatArray, "C 6 3", Limits(least=0)]
    log_capital: Annotated[FloatArray, "C 6"]
    n_rows: Annotated[int, Limits(least=0)] = 0
    crossed: Annotated[NDArray[np.int64], "C", Limits(least=-1)] = field(default_factory=_never)
    seen: Annotated[NDArray[np.int64], "u", Limits(least=0)] = field(default_factory=_never)
    logs: Annotated[FloatArray, "u C"] = field(default_factory=lambda: np.zeros((0, 0)))

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


# The state of a stream on disk: arrays and a JSON header.


def save_stream(state: StreamState, path: str | os.PathLike[str]) -> None:
    """Write the state of a stream."""
    held = {**written(state), "names": list(state.names)}
    arrays = {name: part for name, part in held.items() if isinstance(part, np.ndarray)}
    header = {name: part for name, part in held.items() if name not in arrays}
    write_array_file(path, {"format": STREAM.current, **header}, arrays)


def load_stream(path: str | os.PathLike[str], start: StreamState) -> StreamState:
    """Read the state of a stream that began as ``start``."""
    state = read_array_file(path, STREAM, _understood, "MonitorStream.save", "the stream")
    if state.names != start.names or (state.counts < start.counts).any():
        raise ValueError(
            f"{os.fspath(path)!r} belongs to another monitor: its components or its reference rows "
            "are not those of this one. Use the monitor that started the stream."
        )
    return state


def _understood(header: Header, arrays: Arrays) -> StreamState:
    state = read(StreamState, {**header, **arrays})
    component_names(state.names, len(state.names))
    checked_options(state.alpha, LEAST_KEPT, 2, state.seed)
    if not np.allclose(state.shares.sum(axis=2), 1.0):
        raise ValueError("its shares of the capital must sum to 1")
    if (state.seen[-1] if len(state.seen) else 0) != state.n_rows:
        raise ValueError("its history does not end with its last row")
    if (state.crossed >= state.n_rows).any():
        raise ValueError("an alarm lies after its last row")
    return state


# Ranks of scores among all scores so far, with memory that does not grow.

N_BINS = 128


def stream_splits(defining: FloatArray, tolerance: FloatArray) -> FloatArray:
    """Return the points between bins for scores (n, C), (C, 127); ∞ where there are fewer.

    ``tolerance`` (C,) is how far equal scores may lie apart.
    """
    splits = np.full((defining.shape[1], N_BINS - 1), np.inf)
    for c, column in enumerate(defining.T):
        own = ValueClusters.of(column, float(tolerance[c])).splits(N_BINS, N_BINS)
        splits[c, : len(own)] = own
    return splits


def bins_of(scores: FloatArray, splits: FloatArray) -> NDArray[np.intp]:
    """Return the bin of each score (n, C)."""
    places = [np.searchsorted(own, column) for own, column in zip(splits, scores.T, strict=True)]
    return np.stack(places, axis=1)


def ranked(
    counts: NDArray[np.int64], bins: NDArray[np.intp], chance: FloatArray
) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return the p-values (C,) of one row's bins (C,), and the counts (C, B) with the row."""
    items = np.arange(len(bins))
    after = counts.copy()
    after[items, bins] += 1
    below = np.where(np.arange(counts.shape[1]) < bins[:, None], counts, 0).sum(axis=1)
    p: FloatArray = (below + chance * after[items, bins]) / after.sum(axis=1)
    return p, after


# Bets against uniform p-values: a martingale that grows when the p-values are not uniform.

_EPSILONS = np.array([-1.0, 0.0, 1.0])
_RATES = np.array([1e-4, 1e-3, 1e-2, 1e-4, 1e-3, 1e-2])  # slow, middle, fast; twice
N_JUMPERS, N_BETS = len(_RATES), len(_EPSILONS)


def first_capital(n_items: int) -> tuple[FloatArray, FloatArray]:
    """Return the capital before the first row: shares (C, 6, 3) of a bet, and logarithms (C, 6)."""
    return np.full((n_items, N_JUMPERS, N_BETS), 1.0 / N_BETS), np.zeros((n_items, N_JUMPERS))


def bet(
    shares: FloatArray, log_capital: FloatArray, p: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return shares and logarithms of the capital after one row with p-values (C,)."""
    half = N_JUMPERS // 2
    seen = np.empty((len(p), N_JUMPERS))
    seen[:, :half] = p[:, None]
    seen[:, half:] = np.abs(2.0 * p - 1.0)[:, None]
    mixed = shares * (1.0 - _RATES)[:, None] + (_RATES / N_BETS)[:, None]
    grown = mixed * (1.0 + _EPSILONS * (seen - 0.5)[:, :, None])
    total = grown.sum(axis=2)
    return grown / total[:, :, None], log_capital + np.log(total)


def log_martingale(log_capital: FloatArray) -> FloatArray:
    """Return the logarithm of each item's total capital, (C,), from (C, 6)."""
    largest = log_capital.max(axis=1)
    log: FloatArray = largest + np.log(np.exp(log_capital - largest[:, None]).mean(axis=1))
    return log


# A stream over time, as arrays for ``MonitorDisplay``.


def stream_display(stream: MonitorStream) -> MonitorDisplay:
    """Return the Display of the martingales after each update."""
    from shafer.plots.monitor_display import MonitorDisplay

    seen, logs = stream.history
    if len(seen) == 0:
        raise ValueError("The stream has no rows yet. Call update(X) first.")
    state = stream.state
    crossed = state.crossed[:, None]
    moved: BoolArray = (crossed >= 0) & (crossed < seen)
    evidence = np.maximum(logs.T - np.log(len(state.names)), 0.0)
    order = component_order(evidence, moved)
    return MonitorDisplay(
        evidence[order],
        [state.names[c] for c in order],
        [f"{n:,}" for n in seen.tolist()],
        moved=moved[order],
        alarms=np.asarray(moved.any(axis=0)),
        unit=f"evidence of change; alarm at {-np.log(state.alpha):.1f}",
        batch_name="rows seen",
        signed=False,
    )
