"""scikit-learn's ``AdaBoostClassifier``: a component is a feature, or a member.

Each member votes for one class. With K classes and the weights a_t of the members, divided by their
sum, the logit of class k is the sum over the members of a_t / (K − 1) for a vote for k, and of
−a_t / (K − 1)² for a vote for another class. If the members are trees, each leaf has a vote, so the
logits are a sum of trees, and a feature has its Shapley values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

from shafer._kernels.trees import Forest
from shafer._typing import Array, FloatArray
from shafer.errors import UnsupportedModelError
from shafer.models.boosting.trees import ShapleyTrees, contributions_with_bias, joined_trees
from shafer.models.heads import Contributions
from shafer.models.live_parameters import LiveParameters
from shafer.models.read_model import AdditiveModel
from shafer.models.registry import check_option
from shafer.models.sklearn.decision_tree import tree_table
from shafer.models.sklearn.linear import feature_names
from shafer.rows.checks import checked


def adapt(model: Any, components: str | None = None) -> AdditiveModel:
    """Read the probabilities of a fitted AdaBoost classifier.

    Parameters
    ----------
    model : AdaBoostClassifier
    components : {"feature", "member"}, optional
        A feature through its Shapley values in the members, if all of them are decision trees, and
        then by default; or a member of the ensemble.
    """
    # Probabilities are the softmax (of two classes the logistic) of the decision over K − 1.
    return decision(model, components).rescaled(1.0 / (model.n_classes_ - 1))


def decision(model: Any, components: str | None = None) -> AdditiveModel:
    """Read the decision function of a fitted AdaBoost classifier."""
    check_is_fitted(model)
    trees = all(isinstance(member, DecisionTreeClassifier) for member in model.estimators_)
    check_option("components", components, ("feature", "member") if trees else ("member",))
    chosen = components or ("feature" if trees else "member")
    live = LiveParameters.of(partial(_parts, model))
    read = _by_feature if chosen == "feature" else _by_member
    return replace(read(model), options={"components": chosen}).watching(live)


def _parts(model: Any) -> tuple[Any, ...]:
    """Return what another training would change."""
    return (*model.estimators_, model.estimator_weights_)


def _shares(model: Any) -> Iterator[tuple[Any, float]]:
    """Give each member and its share of all weights; boosting may stop before the last weight."""
    total = float(np.sum(model.estimator_weights_))
    for member, weight in zip(model.estimators_, model.estimator_weights_, strict=False):
        yield member, float(weight) / total


def _votes(model: Any, votes: Any, share: float) -> FloatArray:
    """Return what votes (n,) for classes add to the decision: (n, K), or (n, 1) for two classes."""
    chosen = np.asarray(votes)[:, None] == model.classes_
    n_classes = len(model.classes_)
    if n_classes == 2:
        return 2.0 * share * np.where(chosen[:, 1:], 1.0, -1.0)
    return share * np.where(chosen, 1.0, -1.0 / (n_classes - 1))


# -- members ------------------------------------------------------------------------------------


def _by_member(model: Any) -> AdditiveModel:
    names = [f"member {t}" for t in range(len(model.estimators_))]
    head = Contributions(partial(_by_vote, model), None, model.classes_, names)
    return AdditiveModel(head, by_column=False)


def _by_vote(model: Any, X: Any) -> FloatArray:
    rows = _rows(model, X)
    steps = [_votes(model, member.predict(rows), share) for member, share in _shares(model)]
    found: FloatArray = np.stack(steps, axis=1)
    return found[..., 0] if found.shape[2] == 1 else found


def _rows(model: Any, X: Any) -> Array:
    """Check X as the model would; its members know no column names."""
    return checked(model, X, accept_sparse=("csr", "csc"), dtype=None, allow_nd=True)


# -- features: Shapley values of trees whose leaves vote -----------------------------------------


def _by_feature(model: Any) -> AdditiveModel:
    score = partial(_scores, model)
    trees = ShapleyTrees(model.n_features_in_, partial(_forest, model), score)
    function = partial(_by_path, model, trees)
    return AdditiveModel(Contributions(function, None, model.classes_, feature_names(model)))


def _by_path(model: Any, trees: ShapleyTrees, X: Any) -> FloatArray:
    rows = _rows(model, X)
    dense = rows.toarray() if sparse.issparse(rows) else rows
    values = dense.astype(np.float32).astype(np.float64)  # the members read single precision
    found = trees.contributions(values, _scores(model, rows))  # (n, outputs, features + 1)
    if found is None:  # they do not add up to the scores
        raise UnsupportedModelError(
            "The trees of this AdaBoostClassifier do not vote for the most frequent class of each "
            "leaf, so its features have no Shapley values. Use components='member'."
        )
    return contributions_with_bias(found if found.shape[1] > 1 else found[:, 0])


def _scores(model: Any, rows: Any) -> FloatArray:
    return sum(
        (_votes(model, member.predict(rows), share) for member, share in _shares(model)),
        np.zeros((1, 1)),
    )


def _forest(model: Any) -> Forest:
    """Write each member as one tree for each logit, whose leaves are its vote."""
    tables = [
        tree_table(member.tree_, k, values)
        for member, share in _shares(model)
        for k, values in enumerate(_votes(model, _leaf_votes(member), share).T)
    ]
    return joined_trees(tables, set_goes_right=False)  # the side of categories: there are none


def _leaf_votes(member: Any) -> Any:
    """Return the class that each node of a tree would vote for."""
    return member.classes_[member.tree_.value[:, 0, :].argmax(axis=1)]
