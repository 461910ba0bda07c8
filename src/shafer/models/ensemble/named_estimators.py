"""Parameters of named estimators as ``name__parameter``, as in scikit-learn's ColumnTransformer."""

from __future__ import annotations

from typing import Any, Self

from sklearn.utils.metaestimators import _BaseComposition


class NamedEstimators(_BaseComposition):
    """A meta-estimator with ``estimators``: (name, estimator) or (name, estimator, columns)."""

    estimators: Any

    @property
    def _named(self) -> Any:
        try:
            return [(entry[0], entry[1]) for entry in self.estimators]
        except (TypeError, IndexError):  # fit raises an error that explains it
            return self.estimators

    @_named.setter
    def _named(self, pairs: list[tuple[str, Any]]) -> None:
        rests = [entry[2:] for entry in self.estimators]
        self.estimators = [(*pair, *rest) for pair, rest in zip(pairs, rests, strict=True)]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with ``deep`` also those of the estimators, by their names.

        Parameters
        ----------
        deep : bool
            Whether to return the parameters of the estimators as well.

        Returns
        -------
        dict from name to value
        """
        params: dict[str, Any] = self._get_params("_named", deep=deep)
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those of estimators are ``name__parameter``.

        Parameters
        ----------
        **params
            New values, by name.

        Returns
        -------
        the object itself
        """
        self._set_params("_named", **params)
        return self
