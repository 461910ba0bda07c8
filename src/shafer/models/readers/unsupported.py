"""Models that are no logistic or softmax of a sum of contributions, and what to use instead.

Each sentence follows the name of the model's class.
"""

from __future__ import annotations

_VOTES = (
    "averages the votes of its trees, so its probabilities are a mean and no softmax of a sum. "
    "Use HistGradientBoostingClassifier, or give SHAP values in log-odds space to "
    "shafer.models.from_shap."
)
_SIGMOIDS = (
    "normalises separate sigmoids, which is no softmax of a sum. "
    "Use a multinomial model, such as LogisticRegression."
)
_NO_PROBABILITY = (
    "has scores but no probabilities. Calibrate them: CalibratedClassifierCV(model, "
    "method='sigmoid', ensemble=False)."
)
_PAIRS = (
    "finds its probabilities by cross-validation and an iteration that stops at 1/200, so they are "
    "no exact function of its support vectors. Use CalibratedClassifierCV(SVC(), "
    "method='sigmoid', ensemble=False), for two classes."
)
_MEAN = (
    "averages the probabilities of its members, which is no softmax of a sum. "
    "Explain each member and pool their evidence."
)
_LABELS = "predicts several labels at once, not one class. Explain the model of each label."
_NEIGHBOURS = (
    "counts neighbours, so its probabilities are shares and no softmax of a sum. "
    "Use LogisticRegression behind shafer.models.RBFLayer for a local model."
)

REFUSED = {
    ("sklearn", "RandomForestClassifier"): _VOTES,
    ("sklearn", "ExtraTreesClassifier"): _VOTES,
    ("sklearn", "DecisionTreeClassifier"): (
        "predicts the class shares of one leaf, which is no softmax of a sum. "
        "Use HistGradientBoostingClassifier(max_iter=1) or LogisticRegression."
    ),
    ("sklearn", "KNeighborsClassifier"): _NEIGHBOURS,
    ("sklearn", "RadiusNeighborsClassifier"): _NEIGHBOURS,
    ("sklearn", "NearestCentroid"): (
        "takes its probabilities from distances to centroids, which it does not give as a sum over "
        "features. Use LinearDiscriminantAnalysis, which does."
    ),
    ("sklearn", "OneVsRestClassifier"): _SIGMOIDS,
    ("sklearn", "OneVsOneClassifier"): (
        "votes among pairs of classes, which is no softmax of a sum. "
        "Use a multinomial model, such as LogisticRegression."
    ),
    ("sklearn", "OutputCodeClassifier"): (
        "decodes the nearest code word and has no probabilities. "
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
        "has logits quadratic in all features at once, which it does not give as a sum of "
        "contributions. Use LogisticRegression behind PolynomialFeatures(2), the same kind of "
        "boundary, or GaussianNB."
    ),
    ("sklearn", "GaussianProcessClassifier"): (
        "averages sigmoids over a posterior, which is no softmax of a sum. "
        "Use LogisticRegression behind Nystroem or shafer.models.RBFLayer."
    ),
    ("sklearn", "AdaBoostClassifier"): (
        "sums the votes of its members and rescales them, which is no plain softmax of a sum. "
        "Use GradientBoostingClassifier(loss='exponential'), which is boosting with probabilities."
    ),
    ("sklearn", "BaggingClassifier"): _MEAN,
    ("sklearn", "VotingClassifier"): _MEAN,
    ("sklearn", "StackingClassifier"): (
        "feeds the probabilities of its members to a last model. Explain its final_estimator_ on "
        "the members' outputs, transform(X)."
    ),
    ("sklearn", "LabelPropagation"): _NEIGHBOURS,
    ("sklearn", "LabelSpreading"): _NEIGHBOURS,
    ("sklearn", "DummyClassifier"): (
        "does not look at its inputs, so there is no evidence. Explain a trained model."
    ),
    ("sklearn", "ColumnTransformer"): (
        "is a transformer without a classifier. Give the whole pipeline, with the classifier as "
        "its last step."
    ),
    ("lightgbm", "LGBMRegressor"): "predicts numbers, not classes. Give a classifier.",
    ("xgboost", "XGBRegressor"): "predicts numbers, not classes. Give a classifier.",
    ("xgboost", "XGBRFRegressor"): "predicts numbers, not classes. Give a classifier.",
    ("sklearn", "RegressorMixin"): "predicts numbers, not classes. Give a classifier.",
}
