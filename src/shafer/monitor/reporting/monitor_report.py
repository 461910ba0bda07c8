"""``MonitorReport``: what a monitor found in a batch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._text import listed
from shafer._typing import FloatArray
from shafer.evidence.io.frame_table import native_frame
from shafer.monitor.comparing.batch_checks import BatchCheck
from shafer.monitor.reporting.report_text import report_lines
from shafer.monitor.sample_tests.holm import adjusted_p_values


@final
@dataclass(frozen=True, eq=False, repr=False)
class MonitorReport:
    """What moved in a batch, and how many decisions moved with it.

    :meth:`shafer.Monitor.check` returns one.

    Attributes
    ----------
    n_rows, n_reference : int
        Rows of the batch, and rows of the reference that are compared with it.
    alpha : float
        The chance of an alarm if nothing changed, over all tests of the batch together.
    classes : array of shape (K,)
    checks : tuple of BatchCheck
        The components in the order of the explainer, then the quantities of the batch.
    component_decisions : dict from component name to int
        For each component that moved: the number of decisions (most probable classes) that change
        if its weights get their reference distribution back.
    decisions_moved : int
        The same for all components that moved together; 0 if none did.
    typicality : array of shape (n,)
        Conformal p-values of the rows: uniform on (0, 1) if nothing changed, small for rows unlike
        the reference.

    See Also
    --------
    shafer.Monitor.check : Makes one.
    BatchCheck : A line of the report.

    Examples
    --------
    >>> import numpy as np, shafer
    >>> rows = np.random.default_rng(0).normal(size=(300, 2))
    >>> explainer = shafer.Explainer(([1.0, -2.0], 0.0), rows, names=["u", "v"])
    >>> report = shafer.Monitor.fit(explainer, rows[:200]).check(rows[200:] + [0.0, 1.0])
    >>> report.n_rows, report.moved, [check.name for check in report.checks[:2]]
    (100, ('v',), ['u', 'v'])
    """

    n_rows: int
    n_reference: int
    alpha: float
    classes: NDArray[Any]
    checks: tuple[BatchCheck, ...]
    component_decisions: dict[str, int]
    decisions_moved: int
    typicality: FloatArray

    @cached_property
    def adjusted_p(self) -> FloatArray:
        """p-values of the checks, adjusted for all of them by Holm's method."""
        return adjusted_p_values(np.array([check.p for check in self.checks]))

    @property
    def alarm(self) -> bool:
        """Whether anything moved: a component, or the batch as a whole."""
        return bool(np.any(self.adjusted_p <= self.alpha))

    @property
    def moved(self) -> tuple[str, ...]:
        """Names of the components that moved, the most significant first."""
        return self._significant("component")

    @property
    def moved_quantities(self) -> tuple[str, ...]:
        """Names of the quantities of the batch that moved, the most significant first."""
        return self._significant("batch")

    def _significant(self, kind: str) -> tuple[str, ...]:
        chosen = [
            (p, -check.ks if check.ks == check.ks else 0.0, check.name)
            for check, p in zip(self.checks, self.adjusted_p.tolist(), strict=True)
            if check.kind == kind and p <= self.alpha
        ]
        return tuple(name for _, _, name in sorted(chosen))

    @property
    def table(self) -> Any:
        """All checks as a data frame of the library in use; see :meth:`to_frame`."""
        return self.to_frame()

    def to_frame(self, backend: str | None = None) -> Any:
        """Return all checks as a data frame, in the order of ``checks``.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the library in use.

        Returns
        -------
        data frame with one row for each check
            ``kind`` (component or batch), ``name``, ``reference`` and ``batch`` (means, or shares),
            ``shift`` (their difference), ``class`` and ``over`` (the classes of a component's
            contrast), ``spread`` (ratio of the standard deviations), ``ks``, ``ks_p``, ``psi``,
            ``p`` (of all tests of this row), ``adjusted_p`` (for all rows of the table), ``moved``,
            ``decisions`` (that moved with the component; missing if it did not move).
        """
        return native_frame(self.columns(), None, backend)

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns of :meth:`to_frame` as lists.

        Returns
        -------
        dict from column name to list
        """
        columns: dict[str, list[Any]] = {
            name: [getattr(check, name) for check in self.checks]
            for name in ("kind", "name", "reference", "batch", "shift")
        }
        for name, attribute in (("class", "class_"), ("over", "over")):
            columns[name] = [_text(getattr(check, attribute)) for check in self.checks]
        for name in ("spread", "ks", "ks_p", "psi", "p"):
            columns[name] = [getattr(check, name) for check in self.checks]
        columns["adjusted_p"] = self.adjusted_p.tolist()
        columns["moved"] = [bool(p <= self.alpha) for p in self.adjusted_p.tolist()]
        moved = self.component_decisions
        columns["decisions"] = [
            float(moved[check.name]) if check.kind == "component" and check.name in moved else None
            for check in self.checks
        ]
        return columns

    def plot(self, ax: Any = None) -> Any:
        """Draw the shifts of the components, as :meth:`shafer.Monitor.display` of one batch.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        MonitorDisplay
        """
        from shafer.monitor.reporting.report_display import display_of

        return display_of([self], None).plot(ax)

    def __str__(self) -> str:
        return "\n".join(report_lines(self))

    def __repr__(self) -> str:
        state = f"alarm: {listed((*self.moved, *self.moved_quantities))}" if self.alarm else "quiet"
        return f"<MonitorReport of {self.n_rows} rows, {state}>"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def _text(label: Any) -> str | None:
    return None if label is None else str(label)
