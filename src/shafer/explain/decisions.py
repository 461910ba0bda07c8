"""``RowDecisions``: the method of explainers and classifiers that names an act for each row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shafer._checks.arrays import to_numpy
from shafer._checks.frames import frame_columns
from shafer._checks.labels import label_array
from shafer.decision.acts import REJECT, read_acts
from shafer.decision.rules import PRECISE_RULES, chosen_names
from shafer.evidence.mass_evidence import MassEvidence


class RowDecisions(ABC):
    """What to do about each row, given what each act costs."""

    @abstractmethod
    def _evidence_for(self, X: Any, rule: str) -> MassEvidence:
        """Return the evidence that a rule decides with; without a discount if it bets."""

    def decide(
        self,
        X: Any,
        loss: Any = None,
        rule: str | None = None,
        reject: float | None = None,
        *,
        utility: Any = None,
        alpha: float | None = None,
        tolerance: float | str | None = None,
        expectation: str | None = None,
    ) -> NDArray[Any]:
        """Choose an act for each row, and return its name; by default the least expected loss.

        Parameters
        ----------
        X : as the model takes it
        loss : array of shape (acts, K), mapping or data frame, optional
            What each act costs if the class is k. ``{act: {class: cost}}`` and a data frame are
            read by class label; see :meth:`shafer.Evidence.decide`. By default the acts are to
            name one class, and a wrong name costs 1.
        rule : str, optional
            A rule of :meth:`shafer.Evidence.decide`. By default ``"expected_loss"``: the least
            expected loss under the probabilities of ``predict_proba``. Acts that are tied up to
            rounding go to the first.
        reject : float, optional
            The cost of not deciding, an act named ``"reject"``.
        utility, alpha, tolerance, expectation
            As in :meth:`shafer.Evidence.decide`.

        Returns
        -------
        array of shape (n,)
            The name of the act of each row, or the class label if there is no loss, or
            ``"reject"``. The rows of an array have no names: if there are K of them, row k is to
            name class k, and the result is its label; otherwise they are called "act 0", "act 1",
            ... With a rule that may keep several acts, each entry is a tuple of names.

        Examples
        --------
        >>> import shafer
        >>> heart = shafer.datasets.load_heart()
        >>> y = heart.target_names[heart.target]
        >>> clf = shafer.EvidentialClassifier(moderate="laplace").fit(heart.data[:, :3], y)
        >>> loss = {"treat": {"chd": 0, "no": 1}, "send home": {"chd": 5, "no": 0}}
        >>> clf.decide(heart.data[:3, :3], loss, reject=0.6).tolist()
        ['treat', 'reject', 'reject']
        >>> clf.decide(heart.data[:3, :3], loss, "maximality").tolist()
        [('treat',), ('treat', 'send home'), ('treat', 'send home')]
        """
        rule = "expected_loss" if rule is None else rule
        evidence = self._evidence_for(X, rule)
        chosen = to_numpy(
            evidence.decide(
                rule,
                loss=loss,
                utility=utility,
                reject=reject,
                alpha=alpha,
                tolerance=tolerance,
                expectation=expectation,
            )
        )
        acts = read_acts(loss, utility, reject, evidence.betting_probability, evidence.classes)
        if acts is not None:
            table = loss if utility is None else utility
            return _named(chosen, _act_names(acts.names, table, evidence.classes), rule)
        names = tuple(evidence.classes.tolist())
        if reject is None or rule not in PRECISE_RULES:
            return _named(chosen, names, rule)
        return _named_or_rejected(chosen, names, rule)


def _act_names(names: tuple[Any, ...], table: Any, classes: NDArray[Any]) -> tuple[Any, ...]:
    """Name the acts of an array: its row numbers could be taken for class labels."""
    if isinstance(table, Mapping) or frame_columns(table) is not None:
        return names
    rejecting = names[-1:] if names[-1] == REJECT else ()
    n_acts = len(names) - len(rejecting)
    if n_acts == len(classes):
        return (*classes.tolist(), *rejecting)
    return (*(f"act {k}" for k in range(n_acts)), *rejecting)


def _named_or_rejected(chosen: NDArray[Any], names: tuple[Any, ...], rule: str) -> NDArray[Any]:
    """Write a row that keeps every class as rejected."""
    if REJECT in names:
        raise ValueError(
            f"With reject=, the name {REJECT!r} stands for not deciding, but a class has that "
            "name. Give a loss whose acts have other names."
        )
    rejected = chosen.all(axis=1, keepdims=True)
    acts = np.hstack([chosen & ~rejected, rejected])
    return _named(acts, (*names, REJECT), rule)


def _named(chosen: NDArray[Any], names: tuple[Any, ...], rule: str) -> NDArray[Any]:
    """Name what was chosen in each row: one, or a tuple for rules that may keep several."""
    if rule in PRECISE_RULES:
        named: NDArray[Any] = label_array(list(names), "names")[np.argmax(chosen, axis=1)]
        return named
    several = np.empty(len(chosen), dtype=object)
    several[:] = chosen_names(chosen, names)
    return several
