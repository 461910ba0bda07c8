"""The means that weights of evidence are measured from, and where they come from.

A row's numbers must not depend on the other rows of its file, so the means never come from the
rows that are scored unless the user asks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from shafer._text import listed
from shafer.decision.acts import ACT_COLUMN
from shafer.estimators.evidential_classifier import EvidentialClassifier
from shafer.estimators.evidential_voting import EvidentialVotingClassifier
from shafer.estimators.neighbour_evidence import NeighbourEvidence
from shafer.evidence.mass_evidence import MassEvidence
from shafer.explain.explainer import Explainer
from shafer.explain.predictor import Predictor
from shafer.explain.row_pass import CombinedPass, RowPass
from shafer.models.sklearn.wrappers import held, is_wrapper
from shafer.scale.inputs import ModelInputs, model_inputs
from shafer.scale.tables import label_named, read_table

_WITH_EVIDENCE = (EvidentialVotingClassifier, NeighbourEvidence)
_OF_TRAINING = "of its training data, stored in the model file"
_LINEAR = (LogisticRegression, SGDClassifier, LinearDiscriminantAnalysis)


@final
@dataclass(frozen=True)
class MeasuredModel:
    """A model with the means that its evidence is measured from.

    Attributes
    ----------
    evidence : callable
        Returns the evidence of rows.
    classes : array of shape (K,)
    sentence : str
        One sentence on the means, for the user.
    predictor : Predictor or None
        Whose prediction sets and promises are meant: the explainer, or the classifier around it.
    """

    evidence: Callable[[Any], MassEvidence]
    classes: NDArray[Any]
    sentence: str
    predictor: Predictor | None = None

    @classmethod
    def relative(
        cls,
        explainer: Explainer,
        means: str,
        predictor: Predictor | None = None,
        *,
        stored: bool = False,
    ) -> Self:
        """Measure an explainer's evidence from ``means``, the end of "the means …".

        ``stored``: the explainer comes from a file, and no option changes what it does.
        """
        own = predictor or explainer
        sentences = (
            f"Weights of evidence are relative to the means {means}.",
            prior_sentence(explainer, stored=stored),
            answer_sentence(own),
        )
        return cls(explainer, explainer.classes, " ".join(filter(None, sentences)), own)

    @property
    def is_guarded(self) -> bool:
        """Whether answers are guarded against wrong inputs, and the explainer's own are not."""
        return isinstance(self.predictor, EvidentialClassifier) and self.predictor.guard

    def observe(self, X: Any) -> RowPass:
        """Pass rows through the model once, as they were given."""
        if isinstance(self.evidence, Explainer):
            return self.evidence.observe(X, errors=True)
        return CombinedPass(self.evidence(X))


def prior_of(explainer: Explainer) -> str:
    """Return how an explainer treats the base rate."""
    return "shared" if explainer.pool.base_rate is None else "own"


def answer_sentence(predictor: Predictor) -> str:
    """Return a sentence on what is answered, if it is not the most probable class, or ""."""
    rule = predictor.policy.cutoff
    return "" if rule is None else f"The model {rule.text(np.asarray(predictor.classes))}."


def prior_sentence(explainer: Explainer, *, stored: bool = False) -> str:
    """Return a sentence on the base rate, and how to get the other choice if it is not stored."""
    if prior_of(explainer) == "own":
        if stored:
            return "The base rate is a component of its own."
        return (
            "The base rate is a component of its own; --prior shared shares it among the "
            "components, as in the paper."
        )
    return "The components share the base rate equally, as in the paper (prior='shared')."


