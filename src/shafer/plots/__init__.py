"""Pictures of evidence: one scikit-learn-style Display per file, drawn with matplotlib.

A Display is made from arrays; ``from_...`` computes them; ``plot(ax=...)`` draws, keeps ``ax_`` and
``figure_``, returns the Display, and never shows it. Colours are safe for colour-blind readers, and
line styles and labels say the same without them. May import ``fusion``, ``evidence`` and below,
never ``models`` or ``datasets``: where an explainer is needed, any function from X to evidence will
do.
"""

from shafer.plots.dependence import DependenceDisplay
from shafer.plots.error_imprecision import ErrorImprecisionDisplay
from shafer.plots.interval import IntervalDisplay
from shafer.plots.interval_calibration import IntervalCalibrationDisplay
from shafer.plots.mass import MassDisplay
from shafer.plots.region import RegionDisplay
from shafer.plots.risk_coverage import RiskCoverageDisplay
from shafer.plots.set_confusion import SetConfusionDisplay
from shafer.plots.source_conflict import SourceConflictDisplay
from shafer.plots.summary import SummaryDisplay
from shafer.plots.uncertainty import UncertaintyDisplay
from shafer.plots.unit import UnitDisplay
from shafer.plots.waterfall import WaterfallDisplay

__all__ = [
    "DependenceDisplay",
    "ErrorImprecisionDisplay",
    "IntervalCalibrationDisplay",
    "IntervalDisplay",
    "MassDisplay",
    "RegionDisplay",
    "RiskCoverageDisplay",
    "SetConfusionDisplay",
    "SourceConflictDisplay",
    "SummaryDisplay",
    "UncertaintyDisplay",
    "UnitDisplay",
    "WaterfallDisplay",
]
