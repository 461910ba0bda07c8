"""``Savable``: the methods ``save`` and ``load`` of explainers and classifiers."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, Self

from shafer._files.left_out import rows_left_out
from shafer.saving.file import load_object, save_object


class Savable:
    """Stores a trained object in one file, without pickle."""

    def save(self, path: str | os.PathLike[str], *, rows: bool = True) -> None:
        """Write everything that predictions need to one file, without pickle.

        Of the data it has at most 16 rows of the background, if that is a table: exports of a
        loaded explainer are compared on them. ``rows=False`` leaves them out.

        The file has arrays, a description, and the model in the safe format of its framework.
        Nothing in it is run when it is loaded. An existing file is replaced only if all went well.
        ``docs/guide/saving.md`` lists the models that can be saved.

        Parameters
        ----------
        path : str or Path
            Such as ``"model.shafer"``; the command line expects this ending.
        rows : bool
            Whether to keep a few rows of the background. Leave them out if nobody who gets the file
            may see rows of the training data.

        See Also
        --------
        load : Reads the file.
        """
        with rows_left_out(not rows):
            save_object(self, path)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, trusted: Iterable[str] = (), module: Any = None
    ) -> Self:
        """Read what :meth:`save` wrote. Results are the same to the last bit.

        Parameters
        ----------
        path : str or Path
        trusted : sequence of str
            Full names of classes that you trust, besides those known to be safe. The error lists
            the names that a file needs.
        module : torch.nn.Module, optional
            For a saved torch module: a module that is built like the saved one. It gets the saved
            weights.

        Returns
        -------
        the object that was saved

        Raises
        ------
        ValueError
            If the file is damaged, forged or of another version, or needs ``trusted`` or
            ``module``.

        See Also
        --------
        save : Writes the file.

        Examples
        --------
        >>> import numpy as np, shafer, tempfile
        >>> explainer = shafer.Explainer(([1.0, -2.0], 0.5), np.zeros((1, 2)))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     explainer.save(f"{folder}/model.shafer")
        ...     again = shafer.Explainer.load(f"{folder}/model.shafer")
        >>> again([[1.0, 0.0]]).probability.round(3)
        array([[0.182, 0.818]])
        """
        found: Self = load_object(path, wanted=cls, trusted=trusted, module=module)
        return found
