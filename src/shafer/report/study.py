"""A study: a model, the instances it was asked about, and its evidence about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._checks.arrays import to_numpy
from shafer._checks.frames import in_row_order
from shafer._checks.labels import label_positions
from shafer._text import listed
from shafer._typing import FloatArray
from shafer._values import short_name, shown_value
from shafer.evidence.base_rate import BASE_RATE, base_rate_position, shares_base_rate
from shafer.evidence.contrast import Positions, answer_and_rival
from shafer.evidence.discounted_evidence import DiscountedEvidence
from shafer.evidence.evidence import Evidence
from shafer.evidence.mass_evidence import MassEvidence
from shafer.evidence.table import label_texts
from shafer.evidence.words import close_call
from shafer.report import sentences
from shafer.report.records import reference_rows
from shafer.report.table import columns_of
from shafer.report.what_if import NoSlidersError, learn
from shafer.report.what_if.cells import as_table, stacked
from shafer.rows.access import n_rows, take_rows

if TYPE_CHECKING:
    from shafer.report.table import Columns
    from shafer.report.what_if import Explains, WhatIf


_AT_ONCE = 2**22  # weights (rows, G, K) held at a time
_ENOUGH = 30  # rows that show what values the inputs have
_SAMPLED = 500


@final
@dataclass(frozen=True, eq=False)
class Study:
    """Instances, their evidence, and where the model came from. Make one with ``make_study``.

    Attributes
    ----------
    title : str
    about : tuple of strings
        Sentences on the data, the model and how its error was measured.
    explainer : callable
        Returns the evidence of rows: an ``Explainer``, or the ``evidence`` of a classifier.
    X : array, sparse matrix, data frame, list of texts or list of rows
        The n instances, as the model takes them.
    columns : dict of name to values
        The same instances as plain values.
    evidence : Evidence or DiscountedEvidence
    truth : array of shape (n,), optional
        Positions of the true classes among ``evidence.classes``.
    held_out_error : float, optional
        Error on rows that were not used for training, by cross-validation.
    promised : callable, optional
        Returns what was promised about the row at a position, in lines of text.

    See Also
    --------
    make_study : Makes one.
    write_report : Writes the report.

    Examples
    --------
    >>> import numpy as np, shafer
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> study = shafer.report.make_study(shafer.Explainer(([1.0, -2.0], 0.5), X), X)
    >>> study.title, len(study.evidence)
    ('Evidence report', 2)
    """

    title: str
    about: tuple[str, ...]
    explainer: Explains
    X: Any
    columns: Columns
    evidence: MassEvidence
    truth: Positions | None = None
    held_out_error: float | None = None
    promised: Callable[[int], list[str]] | None = None

    def __len__(self) -> int:
        return len(self.evidence)

    @property
    def undiscounted(self) -> Evidence:
        """The evidence before any discount: it has the weights and the probabilities."""
        return self.evidence.weighed

    @property
    def ids(self) -> Any:
        """The labels of the rows; None if they have none but their positions."""
        index = self.evidence.index
        if index is None or type(index).__name__ == "RangeIndex":
            return None
        return index

    def row_name(self, row: int) -> str:
        """Return how a row is called: by its label, or ``row 17``.

        Parameters
        ----------
        row : int
            The position of the row.

        Returns
        -------
        str
        """
        return f"row {row}" if self.ids is None else str(self.ids[row])

    @property
    def answers(self) -> Positions:
        """Position of the most plausible class of each instance, (n,)."""
        return answer_and_rival(self.undiscounted)[0]

    @property
    def base_rate(self) -> int | None:
        """Position of the base rate among the components, or None if they share it."""
        return base_rate_position(self.undiscounted[:1])

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """Whether the most plausible class is not the true one, (n,); False without truth."""
        if self.truth is None:
            return np.zeros(len(self), dtype=bool)
        wrong: NDArray[np.bool_] = self.answers != self.truth
        return wrong

    @cached_property
    def decided(self) -> NDArray[np.bool_]:
        """The decided sets: the classes that no other class dominates, boolean (n, K)."""
        return to_numpy(self.evidence.decide("interval_dominance"))

    def typicality(self, rows: list[int]) -> FloatArray | None:
        """Return how usual some rows are beside the background of the explainer, (rows,).

        Parameters
        ----------
        rows : list of int
            Positions of the rows.

        Returns
        -------
        array of shape (rows,) or None
            None if the explainer has no background, or its model makes its own evidence.
        """
        explainer = self.explainer
        if not hasattr(explainer, "typicality"):
            return None
        try:
            found = explainer.typicality(take_rows(self.X, rows))
        except ValueError:  # such as no background
            return None
        return to_numpy(found).astype(np.float64)

    @cached_property
    def deferred(self) -> NDArray[np.bool_] | None:
        """Which rows a promise leaves to a person, (n,); None if nothing was promised."""
        if getattr(self.explainer, "deferral", None) is None:
            return None
        try:
            return to_numpy(self.explainer.predict_or_defer(self.X).deferred)  # type: ignore[attr-defined]
        except ValueError:  # the groups of the promise are not among the columns
            return None

    @property
    def reference_is_own(self) -> bool:
        """Whether a background to compare the rows with is missing."""
        return len(next(iter(self.reference.values()), [])) == len(self)

    @cached_property
    def reference(self) -> Columns:
        """Rows to compare a value with: the background of the explainer, or the rows themselves."""
        background = getattr(self.explainer, "background", None)
        if background is not None and self.columns:
            rows = take_rows(background, reference_rows(n_rows(background)).tolist())
            try:
                found = columns_of(rows, list(self.columns), self.undiscounted.component_names)
            except ValueError:  # the page has other columns, such as one for a wide sparse table
                found = {}
            if list(found) == list(self.columns):
                return found
        chosen = reference_rows(len(self)).tolist()
        return {name: [cells[row] for row in chosen] for name, cells in self.columns.items()}

    def close_call(self, row: int) -> str:
        """Return words for an answer that is a close call, or "".

        Parameters
        ----------
        row : int
            The position of the row.

        Returns
        -------
        str
        """
        if self.undiscounted.cutoff is None and self.decided[row].sum() > 1:
            return ""
        labels = [short_name(text) for text in label_texts(self.evidence.classes)]
        probability = to_numpy(self.undiscounted.probability)[row]
        return close_call(probability, labels, self.undiscounted.cutoff)

    @property
    def of_groups(self) -> str:
        """A sentence that names the components that join several inputs; "" if there are none.

        Ignorance, disagreement and sets are those of the components of the explainer. If the user
        has joined inputs, with ``groups=``, they are those of the groups.
        """
        inputs = self.undiscounted.inputs
        members = getattr(inputs, "members", None)
        if inputs is None or members is None:
            return ""
        names = self.undiscounted.component_names
        several = (g for g, inside in enumerate(members) if len(inside) > 1)
        joined = [names[g] for g in several if len(inputs.columns(g)) != 1]
        if not joined:
            return ""
        return (
            f"Some components are groups of several inputs: {listed(joined, 3)}. Ignorance, "
            "disagreement and sets are those of the groups."
        )

    @property
    def shares_base_rate(self) -> bool:
        """Whether the components share a base rate that is not zero."""
        return shares_base_rate(self.undiscounted[:1])

    def titles(self, row: int) -> list[str]:
        """Return the names of the components, with their values in the row: ``age 61``.

        Words of a text are quoted: ``“fuel”``, or ``“fuel” (not in the text)``.

        Parameters
        ----------
        row : int
            The position of the row.

        Returns
        -------
        list of strings
        """
        words = self.words_in(row)
        names = enumerate(self.undiscounted.component_names)
        return [self._title(name, row, words.get(g)) for g, name in names]

    def title_of(self, component: str, row: int) -> str:
        """Return the title of one component.

        Parameters
        ----------
        component : str
            The name of the component.
        row : int
            The position of the row.

        Returns
        -------
        str
        """
        return self.titles(row)[self.undiscounted.component_names.index(component)]

    def words_in(self, row: int) -> dict[int, bool]:
        """Return the components that are words, and whether the text of the row has them.

        Parameters
        ----------
        row : int
            The position of the row.

        Returns
        -------
        dict from component position to bool
        """
        inputs = self.undiscounted.inputs
        found: dict[int, bool] = {}
        for column in () if inputs is None else inputs.text_columns():
            spans = None if inputs is None else inputs.word_spans(row, column=column)
            if spans is not None:
                found |= dict.fromkeys(spans.of_text.tolist(), False)
                found |= dict.fromkeys(spans.present.tolist(), True)
        return found

    def _title(self, component: str, row: int, in_text: bool | None) -> str:
        name = short_name(component)
        if in_text is not None:
            return f"“{name}”" if in_text else f"“{name}” (not in the text)"
        if component not in self.columns or (component == BASE_RATE and self.base_rate is not None):
            return name
        return f"{name} {shown_value(self.columns[component][row])}"

    def sentence(self, row: int) -> str:
        """Return a sentence about the evidence of a row.

        Parameters
        ----------
        row : int
            The position of the row.

        Returns
        -------
        str
        """
        return sentences.sentence(self.evidence[row], self.titles(row))

    def mean_contrasts(self) -> FloatArray:
        """Return the mean over the instances of the size of each component's contrast, (G,).

        The contrast is that of the answer over the runner-up of the instance. Weights are held for
        a block of rows at a time.

        Returns
        -------
        array of shape (G,)
        """
        ev = self.undiscounted
        answers, rivals = answer_and_rival(ev)
        step = max(1, _AT_ONCE // (ev.n_components * ev.n_classes))
        total = np.zeros(ev.n_components)
        for start in range(0, len(self), step):
            block = slice(start, start + step)
            weights = to_numpy(ev[block].weights).astype(np.float64)
            rows = np.arange(len(weights))
            contrast = weights[rows, :, answers[block]] - weights[rows, :, rivals[block]]
            total += np.abs(contrast).sum(axis=0)
        return total / len(self)

    def what_if(self, rows: list[int]) -> tuple[WhatIf | None, str]:
        """Return how the inputs make the weights, or None and why the page has no sliders.

        Parameters
        ----------
        rows : list of int
            Positions of the rows.

        Returns
        -------
        what_if : WhatIf or None
        why : str
            Empty if the page has sliders.
        """
        if isinstance(self.evidence, DiscountedEvidence):
            return None, "the reliability of the discounted evidence depends on all inputs together"
        try:
            return learn(self.explainer, *self._to_learn_from(rows)), ""
        except NoSlidersError as reason:
            return None, str(reason)

    def _to_learn_from(self, rows: list[int]) -> tuple[Any, Columns, list[int]]:
        """Return rows that show what values the inputs have, and the positions of some.

        A few rows do not show it: then others of the study come with them, or the background.
        """
        if len(rows) >= _ENOUGH:
            return self.X, self.columns, rows
        background = getattr(self.explainer, "background", None)
        if len(self) >= _ENOUGH or background is None or self.reference_is_own:
            return self.X, self.columns, sorted({*rows, *_sample(len(self))})
        before = reference_rows(n_rows(background)).tolist()
        table = stacked(as_table(take_rows(background, before)), as_table(self.X))
        columns = {name: [*self.reference[name], *cells] for name, cells in self.columns.items()}
        return table, columns, [*_sample(len(before)), *(len(before) + row for row in rows)]


def _sample(n: int) -> list[int]:
    """Return at most some hundred positions, evenly spread."""
    return list(range(0, n, max(1, n // _SAMPLED)))


def make_study(
    explainer: Explains,
    X: Any,
    y: Any = None,
    *,
    title: str = "Evidence report",
    about: Sequence[str] = (),
    names: Sequence[str] | None = None,
    held_out_error: float | None = None,
) -> Study:
    """Return a study of the instances, ready for ``write_report`` and ``summary``.

    Parameters
    ----------
    explainer : Explainer, or the method ``evidence`` of a classifier
        The model: called on rows, it returns their evidence. The report shows the base rate apart
        from the other components, as SHAP does, unless the explainer was made with
        ``prior="shared"``, the paper's choice: then each component has an equal share of it.
    X : array, sparse matrix, data frame, list of texts or list of rows
        The n instances, as the model takes them.
    y : array of shape (n,), optional
        True class labels, as in the ``classes`` of the evidence; never positions.
    title, about : str and sequence of str
        Heading of the report, and sentences below it.
    names : sequence of J strings, optional
        Names of the columns of an array or a sparse matrix.
    held_out_error : float, optional
        Error on rows that were not used for training.

    Returns
    -------
    Study

    Raises
    ------
    ValueError
        If y does not have one of the model's classes for each row.

    See Also
    --------
    write_report : Writes the report.
    summary : The report for the terminal.

    Examples
    --------
    >>> import numpy as np, shafer
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> explainer = shafer.Explainer(([1.0, -2.0], 0.5), X, classes=["no", "yes"])
    >>> study = shafer.report.make_study(explainer, X, ["yes", "no"], names=["u", "v"])
    >>> study.held_out_error is None, study.truth
    (True, array([1, 0]))
    """
    y, evidence = in_row_order(y, X), explainer(X)
    truth = None if y is None else label_positions(y, evidence.classes, len(evidence))
    columns = columns_of(X, names, evidence.weighed.component_names)
    return Study(title, tuple(about), explainer, X, columns, evidence, truth, held_out_error)
