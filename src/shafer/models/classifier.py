"""``EvidentialClassifier``: a scikit-learn classifier that can also show its evidence."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from shafer._typing import BoolArray, FloatArray
from shafer.decision import PRECISE_RULES
from shafer.evidence import Evidence
from shafer.models.explainer import Explainer


class EvidentialClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Trains a classifier, predicts as it does, and decides with its evidence.

    Parameters
    ----------
    estimator : estimator, optional
        Any scikit-learn classifier that :class:`Explainer` accepts, such as a pipeline, an
        ``MLPClassifier`` or a boosted model; a ``LogisticRegression()`` by default.
    groups : mapping, sequence, "source" or "one", optional
        What counts as one component, as in :class:`Explainer`.

    Attributes
    ----------
    estimator_ : estimator
        The trained classifier.
    explainer_ : Explainer
        Gives the evidence; its means are those of the training data.
    classes_ : array of shape (K,)

    Examples
    --------
    >>> import shafer
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = shafer.EvidentialClassifier(LogisticRegression(max_iter=1000)).fit(X, y)
    >>> clf.predict_set(X)[[0, 106]]
    array([[ True, False, False],
           [False,  True,  True]])
    """

    def __init__(self, estimator: Any = None, groups: Any = None) -> None:
        self.estimator = estimator
        self.groups = groups

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the inner classifier and take the means; weights reach both."""
        inner = clone(self._inner())
        self.estimator_ = inner.fit(X, y, **_fit_weights(inner, sample_weight))
        if len(self.estimator_.classes_) < 2:
            raise ValueError(
                f"Evidence needs at least two classes; y has one class, {self.estimator_.classes_}."
            )
        self.explainer_ = Explainer(self.estimator_, X, self.groups, sample_weight=sample_weight)
        self.classes_ = self.estimator_.classes_
        for known in ("n_features_in_", "feature_names_in_"):  # text has neither
            if hasattr(self.estimator_, known):
                setattr(self, known, getattr(self.estimator_, known))
        return self

    def _inner(self) -> Any:
        return LogisticRegression() if self.estimator is None else self.estimator

    def evidence(self, X: Any) -> Evidence:
        """Return the evidence of each row."""
        check_is_fitted(self)
        return self.explainer_(X)

    def predict(self, X: Any, rule: str = "plausibility") -> NDArray[Any]:
        """Predict one class for each row.

        Parameters
        ----------
        X : array or data frame of shape (n, J)
        rule : {"plausibility", "belief", "pignistic"}
            The first predicts as the inner classifier does.
        """
        check_is_fitted(self)
        if rule not in PRECISE_RULES:
            raise ValueError(
                f"predict returns one class, so rule must be one of "
                f"{', '.join(map(repr, PRECISE_RULES))}; got {rule!r}. "
                "Rules that return several classes belong to predict_set."
            )
        if rule == "plausibility":  # the logits order the classes as the plausibilities do
            return np.asarray(self.estimator_.predict(X))
        chosen = self.evidence(X).decide(rule)
        return np.asarray(self.classes_[np.argmax(chosen, axis=1)])

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the inner classifier's probabilities: the normalised plausibilities."""
        check_is_fitted(self)
        probability: FloatArray = self.estimator_.predict_proba(X)
        return probability

    def predict_set(self, X: Any, rule: str = "interval_dominance") -> BoolArray:
        """Predict a set of classes for each row, boolean (n, K); see :meth:`Evidence.decide`."""
        chosen: BoolArray = self.evidence(X).decide(rule)
        return chosen

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._inner())
        tags.input_tags = inner.input_tags
        tags.classifier_tags = inner.classifier_tags
        return tags


def _fit_weights(inner: Any, sample_weight: Any) -> dict[str, Any]:
    """Name the weights as ``fit`` takes them; a pipeline hands them to its last step."""
    if sample_weight is None:
        return {}
    if isinstance(inner, Pipeline):
        return {f"{inner.steps[-1][0]}__sample_weight": sample_weight}
    return {"sample_weight": sample_weight}
