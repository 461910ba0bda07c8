"""Models whose probabilities are not a logistic or softmax of additive terms, and alternatives.

Each sentence follows the name of the model's class.
"""

from __future__ import annotations

_NOT_ADDITIVE = "so its probabilities are not a softmax of additive terms."
_VOTES = f"averages the votes of its trees, {_NOT_ADDITIVE} Use HistGradientBoostingClassifier."
_SIGMOIDS = (
    f"normalises separate sigmoids, {_NOT_ADDITIVE} "
    "Use a multinomial model, such as LogisticRegression."
)
_NO_PROBABILITY = (
    "has scores but no probabilities. For two classes use CalibratedClassifierCV(model, "
    "method='sigmoid', ensemble=False). For more classes use method='temperature', or "
    "LogisticRegression."
)
_PAIRS = (
    "computes its probabilities by cross-validation and an approximation, so they do not follow "
    "from its support vectors. For two classes use CalibratedClassifierCV(SVC(), "
    "method='sigmoid', ensemble=False). For more classes use "
    "make_pipeline(Nystroem(), LogisticRegression())."
)
_MEAN = (
    f"averages the probabilities of its members, {_NOT_ADDITIVE} Explain each "
    "member and combine their evidence, or use LogisticRegression."
)
_LABELS = (
    "predicts several labels for each row, not one class. Explain the model of each label, such as "
    "LogisticRegression."
)
_NEIGHBOURS = (
    f"counts neighbours, {_NOT_ADDITIVE} "
    "Use LogisticRegression behind shafer.models.RBFLayer for a local model."
)
_NUMBERS = "predicts numbers, not classes. Pass a classifier."

REFUSED = {
    ("sklearn", "RandomForestClassifier"): _VOTES,
    ("sklearn", "ExtraTreesClassifier"): _VOTES,
    ("sklearn", "DecisionTreeClassifier"): (
        f"predicts the class shares of one leaf, {_NOT_ADDITIVE} "
        "Use HistGradientBoostingClassifier(max_iter=1) or LogisticRegression."
    ),
    ("sklearn", "KNeighborsClassifier"): _NEIGHBOURS,
    ("sklearn", "RadiusNeighborsClassifier"): _NEIGHBOURS,
    ("sklearn", "NearestCentroid"): (
        "computes probabilities from distances to centroids, which scikit-learn does not split "
        "into features. Use LinearDiscriminantAnalysis."
    ),
    ("sklearn", "OneVsRestClassifier"): _SIGMOIDS,
    ("sklearn", "OneVsOneClassifier"): (
        f"combines votes of pairs of classes, {_NOT_ADDITIVE} "
        "Use a multinomial model, such as LogisticRegression."
    ),
    ("sklearn", "OutputCodeClassifier"): (
        "picks the nearest code word and has no probabilities. "
        "Use a multinomial model, such as LogisticRegression."
    ),
    ("sklearn", "MultiOutputClassifier"): _LABELS,
    ("sklearn", "ClassifierChain"): _LABELS,
    ("sklearn", "RidgeClassifier"): _NO_PROBABILITY,
    ("sklearn", "RidgeClassifierCV"): _NO_PROBABILITY,
    ("sklearn", "Perceptron"): _NO_PROBABILITY,
    ("sklearn", "PassiveAggressiveClassifier"): _NO_PROBABILITY,
    ("sklearn", "LinearSVC"): _NO_PROBABILITY,
    ("sklearn", "SVC"): _PAIRS,
    ("sklearn", "NuSVC"): _PAIRS,
    ("sklearn", "QuadraticDiscriminantAnalysis"): (
        "has logits that are quadratic in all features together, which scikit-learn does not split "
        "into contributions. Use LogisticRegression behind PolynomialFeatures(2), which has the "
        "same kind of boundary, or GaussianNB."
    ),
    ("sklearn", "GaussianProcessClassifier"): (
        f"averages sigmoids over a posterior, {_NOT_ADDITIVE} "
        "Use LogisticRegression behind Nystroem or shafer.models.RBFLayer."
    ),
    ("sklearn", "BaggingClassifier"): _MEAN,
    ("sklearn", "VotingClassifier"): _MEAN,
    ("sklearn", "StackingClassifier"): (
        "feeds the probabilities of its members to a last model. Explain that model, "
        "final_estimator_, on the members' outputs, transform(X); by default it is a "
        "LogisticRegression."
    ),
    ("sklearn", "LabelPropagation"): _NEIGHBOURS,
    ("sklearn", "LabelSpreading"): _NEIGHBOURS,
    ("sklearn", "DummyClassifier"): (
        "ignores its inputs, so it gives no evidence. Use a model that reads them, such as "
        "LogisticRegression."
    ),
    ("sklearn", "ColumnTransformer"): (
        "is a transformer without a classifier. Pass the whole pipeline, with the classifier as "
        "its last step."
    ),
    ("optbinning", "BinningProcess"): (
        "bins columns, but has no classifier. Pass the whole pipeline, "
        "make_pipeline(BinningProcess(...), LogisticRegression()), or a Scorecard."
    ),
    ("lightgbm", "LGBMRegressor"): _NUMBERS,
    ("xgboost", "XGBRegressor"): _NUMBERS,
    ("xgboost", "XGBRFRegressor"): _NUMBERS,
    ("sklearn", "RegressorMixin"): _NUMBERS,
}
