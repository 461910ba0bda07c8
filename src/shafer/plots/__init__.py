"""Pictures of evidence: one scikit-learn-style Display per file, drawn with matplotlib.

A Display is made from arrays; ``from_...`` computes them; ``plot(ax=...)`` draws, keeps ``ax_`` and
``figure_``, returns the Display, and never shows it. Colours are safe for colour-blind readers;
line styles and markers tell the same things apart. Files without ``_display`` in their names hold
what several Displays share. May import ``fusion``, ``evidence`` and below, never ``models`` or
``datasets``: instead of an explainer, a Display takes any function from X to evidence.
"""

from shafer.plots.deferral_display import DeferralDisplay
from shafer.plots.dependence_display import DependenceDisplay
from shafer.plots.error_imprecision_display import ErrorImprecisionDisplay
from shafer.plots.evidence_map_display import EvidenceMapDisplay
from shafer.plots.importance_display import ImportanceDisplay
from shafer.plots.interval_calibration_display import IntervalCalibrationDisplay
from shafer.plots.interval_display import IntervalDisplay
from shafer.plots.mass_display import MassDisplay
from shafer.plots.monitor_display import MonitorDisplay
from shafer.plots.region_display import RegionDisplay
from shafer.plots.risk_coverage_display import RiskCoverageDisplay
from shafer.plots.set_confusion_display import SetConfusionDisplay
from shafer.plots.source_conflict_display import SourceConflictDisplay
from shafer.plots.summary_display import SummaryDisplay
from shafer.plots.text_display import TextDisplay
from shafer.plots.uncertainty_display import UncertaintyDisplay
from shafer.plots.unit_display import UnitDisplay
from shafer.plots.waterfall_display import WaterfallDisplay

__all__ = [
    "DeferralDisplay",
    "DependenceDisplay",
    "ErrorImprecisionDisplay",
    "EvidenceMapDisplay",
    "ImportanceDisplay",
    "IntervalCalibrationDisplay",
    "IntervalDisplay",
    "MassDisplay",
    "MonitorDisplay",
    "RegionDisplay",
    "RiskCoverageDisplay",
    "SetConfusionDisplay",
    "SourceConflictDisplay",
    "SummaryDisplay",
    "TextDisplay",
    "UncertaintyDisplay",
    "UnitDisplay",
    "WaterfallDisplay",
]
