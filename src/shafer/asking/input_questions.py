"""``InputQuestions``: what ``explainer.ask`` offers, one method for each question."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

from shafer._typing import Array
from shafer.asking.check_cells import check_cells
from shafer.asking.guard import GuardedPrediction, guard
from shafer.asking.inputs import AskedModel
from shafer.asking.next_inputs import next_inputs
from shafer.asking.next_measurements import next_measurements
from shafer.asking.overturn import conditional_fragility, overturn
from shafer.evidence.groups import Groups
from shafer.evidence.table import native_frame
from shafer.explain.row_pass import ModelPass


@final
class InputQuestions:
    """What to do about an uncertain row: measure, check, or trust it.

    The questions are for linear models whose features each depend on one column of the data: alone,
    behind scalers, one-hot encoders and other transformers of single columns. They use the
    distribution of the inputs over the background, a Gaussian with shrunk correlations, as
    ``missing="conditional"`` does; also if the explainer was made with another ``missing``. NaN
    marks a missing input. An input is a column of the data; the columns of a one-hot encoder are
    one input.

    Parameters
    ----------
    asked : callable
        Returns the model with the distribution of its inputs.
    observe : callable
        Passes rows through the model.

    See Also
    --------
    shafer.Explainer : Its attribute ``ask`` is one.

    Examples
    --------
    >>> import numpy as np, shafer
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> explainer = shafer.Explainer(([1.0, -2.0], 0.5), X, names=["u", "v"])
    >>> explainer.ask.overturn([[2.0, np.nan]]).round(2)
    array([0.14])
    """

    def __init__(
        self, asked: Callable[[], AskedModel], observe: Callable[[Any], ModelPass]
    ) -> None:
        self._asked = asked
        self._observe = observe

    def model(self) -> AskedModel:
        """Return the model with the distribution of its inputs.

        Returns
        -------
        AskedModel

        Raises
        ------
        UnsupportedModelError
            If the model does not allow questions about single inputs.
        """
        return self._asked()

    def next_inputs(
        self,
        X: Any,
        top: int | None = 3,
        *,
        costs: Any = None,
        groups: Groups | None = None,
        together: int = 1,
        backend: str | None = None,
    ) -> Any:
        r"""Rank the missing inputs of each row by how much they would tell about the class.

        The information of an input is how far the probabilities of the row would move on average:
        the expected Kullback-Leibler divergence of the new from the present ones, in nats. Once it
        is known, the expected logits have moved along a line, :math:`z + t c_j / \sqrt{S_{jj}}`
        with t standard normal, :math:`c = S \beta^*` and S the covariance of the missing inputs
        given the known ones. The mean over t is summed on a fine grid, exact to rounding. New and
        present probabilities have the factor of ``missing="conditional"`` for what is still
        missing; the factor of ``moderate=`` stays that of the row as it is.

        With two classes, and rows that lack the same inputs at equal costs, the order is the same
        for all rows, and the best single step for every loss, if the inputs are Gaussian.

        Parameters
        ----------
        X : as the model takes it, with NaN where an input is missing
        top : int or None
            The number of inputs listed for each row; None for all.
        costs : mapping from input to cost, optional
            Inputs are ranked by information per cost. An input that is not named costs 1.
        groups : mapping or sequence, optional
            Inputs that are measured together, such as the values of one blood test: group name ->
            inputs. They are ranked by their joint information.
        together : int
            How many inputs are measured at once. With 2, all pairs are compared: the best pair need
            not hold the two best single inputs. With more, the best pair grows by the input that
            adds most, and one set is found for each row. ``input`` then names all of a set, as in
            ``"age + ldl"``, and ``input_1``, ``input_2``, ... name each of them.
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library of the data frame.

        Returns
        -------
        data frame
            ``row`` (its position in X), ``rank``, ``input``, ``information``, ``cost``,
            ``information_per_cost``, ``overturn`` (the chance that knowing this input changes the
            answer), and the two classes between which the input decides most, ``class`` (the more
            probable one) and ``over``. If X is a pandas frame, ``index``
            holds the labels of the rows. Rows without missing inputs are not listed.

        Examples
        --------
        >>> import numpy as np, shafer
        >>> from sklearn.linear_model import LogisticRegression
        >>> heart = shafer.datasets.load_heart()
        >>> model = LogisticRegression(max_iter=5000, tol=1e-8).fit(heart.data, heart.target)
        >>> explainer = shafer.Explainer(model, heart.data, names=heart.feature_names)
        >>> X = heart.data[:1].copy()
        >>> X[0, [heart.feature_names.index(name) for name in ("age", "ldl", "alcohol")]] = np.nan
        >>> explainer.ask.next_inputs(X)[["rank", "input", "information"]].round(3)
           rank    input  information
        0     1      age        0.024
        1     2      ldl        0.012
        2     3  alcohol        0.000
        """
        return native_frame(
            next_inputs(self._asked(), X, top, costs, groups, together), None, backend
        )

    def next_measurements(
        self,
        X: Any,
        budget: float,
        *,
        costs: Any = None,
        groups: Groups | None = None,
        backend: str | None = None,
    ) -> Any:
        """Choose which inputs of which rows to measure within a budget.

        The measurement with the most information per cost is bought first. The next one of the
        same row counts for what it tells beyond those that were bought, whatever their values are.

        Parameters
        ----------
        X : as the model takes it, with NaN where an input is missing
        budget : float
            What all measurements together may cost.
        costs, groups, backend
            As in :meth:`next_inputs`.

        Returns
        -------
        data frame
            The columns of :meth:`next_inputs`; ``rank`` is the order of buying.
        """
        columns = next_measurements(self._asked(), X, budget, costs, groups)
        return native_frame(columns, None, backend)

    def overturn(self, X: Any, inputs: Any = None) -> Array:
        r"""Return the chance that the missing inputs would change the decision, (n,).

        The decision is the class a of the largest expected logit z. Given the known inputs, its
        lead over class k is normal with mean :math:`z_a - z_k` and variance
        :math:`V_{ak} = (\beta_a - \beta_k)^T S (\beta_a - \beta_k)`. For two classes the chance is
        :math:`\Phi(-(z_a - z_k) / \sqrt{V_{ak}})`, exact under the Gaussian; for more classes it is
        the chance that some lead turns negative, mostly within 0.01. Rows without missing inputs
        have 0. With a threshold or losses, the decision is the answer of ``predict`` with
        ``missing="conditional"``; two classes stay exact, more classes are within 0.01.

        Parameters
        ----------
        X : as the model takes it
            Rows with NaN where an input is missing.
        inputs : sequence of names, optional
            Ask about these gaps only: the chance that the decision changes once they are known,
            while the others stay missing. By default all gaps are filled.

        Returns
        -------
        array of shape (n,)
            From 0 to 1.
        """
        return overturn(self._asked(), X, inputs)

    def fragility(self, X: Any, q: float = 0.2, *, fill: str = "conditional") -> Array:
        """Return the chance that the decision falls if each input is lost with chance q, (n,).

        Parameters
        ----------
        X : as the model takes it
        q : float
            The chance of each input to be lost, independently of the others.
        fill : {"conditional", "mean"}
            What takes the place of a lost input: its expectation given the other inputs, for the
            models of :meth:`overturn`; or the background mean of each component, for all models, as
            in :meth:`shafer.Evidence.fragility`.

        Returns
        -------
        array of shape (n,)
            From 0 to 1.
        """
        if fill == "conditional":
            return conditional_fragility(self._asked(), X, q)
        if fill != "mean":
            raise ValueError(f"fill must be 'conditional' or 'mean'; got {fill!r}.")
        return self._observe(X).bet.fragility(q)

    def check_cells(
        self,
        X: Any,
        top: int | None = 3,
        *,
        order: str = "surprise",
        backend: str | None = None,
    ) -> Any:
        """List the values to check: one suspect for each row, then its next one.

        One wrong value makes its neighbours surprising too. So each row has one suspect, the value
        that is hardest to believe given all others. Then it counts as missing, and the next
        suspect is looked for among the other values.

        Parameters
        ----------
        X : as the model takes it
        top : int or None
            The number of suspects of each row; None for all of its known inputs, which takes long
            for many rows.
        order : {"surprise", "stake"}
            ``"surprise"`` finds wrong values, one after the other, as above. ``"stake"`` finds the
            values on which the answer would rest wrongly: each is compared with all others, none
            of which counts as missing, and those of a row are ranked by their stake.
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library of the data frame.

        Returns
        -------
        data frame
            The most surprising suspect first, where each row keeps the order of its own; by
            ``"stake"``, row by row. ``row`` (its position in X), ``rank`` (in the row), ``input``,
            its ``value``, the value ``expected`` given the other inputs (without the suspects
            before it), ``surprise`` (how many standard deviations lie between them) and ``stake``
            in nats: the probability that the value is wrong, times the divergence of the
            probabilities with the expected value in its place. ``answer`` is the class that is
            answered with the expected value in its place. ``index`` holds the labels of the rows of
            a pandas frame, and positions otherwise. Values are text if some input is.
        """
        return native_frame(check_cells(self._asked(), X, top, order), None, backend)

    def guard(self, X: Any) -> GuardedPrediction:
        """Return probabilities that wrong inputs change little, and what was found wrong.

        A row is answered as a mixture: all values are right, or one of them is wrong and counts as
        missing. A value that is almost certainly wrong is repaired, up to four in a row.

        Parameters
        ----------
        X : as the model takes it
            The rows.

        Returns
        -------
        GuardedPrediction
            ``probability`` (n, K), ``alarm`` (n,): the probability that some value is wrong,
            ``repaired`` (n, number of inputs), and ``to_frame()`` with the repaired cells.
        """
        return guard(self._asked(), X)
