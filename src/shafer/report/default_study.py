"""The bundled example: the heart data under a logistic regression."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression

from shafer.datasets.heart import load_heart
from shafer.explain.explainer import Explainer
from shafer.report.study import Study, make_study
from shafer.scale.default_model import held_out_error, how_measured


def heart_study(prior: str = "own", errors: str | None = None) -> Study:
    """Return the study of the heart data: a logistic regression, fitted as in the paper.

    Parameters
    ----------
    prior : {"own", "shared"}
        Show the base rate as a component of its own, or share it equally among the features, as
        the paper does.
    errors : {"sandwich", "laplace"}, optional
        Give the weights error bars, as in :class:`shafer.Explainer`.

    Returns
    -------
    Study

    See Also
    --------
    make_study : The same for your own model.
    shafer.datasets.load_heart : The data.

    Examples
    --------
    >>> from shafer.report import heart_study
    >>> len(heart_study().evidence)
    462
    """
    heart = load_heart()
    classes = np.array(["healthy", "chd"])  # "no" would be a riddle on a page
    model = LogisticRegression(C=np.inf, solver="newton-cholesky").fit(heart.data, heart.target)
    explainer = Explainer(
        model,
        heart.data,
        names=heart.feature_names,
        classes=classes,
        prior=prior,
        errors=errors,
    )
    error, folds = held_out_error(model, heart.data, heart.target)
    return make_study(
        explainer,
        heart.data,
        classes[heart.target],
        title="Heart disease in 462 men",
        about=(
            "The data come with shafer: 462 men from a high-risk region of the Western Cape, South "
            "Africa. 160 of them have coronary heart disease (chd). sbp is systolic blood "
            "pressure, tobacco the kilograms smoked so far, ldl LDL cholesterol, famhist a family "
            "history of heart disease (1 or 0), typea a score of type-A behaviour.",
            "The model is a logistic regression on nine features, trained by maximum likelihood "
            "on all of these men.",
            how_measured(folds),
        ),
        names=heart.feature_names,
        held_out_error=error,
    )


# The logistic regression that is trained when a table comes without a model.
