"""``MonitorReport``: what a monitor found in a batch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._text import listed, shortened
from shafer._typing import BoolArray, FloatArray
from shafer.evidence.table import native_frame
from shafer.monitor.compare import BatchCheck
from shafer.monitor.shift_tests import adjusted_p_values

if TYPE_CHECKING:
    from shafer.plots.monitor_display import MonitorDisplay


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
        For each component that moved: the number of decisions (the answers of the rows) that change
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

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values, which ``json.dumps`` takes.

        Returns
        -------
        dict
            ``alarm``, ``moved``, ``moved_quantities``, ``n_rows``, ``n_reference``, ``alpha``,
            ``classes``, ``decisions_moved``, ``summary`` (the lines of the printed report) and
            ``checks``: a dict for each row of :meth:`to_frame`. What does not apply is None, and an
            infinite ``psi`` is the text ``"Infinity"``, since JSON has no such number.

        Examples
        --------
        >>> import json, numpy as np, shafer
        >>> rows = np.random.default_rng(0).normal(size=(300, 2))
        >>> explainer = shafer.Explainer(([1.0, -2.0], 0.0), rows, names=["u", "v"])
        >>> report = shafer.Monitor.fit(explainer, rows[:200]).check(rows[200:] + [0.0, 1.0])
        >>> json.loads(json.dumps(report.to_dict()))["moved"]
        ['v']
        """
        columns = self.columns()
        rows = zip(*columns.values(), strict=True)
        checks = [dict(zip(columns, map(_plain_number, row), strict=True)) for row in rows]
        return {
            "alarm": self.alarm,
            "moved": list(self.moved),
            "moved_quantities": list(self.moved_quantities),
            "n_rows": self.n_rows,
            "n_reference": self.n_reference,
            "alpha": self.alpha,
            "classes": [_text(label) for label in self.classes.tolist()],
            "decisions_moved": self.decisions_moved,
            "summary": report_lines(self),
            "checks": checks,
        }

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


