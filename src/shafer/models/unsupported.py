"""Models without probabilities that are a logistic or softmax of additive terms, and alternatives.

Each sentence follows the name of the model's class.
"""

from __future__ import annotations

_OF_A_MEAN = "and the logarithm of a mean is not a sum of additive terms."
_FOREST = (
    "averages the class shares that its trees give, "
    f"{_OF_A_MEAN} Use HistGradientBoostingClassifier."
)
_NO_PROBABILITY = (
    "has scores but no probabilities. For two classes use CalibratedClassifierCV(model, "
    "method='sigmoid', ensemble=False). For more classes use method='temperature', or "
    "LogisticRegression."
)
_MACHINE = (
    "has no probabilities that follow from its support vectors: without probability=True it has "
    "none, and with it they come from cross-validation and an iteration that stops early. For two "
    "classes use CalibratedClassifierCV(SVC(), method='sigmoid', ensemble=False). For more classes "
    "use make_pipeline(Nystroem(), LogisticRegression())."
)
_MEMBERS = (
    f"averages the probabilities of its members or counts their votes, {_OF_A_MEAN} Explain each "
    "member and combine their evidence, or use LogisticRegression."
)
_LABELS = (
    "predicts several labels for each row, not one class. Explain the model of each label, such as "
    "LogisticRegression."
)
_NEIGHBOURS = (
    f"averages the labels of near training rows, {_OF_A_MEAN} "
    "Use LogisticRegression behind shafer.models.RBFLayer for a local model."
)
_NUMBERS = "predicts numbers, not classes. Pass a classifier."

REFUSED = {
    ("sklearn", "RandomForestClassifier"): _FOREST,
    ("sklearn", "ExtraTreesClassifier"): _FOREST,
    ("sklearn", "KNeighborsClassifier"): _NEIGHBOURS,
    ("sklearn", "RadiusNeighborsClassifier"): _NEIGHBOURS,
    ("sklearn", "OneVsOneClassifier"): (
        "counts the votes of pairs of classes and has no probabilities. "
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
    ("sklearn", "SVC"): _MACHINE,
    ("sklearn", "NuSVC"): _MACHINE,
    ("sklearn", "GaussianProcessClassifier"): (
        "averages sigmoids over a posterior, and the log-odds of such a mean are not a sum of "
        "additive terms. Use LogisticRegression behind Nystroem or shafer.models.RBFLayer."
    ),
    ("sklearn", "BaggingClassifier"): _MEMBERS,
    ("sklearn", "VotingClassifier"): _MEMBERS,
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
    ("statsmodels", "Model"): "is not trained. Pass the results of its fit(), not the model.",
    ("skorch", "NeuralNet"): "predicts no classes. Use NeuralNetClassifier of skorch.",
    ("lightgbm", "LGBMRegressor"): _NUMBERS,
    ("xgboost", "XGBRegressor"): _NUMBERS,
    ("xgboost", "XGBRFRegressor"): _NUMBERS,
    ("sklearn", "RegressorMixin"): _NUMBERS,
}
