"""``Monitor``: notices when new rows differ from the reference, and names what moved."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from shafer._checks.frames import in_row_order
from shafer.decision.policy import asked_class
from shafer.estimators.evidential_classifier import EvidentialClassifier
from shafer.explain.explainer import Explainer
from shafer.monitor.compare import component_checks, decisions_moved, label_checks, row_checks
from shafer.monitor.options import MonitorOptions, checked_options
from shafer.monitor.reference import ExplainerPrint, ReferenceRows, label_facts, row_facts, watched
from shafer.monitor.report import MonitorReport
from shafer.monitor.shift_tests import adjusted_p_values, conformal_p_values
from shafer.monitor.stream import MonitorStream
from shafer.rows.access import n_rows
from shafer.rows.checks import check_rows

if TYPE_CHECKING:
    from shafer.plots.monitor_display import MonitorDisplay

LEAST_BATCH = 10


@final
@dataclass(frozen=True, eq=False, repr=False)
class Monitor:
    """Compares batches of new rows with reference rows, component by component.

    Make one with :meth:`fit`. It watches the evidence: a feature that the model does not use
    cannot change a decision, and is not watched.

    Attributes
    ----------
    explainer : Explainer
    reference : ReferenceRows
        What is kept of the reference rows: numbers about at most ``max_rows`` of them, not the rows
        themselves.
    options : MonitorOptions
        ``alpha``, ``max_rows``, ``bins`` and ``seed``.
    explainer_print : ExplainerPrint
        What the explainer looked like, so that another one is refused.

    See Also
    --------
    shafer.Explainer : What is watched.
    shafer.monitor.MonitorReport : The result for a batch.
    shafer.monitor.MonitorStream : The test of a stream of rows.

    Examples
    --------
    >>> import shafer
    >>> from sklearn.linear_model import LogisticRegression
    >>> heart = shafer.datasets.load_heart()
    >>> model = LogisticRegression(max_iter=5000).fit(heart.data, heart.target)
    >>> explainer = shafer.Explainer(model, heart.data, names=heart.feature_names)
    >>> monitor = shafer.Monitor.fit(explainer, heart.data[::2])
    >>> monitor.check(heart.data[1::2]).alarm
    False
    >>> older = heart.data[1::2].copy()
    >>> older[:, heart.feature_names.index("age")] += 15
    >>> report = monitor.check(older)
    >>> report.alarm, report.moved, report.decisions_moved > 30
    (True, ('age',), True)
    """

    explainer: Explainer
    reference: ReferenceRows
    options: MonitorOptions
    explainer_print: ExplainerPrint

    @classmethod
    def fit(
        cls,
        explainer: Explainer | EvidentialClassifier,
        X_reference: Any,
        y: Any = None,
        *,
        alpha: float = 0.05,
        max_rows: int = 5000,
        bins: int = 10,
        seed: int = 0,
    ) -> Monitor:
        """Learn what is usual from reference rows.

        Parameters
        ----------
        explainer : Explainer or EvidentialClassifier
        X_reference : as the model takes it, at least 50 rows
            Rows from a time when all was well, best rows that the model was not trained on.
        y : array of shape (n,), optional
            Their classes. Then :meth:`check` also compares losses and coverage, which needs rows
            that the model was not trained on.
        alpha : float
            The chance of an alarm for a batch if nothing changed, over all tests together.
        max_rows : int
            Rows to keep, chosen at random if there are more.
        bins : int
            Bins of the population stability index. A component with fewer values has one bin for
            each.
        seed : int
            For the choice of rows, and for breaking ties.

        Returns
        -------
        Monitor
        """
        options = checked_options(alpha, max_rows, bins, seed)
        if isinstance(explainer, EvidentialClassifier):
            explainer = explainer.explainer_
        if not isinstance(explainer, Explainer):
            raise ValueError(
                f"explainer must be an Explainer; got {type(explainer).__name__}. Make one from "
                "the model and its training data: shafer.Explainer(model, X_train)."
            )
        if not watched(explainer):
            raise ValueError("explainer has no component besides the base rate, nothing to watch.")
        check_rows(X_reference, "X_reference")
        y = in_row_order(y, X_reference, of="X_reference")
        if y is not None and explainer.background is X_reference:
            warnings.warn(
                "X_reference is the background of the explainer, so the model was probably trained "
                "on it. Its losses are then smaller than those of new rows, and y leads to false "
                "alarms. Pass rows that the model was not trained on, or leave out y.",
                UserWarning,
                stacklevel=2,
            )
        reference = ReferenceRows.fit(explainer, X_reference, y, options.max_rows, options.seed)
        return cls(explainer, reference, options, ExplainerPrint.of(explainer))

    @property
    def component_names(self) -> tuple[str, ...]:
        """Names of the components that are watched: all but the base rate."""
        names = self.explainer.component_names
        return tuple(names[g] for g in watched(self.explainer))

    def check(self, X: Any, y: Any = None) -> MonitorReport:
        """Compare a batch with the reference.

        Parameters
        ----------
        X : as the model takes it, at least 10 rows
        y : array of shape (n,), optional
            Their classes, if they are known already.

        Returns
        -------
        MonitorReport
            With ``alarm``, ``moved`` and ``table``. Printed, it is a summary.

        Examples
        --------
        >>> import numpy as np, shafer
        >>> rows = np.random.default_rng(0).normal(size=(300, 2))
        >>> explainer = shafer.Explainer(([1.0, -2.0], 0.0), rows, names=["u", "v"])
        >>> report = shafer.Monitor.fit(explainer, rows[:200]).check(rows[200:] + [0.0, 1.0])
        >>> report.alarm, report.moved
        (True, ('v',))
        """
        check_rows(X, "X")
        y = in_row_order(y, X)
        if n_rows(X) < LEAST_BATCH:
            raise ValueError(
                f"X has {n_rows(X)} rows; a batch needs at least {LEAST_BATCH}. Collect more rows, "
                "or watch them one by one: stream = monitor.watch(); stream.update(X)."
            )
        self.explainer_print.check(self.explainer)
        reference, options = self.reference, self.options
        batch = row_facts(self.explainer, X, reference.axes, reference.profile)
        random = np.random.default_rng(options.seed)
        typicality = conformal_p_values(batch.typicality, reference.fresh_typicality, random)
        names, classes = list(self.component_names), self.explainer.classes
        rule = self.explainer.policy.cutoff
        asked = asked_class(rule)
        checks = component_checks(reference, batch, names, classes, options.bins, asked)
        checks += row_checks(reference, batch, typicality, classes, asked)
        if y is not None:
            labels = label_facts(self.explainer, X, y, batch)
            checks += label_checks(reference.labels, labels)
        adjusted = adjusted_p_values(np.array([check.p for check in checks]))
        moved = np.flatnonzero(adjusted[: len(names)] <= options.alpha).tolist()
        counts, together = decisions_moved(reference, batch, moved, options.seed, rule)
        return MonitorReport(
            len(batch),
            len(reference),
            options.alpha,
            classes,
            tuple(checks),
            {names[g]: count for g, count in counts.items()},
            together,
            typicality,
        )

    def watch(self, alpha: float | None = None, seed: int | None = None) -> MonitorStream:
        """Return a test for a stream of rows, which may be looked at after every row.

        Parameters
        ----------
        alpha : float, optional
            The chance of an alarm, ever, if nothing changes; that of the monitor by default.
        seed : int, optional
            For breaking ties; that of the monitor by default.

        Returns
        -------
        MonitorStream
        """
        own = self.options
        options = checked_options(
            own.alpha if alpha is None else alpha,
            own.max_rows,
            own.bins,
            own.seed if seed is None else seed,
        )
        return MonitorStream.start(self, options.alpha, options.seed)

    def resume(self, path: str | os.PathLike[str]) -> MonitorStream:
        """Continue a stream that :meth:`shafer.monitor.MonitorStream.save` wrote, of this monitor.

        Parameters
        ----------
        path : str or Path
            The file of the stream.

        Returns
        -------
        MonitorStream
        """
        from shafer.monitor.stream import load_stream

        start = MonitorStream.start(self, self.options.alpha, self.options.seed)
        return MonitorStream(self, load_stream(path, start.state))

    def display(self, reports: Iterable[MonitorReport], names: Any = None) -> MonitorDisplay:
        """Return a picture of batches over time: call its ``plot()``.

        Parameters
        ----------
        reports : iterable of MonitorReport
            In the order of time.
        names : sequence of strings, optional
            Names of the batches, such as months; 1, 2, … by default.

        Returns
        -------
        MonitorDisplay
        """
        from shafer.monitor.report import display_of

        return display_of(list(reports), names)

    def write_page(
        self,
        reports: Iterable[MonitorReport],
        path: str | os.PathLike[str],
        names: Any = None,
        *,
        title: str = "Monitor",
    ) -> None:
        """Write batches over time as one HTML file that works offline, all or nothing.

        Parameters
        ----------
        reports : iterable of MonitorReport
            In the order of time.
        path : str or Path
        names : sequence of strings, optional
            Names of the batches; 1, 2, … by default.
        title : str
        """
        from shafer.monitor.page import render_page, write_page

        write_page(render_page(list(reports), names, title), path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the monitor to a file of plain arrays (``.npz``), without the explainer.

        Nothing is pickled. The file holds numbers about the reference rows, not the rows.

        Parameters
        ----------
        path : str or Path
            Such as ``"monitor.npz"``. An existing file is replaced.
        """
        from shafer.monitor.file import save_monitor

        save_monitor(self, path)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], explainer: Explainer | EvidentialClassifier
    ) -> Monitor:
        """Read a monitor that :meth:`save` wrote.

        Parameters
        ----------
        path : str or Path
        explainer : Explainer or EvidentialClassifier
            The one that the monitor was fitted with. Another one is an error.

        Returns
        -------
        Monitor
        """
        from shafer.monitor.file import load_monitor

        own = explainer.explainer_ if isinstance(explainer, EvidentialClassifier) else explainer
        return cls(*load_monitor(path, own))

    def __repr__(self) -> str:
        return (
            f"<Monitor: {len(self.component_names)} components, {len(self.reference)} reference "
            "rows>"
        )
