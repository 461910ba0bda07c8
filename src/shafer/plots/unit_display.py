"""``UnitDisplay``: the masses of a hidden unit as a function of its output."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Self, final

from matplotlib.axes import Axes

from shafer._typing import FloatArray, Label
from shafer.evidence.mass_evidence import MassEvidence
from shafer.plots.mass_curves import (
    axis_name,
    component_alone,
    draw_masses,
    dress_curves,
    mass_curves,
)
from shafer.plots.style import axes_for, drawn_html


@final
class UnitDisplay:
    """The masses of a hidden unit against its output (Denœux 2019, Fig. 11).

    Make one with :meth:`from_evidence`.

    Parameters
    ----------
    outputs : array of shape (n,)
        Outputs of the unit, ascending.
    masses : array of shape (n, S)
        Mass of each set at each output.
    sets : sequence of S strings
        Names of the sets.
    name : str
        Name of the unit.
    instances : mapping of name to array, optional
        Outputs for groups of instances, drawn along the axis: the values that occur.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after :meth:`plot`.

    See Also
    --------
    DependenceDisplay : The same for an input feature.
    MassDisplay : The masses of one row.

    Examples
    --------
    >>> import numpy as np, shafer
    >>> pool = shafer.least_commitment(np.array([[1.0], [-1.0], [0.0]]), np.zeros(3), [0.5])
    >>> outputs = np.linspace(0, 2, 50)
    >>> display = shafer.plots.UnitDisplay.from_evidence(pool(outputs[:, None]), 0, outputs)
    >>> display.sets
    ('{0}', '{0, 2}', 'Θ')
    """

    def __init__(
        self,
        outputs: FloatArray,
        masses: FloatArray,
        sets: Sequence[str],
        *,
        name: str = "unit",
        instances: Mapping[str, FloatArray] | None = None,
    ) -> None:
        self.outputs = outputs
        self.masses = masses
        self.sets = tuple(sets)
        self.name = name
        self.instances = dict(instances or {})

    @classmethod
    def from_evidence(
        cls,
        evidence: MassEvidence,
        unit: str | int,
        outputs: Any,
        *,
        top: int = 8,
        sets: Sequence[Collection[Label]] | None = None,
        instances: Mapping[str, FloatArray] | None = None,
    ) -> Self:
        """Return a Display of the unit's own mass function in every row.

        Parameters
        ----------
        evidence : Evidence or DiscountedEvidence
            Evidence whose components are the units, best over an even grid of outputs.
        unit : str or int
            Name or position of the component.
        outputs : array of shape (n,)
            Output of the unit in each row.
        top : int
            Sets drawn at most; the others are pooled.
        sets : sequence of collections of class labels, optional
            Draw these sets, in this order: several displays then share their line styles.
        instances : mapping of name to array, optional
            Outputs for groups of instances, drawn along the axis.

        Returns
        -------
        UnitDisplay
            Call its :meth:`plot`.
        """
        alone = component_alone(evidence, unit, outputs)
        curves = mass_curves(alone, top, sets)
        return cls(curves.values, curves.masses, curves.sets, name=curves.name, instances=instances)

    def plot(self, ax: Axes | None = None, *, legend: bool = True) -> Self:
        """Draw the masses against the output; on new axes if ``ax`` is None.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.
        legend : bool
            Whether to draw a legend.

        Returns
        -------
        UnitDisplay
            The object itself, with ``ax_`` and ``figure_``.
        """
        self.ax_, self.figure_ = axes_for(ax)
        draw_masses(self.ax_, self.outputs, self.masses, self.sets)
        dress_curves(self.ax_, f"output of {axis_name(self.name)}", self.instances, legend=legend)
        return self

    def _repr_html_(self) -> str:
        return drawn_html(self)