def _plain_number(value: Any) -> Any:
    """Return a cell of the table as JSON can hold it."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if not isinstance(value, float | np.floating | np.integer):
        return value
    number = float(value)
    if np.isfinite(number):
        return number
    return None if np.isnan(number) else "Infinity" if number > 0 else "-Infinity"


# Reports of a monitor over time, as arrays for ``MonitorDisplay``.


@final
@dataclass(frozen=True, eq=False)
class BatchArrays:
    """Batches over time as arrays, as ``MonitorDisplay`` stores them.

    Attributes
    ----------
    shifts : array of shape (G, T)
    moved : boolean array of shape (G, T)
    alarms : boolean array of shape (T,)
    component_names, batch_names : lists of strings
        Components that moved most often come first, then those with the largest shifts.
    quantities : dict from name to array of shape (T,)
    unit : str
    """

    shifts: FloatArray
    moved: BoolArray
    alarms: BoolArray
    component_names: list[str]
    batch_names: list[str]
    quantities: dict[str, FloatArray]
    unit: str


def arrays_of(reports: list[MonitorReport], names: Any) -> BatchArrays:
    """Return batches as arrays, in the order of time."""
    if not reports:
        raise ValueError("reports must hold at least one MonitorReport; got none.")
    components = [check.name for check in reports[0].checks if check.kind == "component"]
    for report in reports[1:]:
        other = [check.name for check in report.checks if check.kind == "component"]
        if other != components:
            raise ValueError(
                f"reports must come from one monitor; got components [{listed(components)}] and "
                f"[{listed(other)}]."
            )
    numbers = range(1, len(reports) + 1)
    batches = [str(name) for name in (numbers if names is None else names)]
    if len(batches) != len(reports):
        raise ValueError(f"names must hold {len(reports)} names; got {len(batches)}.")
    n = len(components)
    classes, first = reports[0].classes.tolist(), reports[0].checks[0]
    pair = f"log-odds: + for {first.class_}, − for {first.over}"
    shifts = np.array([[check.shift for check in report.checks[:n]] for report in reports]).T
    moved = np.array([report.adjusted_p[:n] <= report.alpha for report in reports]).T
    order = component_order(shifts, moved)
    return BatchArrays(
        shifts[order],
        moved[order],
        np.array([report.alarm for report in reports]),
        [components[g] for g in order],
        batches,
        _quantities(reports, n),
        pair if len(classes) == 2 else "log-odds of the most moved pair",
    )


def component_order(shifts: FloatArray, moved: BoolArray) -> list[int]:
    """Return the components, those that moved most often first, then by size."""
    size = np.abs(shifts).max(axis=1)
    return [int(g) for g in np.lexsort((-size, -moved.sum(axis=1)))]


def display_of(reports: list[MonitorReport], names: Any) -> MonitorDisplay:
    """Return the Display of batches."""
    from shafer.plots.monitor_display import MonitorDisplay

    held = arrays_of(reports, names)
    return MonitorDisplay(
        held.shifts,
        held.component_names,
        held.batch_names,
        moved=held.moved,
        alarms=held.alarms,
        quantities=held.quantities,
        unit=f"shift, {held.unit}",
    )


def _quantities(reports: list[MonitorReport], n: int) -> dict[str, Any]:
    """Return share of decisions moved, then the quantities of the batches, NaN where not known."""
    found: dict[str, Any] = {
        "decisions moved": np.array([r.decisions_moved / r.n_rows for r in reports])
    }
    names = dict.fromkeys(check.name for report in reports for check in report.checks[n:])
    for name in names:
        values = [{c.name: c.batch for c in r.checks[n:]}.get(name, np.nan) for r in reports]
        found[name] = np.array(values)
    constant = ("unseen categories", "gaps")
    return {k: v for k, v in found.items() if k not in constant or np.nanmax(v) > 0.0}


# The rows of a report as texts, for pages and terminals.


def number(value: float | None, decimals: int = 3) -> str:
    """Write a number with some decimals; a dash if there is none."""
    if value is None or value != value:
        return "–"
    if np.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:.{decimals}f}".replace("-", "−")
    return text if any(digit in "123456789" for digit in text) else text.lstrip("−")


def signed_number(value: float | None) -> str:
    """Write a number with its sign and three decimals."""
    if value is None or value != value or np.isinf(value):
        return number(value)
    text = f"{value:+.3f}".replace("-", "−")
    return text if text[1:] != "0.000" else "0.000"


def chance(value: float | None) -> str:
    """Write a p-value; tiny ones as a bound."""
    if value is not None and value == value and value < 1e-4:
        return "<0.0001"
    return number(value, 4 if value is not None and value < 0.01 else 2)


def text_rows(report: MonitorReport) -> list[dict[str, Any]]:
    """Return the checks as texts: what moved first, components before quantities."""
    columns = report.columns()
    rows = [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]
    order = sorted(
        range(len(rows)), key=lambda i: (rows[i]["kind"] == "batch", not rows[i]["moved"], i)
    )
    return [_texts(rows[i]) for i in order]


def _texts(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": row["name"],
        "reference": number(row["reference"]),
        "batch": number(row["batch"]),
        "shift": signed_number(row["shift"]),
        "classes": "" if row["class"] is None else f"{row['class']} over {row['over']}",
        "spread": "–" if row["spread"] != row["spread"] else f"×{row['spread']:.2f}",
        "ks": number(row["ks"], 2),
        "psi": number(row["psi"], 2),
        "adjusted_p": chance(row["adjusted_p"]),
        "moved": row["moved"],
        "decisions": "" if row["decisions"] is None else f"{int(row['decisions']):,}",
    }


# A monitor's report in a few lines of text.

_MOST, _MOST_QUANTITIES = 12, 6  # lines


def report_lines(report: MonitorReport) -> list[str]:
    """Return the answer, then what moved, then the quantities of the batch."""
    by_name = {(check.kind, check.name): check for check in report.checks}
    lines = [headline(report)]
    for name in report.moved[:_MOST]:
        lines.append("  " + component_line(by_name["component", name], report))
    if len(report.moved) > _MOST:
        lines.append(f"  and {len(report.moved) - _MOST} more components")
    quantities = report.moved_quantities
    lines += [
        f"  {quantity_line(by_name['batch', name])}" for name in quantities[:_MOST_QUANTITIES]
    ]
    if len(quantities) > _MOST_QUANTITIES:
        lines.append(f"  and {len(quantities) - _MOST_QUANTITIES} more quantities of the batch")
    if report.moved:
        lines.append(decision_sentence(report))
    return lines


def headline(report: MonitorReport) -> str:
    """Return the answer in one line."""
    about = (
        f"{report.n_rows:,} rows compared with {report.n_reference:,} reference rows, "
        f"chance of a false alarm at most {report.alpha:g}"
    )
    if not report.alarm:
        return f"No alarm ({about})."
    total = sum(check.kind == "component" for check in report.checks)
    n = len(report.moved)
    if n == 0:
        return f"ALARM: no component moved by itself, but the batch as a whole did ({about})."
    return f"ALARM: {n} of {total} components moved ({about})."


def component_line(check: BatchCheck, report: MonitorReport) -> str:
    """Return how a component moved, and the decisions that moved with it."""
    moved = report.component_decisions[check.name]
    spread = "" if check.spread != check.spread else f", spread ×{check.spread:.2f}"
    return (
        f"{shortened(check.name)}: {_signed(check.shift)} for {check.class_} over {check.over}"
        f"{spread}, KS {check.ks:.2f}, PSI {_index(check.psi)}; {_decisions(moved, report.n_rows)}"
    )


def quantity_line(check: BatchCheck) -> str:
    """Return how a quantity of the batch moved."""
    return f"{shortened(check.name)}: {check.reference:.3g} before, {check.batch:.3g} in the batch"


def decision_sentence(report: MonitorReport) -> str:
    """Return how many decisions moved with all components that moved."""
    what = "the component" if len(report.moved) == 1 else "these components together"
    if report.decisions_moved == 0:
        return (
            f"No decision moved: with the reference distribution of {what}, all "
            f"{report.n_rows:,} rows would have the same answer."
        )
    return (
        f"{report.decisions_moved:,} of {report.n_rows:,} decisions moved: with the reference "
        f"distribution of {what}, these rows would have another answer."
    )


def _index(psi: float) -> str:
    """Write the stability index; it is infinite if a bin is empty."""
    return "inf (a bin of the reference is empty now)" if psi == float("inf") else f"{psi:.2f}"


def _decisions(moved: int, n: int) -> str:
    return "no decision moved" if moved == 0 else f"{moved:,} of {n:,} decisions moved"


def _signed(value: float) -> str:
    return f"{value:+.3g}".replace("-", "−")