@final
@dataclass(frozen=True)
class MeansOptions:
    """The options that choose the means.

    Attributes
    ----------
    train_path : Path, optional
        Training data.
    from_data : bool
        Whether the rows to be scored or explained may give the means.
    target, text_column : str, optional
        Columns of the training data.
    prior : {"own", "shared"}, optional
        What to do with the base rate, if the user chose it.
    errors : {"laplace"}, optional
        Give the weights error bars; this needs the training data.
    missing : {"conditional", "vacuous"}, optional
        What to do with missing inputs, if the user chose it.
    drop : tuple of strings
        Columns to leave out of a model that is trained here.
    ids : tuple of strings
        Columns that name rows, which are no inputs.
    threshold : str, optional
        From which probability on the answer is the second of two classes, or the one named in
        ``class=number``.
    loss : pandas frame, optional
        What each answer, in the column ``act``, costs under each true class.
    acts : bool
        Whether the loss may be about acts that are no classes. It does not state the answer then.
    """

    train_path: Path | None = None
    from_data: bool = False
    target: str | None = None
    text_column: str | None = None
    prior: str | None = None
    errors: str | None = None
    missing: str | None = None
    drop: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    threshold: str | None = None
    loss: Any = None
    acts: bool = False

    def answer_rule(self, classes: NDArray[Any]) -> dict[str, Any]:
        """Return the options of an explainer that is made here, about what it answers."""
        if self._states_losses(classes):
            if self.threshold is not None:
                raise ValueError(
                    "Give --threshold or --loss, not both: losses of two classes are a threshold."
                )
            return {"loss": self._losses(classes)}
        if self.threshold is None:
            return {}
        if len(classes) != 2:
            raise ValueError(
                f"--threshold needs two classes; the model has {len(classes)}: "
                f"{listed(classes.tolist())}. State what each error costs instead, with --loss."
            )
        name, stated, number = self.threshold.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            raise ValueError(
                f"--threshold must be a probability such as 0.2, or class=probability; got "
                f"{self.threshold!r}."
            ) from None
        if not stated:
            return {"threshold": value}
        return {"threshold": {label_named(name, classes, "--threshold"): value}}

    def _states_losses(self, classes: NDArray[Any]) -> bool:
        """Return whether the losses are those of answers, not of other acts."""
        if self.loss is None:
            return False
        return not self.acts or {*self.loss[ACT_COLUMN]} == {*map(str, classes.tolist())}

    def _losses(self, classes: NDArray[Any]) -> dict[Any, dict[Any, float]]:
        """Return answer -> class -> loss, by the labels of the model."""

        def label(text: Any) -> Any:
            return label_named(str(text), classes, "--loss")

        return {
            label(row[ACT_COLUMN]): {
                label(name): cost for name, cost in row.items() if name != ACT_COLUMN
            }
            for row in self.loss.to_dict("records")
        }

    def check_kept(self, keeps: str, instead: str, classes: NDArray[Any]) -> None:
        """Refuse options about what a model of a file chose when it was made."""
        given = {"--threshold": self.threshold is not None, "--loss": self._states_losses(classes)}
        for option, is_given in given.items():
            if is_given:
                raise ValueError(
                    f"{option} cannot be used: {keeps} keeps its own choice. {instead}"
                )

    @property
    def new_missing(self) -> str:
        """What an explainer that is made here does with missing inputs."""
        return self.missing or "error"

    @property
    def new_prior(self) -> str:
        """What an explainer that is made here does with the base rate."""
        return self.prior or "own"


def measured_model(
    model: Any, inputs: ModelInputs, data: Path, rows: Callable[[], Any], options: MeansOptions
) -> MeasuredModel:
    """Find the means for a model, and what gives its evidence.

    Parameters
    ----------
    model : fitted model
    inputs : ModelInputs
        The columns the model takes.
    data : Path
        The table to be scored or explained, for messages.
    rows : callable
        Gives its rows, or batches of them, as the model takes them.
    options : MeansOptions

    Raises
    ------
    ValueError
        If no means are known and the user did not choose any.
    """
    if isinstance(model, Explainer):
        return _stored(model, "stored in the model file", options)
    own = scored(model)
    if isinstance(own, EvidentialClassifier):
        return _stored(own.explainer_, _OF_TRAINING, options, own)
    if isinstance(own, _WITH_EVIDENCE):
        return _with_own_evidence(own, options)
    if options.train_path is not None:
        background = _training_rows(model, inputs, options)
        explainer = _explainer(model, background, options)
        return MeasuredModel.relative(explainer, f"of {options.train_path.name}")
    if options.errors is not None:
        raise ValueError(
            f"--errors {options.errors} needs the training data: error bars are about what other "
            "training data would give. Add --train FILE."
        )
    if options.missing == "conditional":
        raise ValueError(
            "--missing conditional needs the training data, to find what the other inputs suggest. "
            "Add --train FILE."
        )
    row = _stored_means(model, inputs)
    if row is not None:
        explainer = _explainer(model, row, options)
        where = "of its training data, stored in its StandardScaler"
        return MeasuredModel.relative(explainer, where)
    if options.from_data:
        explainer = _explainer(model, rows(), options)
        return MeasuredModel.relative(explainer, f"of the rows in {data.name}")
    raise ValueError(
        f"The means of the training data are not known: this {type(model).__name__} does not store "
        "them. Give the training data with --train FILE, or add --means-from-data to use the means "
        f"of {data.name}; a row's numbers then depend on the other rows of that file."
    )


def scored(model: Any) -> Any:
    """Return what gives the evidence of a model file: an explainer, or a classifier of shafer."""
    if isinstance(model, Explainer):
        return model
    return _unwrapped(model, until=(EvidentialClassifier, *_WITH_EVIDENCE))


