"""``score`` and ``schema``: evidence as columns of a lazy frame, and what these columns are."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable
from typing import Any

from shafer._text import listed
from shafer.estimators.evidential_classifier import EvidentialClassifier
from shafer.explain.answered_rows import checked_reasons
from shafer.explain.explainer import Explainer
from shafer.scale.background_means import MeasuredModel
from shafer.scale.bad_rows import OnError, checked_on_error
from shafer.scale.columns import ScoreColumns, ScoreOptions
from shafer.scale.engines import engine_of
from shafer.scale.inputs import ModelColumns, check_present, column_choice
from shafer.scale.scorer import RowScorer, arrow_schema
from shafer.texts.inputs import first_vectorizer

_REASONS = 3


def score(
    frame: Any,
    explainer: Explainer | EvidentialClassifier,
    columns: str | Iterable[str] | None = None,
    *,
    keep: str | Iterable[str] = (),
    reasons: int = _REASONS,
    evidence: bool = False,
    on_error: OnError = "stop",
) -> Any:
    """Return the answer about every row of a frame and the reasons, as a frame of the same kind.

    Of a lazy frame, nothing is computed until you ask it for its rows, and the columns and their
    types are known before. Rows are scored where they are, some thousand at a time; the explainer
    is sent to each worker once. A frame in memory, of pandas or pyarrow, is scored at once.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame, pyspark.sql.DataFrame, ray.data.Dataset, polars.LazyFrame
        Or a pandas.DataFrame or pyarrow.Table.
    explainer : Explainer or EvidentialClassifier
    columns : string or iterable of strings, optional
        The columns that the model takes; by default those it was trained on. A model that was
        trained on arrays needs them, in the order of training. A model of texts needs the column
        with the texts.
    keep : string or iterable of strings
        Columns to pass on, such as a key. Frames of Dask and pandas also keep their index.
    reasons : int
        Reasons for each row; 0 for none.
    evidence : bool
        Also belief, plausibility, pignistic probability, ignorance and conflict.
    on_error : {"stop", "skip", "quarantine"}
        What to do about rows that the model cannot take: raise an error that names the first one;
        leave them out; or keep them without scores. Then the column ``error`` says what is wrong,
        and is missing for all other rows, and frames of pandas and Dask have nullable types.

    Returns
    -------
    frame of the same kind
        The columns of ``keep``, then:

        - ``answer``, that of ``predict``, and the probabilities, ``probability_yes`` and so on;
        - after ``conformalize``, ``set``: the calibrated set of ``predict_set``;
        - after ``control_error``, ``deferred`` and ``why``: whether a person should decide;
        - with ``evidence``, ``belief_yes``, ``plausibility_yes``, ``pignistic_yes``, …, ``lack``,
          ``contradiction``, ``ignorance``, ``conflict`` and ``weight_of_conflict``;
        - those of the reasons: ``reasons_class`` and ``reasons_over`` (the two classes compared),
          ``reason_1`` (a component), ``reason_1_value`` (of its input, as text),
          ``reason_1_log_odds`` (what it adds to the log-odds), ``reason_1_share`` (of all that is
          added) and ``reason_1_words`` (a sentence).

        Groups of sets and promises are read from their column of the frame.

    Warns
    -----
    UserWarning
        If the sets or the promise are by group, and the frame does not have the groups. Their
        columns are then left out.

    See Also
    --------
    schema : The columns and their types.
    background : An explainer whose background is a lazy frame.

    Examples
    --------
    >>> import polars as pl, shafer
    >>> from sklearn.linear_model import LogisticRegression
    >>> train = pl.DataFrame({"age": [30, 40, 50, 60], "ill": ["no", "no", "yes", "yes"]})
    >>> model = LogisticRegression().fit(train[["age"]], train["ill"])
    >>> explainer = shafer.Explainer(model, train[["age"]])
    >>> lazy = shafer.scale.score(train.lazy(), explainer, keep="age", reasons=1)
    >>> lazy.select("age", "probability_yes", "reason_1").collect()["reason_1"].to_list()
    ['age', 'age', 'age', 'age']
    """
    chosen = explainer_of(explainer)
    engine = engine_of(frame)
    present = engine.column_names(frame)
    kept = column_choice(keep, "keep")
    check_present(kept, present, "keep")
    inputs = columns_of(chosen, columns, present)
    model, scores = listed_columns(explainer, reasons, present, evidence=evidence)
    scorer = RowScorer(model, inputs, scores.listed, kept, checked_on_error(on_error))
    twice = [name for name in scorer.schema.names if name in kept]
    if twice:
        raise ValueError(
            f"keep has {listed(twice)}, and so have the scores. Rename the column of the frame."
        )
    if scores.left_out:
        warnings.warn(scores.left_out, UserWarning, stacklevel=2)
    return engine.scored(frame, scorer)


def schema(
    explainer: Explainer | EvidentialClassifier,
    *,
    reasons: int = _REASONS,
    evidence: bool = False,
    on_error: OnError = "stop",
) -> Any:
    """Return the columns that :func:`score` adds and their types, as a pyarrow schema.

    Parameters
    ----------
    explainer : Explainer or EvidentialClassifier
    reasons, evidence, on_error
        As in :func:`score`.

    Returns
    -------
    pyarrow.Schema

    See Also
    --------
    score : The scores of a lazy frame.

    Examples
    --------
    >>> import numpy as np, shafer
    >>> explainer = shafer.Explainer(([1.0, -2.0], 0.5), np.zeros((1, 2)))
    >>> shafer.scale.schema(explainer, reasons=0).names
    ['answer', 'probability_0', 'probability_1']
    """
    columns = listed_columns(explainer, reasons, None, evidence=evidence)[1]
    return arrow_schema(columns, on_error=checked_on_error(on_error))


def listed_columns(
    explainer: Explainer | EvidentialClassifier,
    reasons: Any,
    present: Collection[str] | None,
    *,
    evidence: bool = False,
) -> tuple[MeasuredModel, ScoreColumns]:
    """Return what scores rows, and the list of columns, for a table with some columns."""
    chosen = explainer_of(explainer)
    model = MeasuredModel(chosen, chosen.classes, "", explainer)
    wanted = ScoreOptions(checked_reasons(reasons), evidence=evidence)
    return model, ScoreColumns.of(model, wanted, present)


def explainer_of(given: Any) -> Explainer:
    """Return the explainer, or the one inside a fitted classifier."""
    if isinstance(given, EvidentialClassifier) and hasattr(given, "explainer_"):
        return given.explainer_
    if not isinstance(given, Explainer):
        raise ValueError(
            f"explainer must be a shafer.Explainer or a fitted EvidentialClassifier; got "
            f"{type(given).__name__}. Make one with shafer.Explainer(model, X_train)."
        )
    return given


def columns_of(explainer: Explainer, columns: Any, present: list[str]) -> ModelColumns:
    """Return the columns that an explainer takes from a frame."""
    texts = first_vectorizer(explainer.weighed_model.model.encoders) is not None
    schema = explainer.weighed_model.schema
    return ModelColumns.of(explainer.columns, columns, present, texts=texts, schema=schema)
