"""``background``: an explainer whose background is a lazy frame, read in one distributed pass."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, final

from shafer.errors import UnsupportedModelError
from shafer.explain.explainer import Explainer
from shafer.models.sklearn.wrappers import held, is_wrapper
from shafer.rows.background import BackgroundParts, SumOfPart
from shafer.rows.columns import trained_columns
from shafer.scale.engines import FrameEngine, engine_of
from shafer.scale.inputs import ModelColumns
from shafer.texts.inputs import first_vectorizer

_FIRST_ROWS = 2000
_NOT_HERE = ("sample_weight", "refits")


@final
class _FrameParts(BackgroundParts):
    """The partitions of a lazy frame."""

    def __init__(self, engine: FrameEngine, frame: Any, inputs: ModelColumns) -> None:
        self._engine, self._frame, self._inputs = engine, frame, inputs

    def first_rows(self) -> Any:
        rows = self._engine.first_rows(self._frame, list(self._inputs.names), _FIRST_ROWS)
        if len(rows) == 0:
            raise ValueError("The background has no rows. Pass the training data.")
        return self._inputs.rows(rows)

    def summed(self, sum_of_part: SumOfPart) -> Any:
        return self._engine.summed(self._frame, self._inputs, sum_of_part)


def background(
    frame: Any, model: Any, columns: str | Iterable[str] | None = None, **options: Any
) -> Explainer:
    """Return an explainer whose background is a lazy frame of any size.

    The means of the components are taken in one pass over the frame, and so is Laplace's curvature
    if ``moderate="laplace"`` or ``errors="laplace"`` is given. Each partition is summed where it
    is, and the sums are merged.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame, pyspark.sql.DataFrame, ray.data.Dataset or polars.LazyFrame
        The training data.
    model : fitted model
        As in :class:`shafer.Explainer`.
    columns : string or iterable of strings, optional
        The columns that the model takes; by default those it was trained on. For a model of texts,
        the column with the texts.
    **options
        As in :class:`shafer.Explainer`. What needs all rows at once is refused: ``missing``,
        ``moderate="laplace+discount"``, ``sample_weight``, ``errors="bootstrap"``.

    Returns
    -------
    Explainer

    See Also
    --------
    score : The scores of a lazy frame.

    Examples
    --------
    >>> import polars as pl, shafer
    >>> from sklearn.linear_model import LogisticRegression
    >>> train = pl.DataFrame({"age": [30, 40, 50, 60], "ill": ["no", "no", "yes", "yes"]})
    >>> model = LogisticRegression().fit(train[["age"]], train["ill"])
    >>> explainer = shafer.scale.background(train.lazy(), model)
    >>> explainer.pool.means
    array([45.])
    """
    given = [name for name in _NOT_HERE if options.get(name) is not None]
    if given:
        raise ValueError(
            f"{given[0]} cannot be used with a lazy frame. Leave it out, or pass rows in memory to "
            "shafer.Explainer."
        )
    if options.get("moderate") == "laplace+discount":
        raise UnsupportedModelError(
            "moderate='laplace+discount' compares rows with the background, which a lazy frame "
            "does not keep. Use moderate='laplace', or pass a sample to shafer.Explainer."
        )
    if options.get("errors") == "sandwich":
        raise UnsupportedModelError(
            "errors='sandwich' reads the background twice, which a lazy frame is not. Use "
            "errors='laplace', or pass a sample to shafer.Explainer."
        )
    engine = engine_of(frame)
    present = engine.column_names(frame)
    inner = model
    while is_wrapper(inner):
        inner = held(inner)
    texts = first_vectorizer([inner]) is not None
    inputs = ModelColumns.of(trained_columns(model), columns, present, texts=texts)
    return Explainer(model, _FrameParts(engine, frame, inputs), **options)