def _stored(
    explainer: Explainer, means: str, options: MeansOptions, predictor: Predictor | None = None
) -> MeasuredModel:
    """Take an explainer from the model file; it keeps its base rate as it is."""
    if options.prior not in (None, prior_of(explainer)):
        raise ValueError(
            f"--prior {options.prior} cannot be used: the explainer in the model file was made "
            f"with prior={prior_of(explainer)!r}. Leave out --prior, or save the explainer made "
            f"with prior={options.prior!r}."
        )
    if options.missing is not None:
        raise ValueError(
            f"--missing {options.missing} cannot be used: the explainer in the model file keeps "
            f"its own choice. Leave out --missing, or save one made with "
            f"missing={options.missing!r}."
        )
    options.check_kept(
        "the explainer in the model file",
        "Leave it out, or save the model behind it with shafer save --train and this option.",
        explainer.classes,
    )
    return MeasuredModel.relative(explainer, means, predictor, stored=True)


def _with_own_evidence(
    model: EvidentialVotingClassifier | NeighbourEvidence, options: MeansOptions
) -> MeasuredModel:
    """Use the evidence that a classifier makes itself, from what it was trained on."""
    for option, value in (("--prior", options.prior), ("--missing", options.missing)):
        if value is not None:
            raise ValueError(
                f"{option} {value} cannot be used: {type(model).__name__} makes its own evidence. "
                f"Leave out {option}."
            )
    options.check_kept(type(model).__name__, "Leave it out.", np.asarray(model.classes_))
    sentence = "Evidence is relative to the training data, stored in the model file."
    named = hasattr(model, "feature_names_in_")

    def evidence(rows: Any) -> MassEvidence:
        return model.evidence(rows if named else np.asarray(rows))

    predictor = model if isinstance(model, Predictor) else None
    return MeasuredModel(evidence, model.classes_, sentence, predictor)


def _unwrapped(model: Any, until: type | tuple[type, ...] = ()) -> Any:
    """Return the model inside searches and evidential classifiers, or the first of a type."""
    while is_wrapper(model) and not isinstance(model, until):
        model = held(model)
    return model


def _training_rows(model: Any, inputs: ModelInputs, options: MeansOptions) -> Any:
    path = options.train_path
    assert path is not None
    table = read_table(path)
    text_column = next(iter(inputs.columns)) if inputs.texts else options.text_column
    chosen = model_inputs(
        model,
        table.kinds,
        path,
        target=options.target,
        text_column=text_column,
        ids=options.ids,
    )
    return chosen.read(table)


def _explainer(model: Any, background: Any, options: MeansOptions) -> Explainer:
    return Explainer(
        model,
        background,
        prior=options.new_prior,
        errors=options.errors,
        missing=options.new_missing,
        **options.answer_rule(np.asarray(getattr(model, "classes_", ()))),
    )


def _stored_means(model: Any, inputs: ModelInputs) -> Any:
    """Return one row that holds the training means, if the model knows them exactly.

    So it is for a linear model behind a ``StandardScaler``, also one for each of several sets of
    columns and also behind a ``SimpleImputer``: contributions are linear in the scaled columns, so
    their mean is the contribution of the mean.
    """
    model = _unwrapped(model)
    if inputs.texts or not isinstance(model, Pipeline) or len(model.steps) < 2:
        return None
    if not isinstance(_unwrapped(model.steps[-1][1]), _LINEAR):
        return None
    names = list(inputs.columns)
    means = _means_before(model[:-1], names)
    if means is None or len(means) != len(names):
        return None
    import pandas

    return pandas.DataFrame([means], columns=names)


def _means_before(step: Any, names: list[str]) -> NDArray[np.float64] | None:
    """Return the means of the columns that a fitted transformer brings to mean zero."""
    if isinstance(step, StandardScaler):
        return np.asarray(step.mean_) if step.with_mean else None
    if isinstance(step, Pipeline):
        *before, last = (part for _, part in step.steps)
        plain = all(type(part) is SimpleImputer and not part.add_indicator for part in before)
        return _means_before(last, names) if plain else None
    if isinstance(step, ColumnTransformer):
        return _means_of_parts(step, names)
    return None


def _means_of_parts(step: ColumnTransformer, names: list[str]) -> NDArray[np.float64] | None:
    means = np.zeros(len(names))  # columns that are dropped do not matter
    for _, part, columns in step.transformers_:
        if part == "drop":
            continue
        own = _means_before(part, names)
        try:
            places = [names.index(column) for column in columns]
        except (TypeError, ValueError):  # columns by number, mask or slice
            places = np.arange(len(names))[columns].tolist()
        if own is None or len(own) != len(places):
            return None
        means[places] = own
    return means
