"""Many components shown as a few groups: a study with the same probabilities and fewer bars."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

from shafer.evidence import DiscountedEvidence, MassEvidence
from shafer.evidence.automatic_groups import N_GROUPS, automatic_groups
from shafer.report import instance_sentence
from shafer.report.study import Study

MOST_COMPONENTS = 12
"""With more components than this, besides the base rate, a report shows them in groups."""


@final
@dataclass(frozen=True, eq=False)
class GroupedStudy:
    """A study whose components are groups.

    Attributes
    ----------
    study : Study
        The same instances, with the evidence of the groups.
    members : list of lists of int
        The components in each group, in the order of the groups.
    single : Study
        The study with its components one by one.
    """

    study: Study
    members: list[list[int]]
    single: Study

    @property
    def n_groups(self) -> int:
        """The number of groups, without the base rate."""
        return len(self.members) - (self.study.base_rate is not None)

    def sentence(self, row: int) -> str:
        """Return a sentence about a row: it names single components, and describes the groups."""
        single = self.single.undiscounted
        titles = self.single.titles(row)
        return instance_sentence.sentence(self.study.evidence[row], titles, single[row])


def grouped_study(study: Study) -> GroupedStudy | None:
    """Join the components of a study into groups, if there are more than a reader can compare.

    Components that contradict each other over the instances are joined, as
    ``Evidence.grouped("auto")`` does.
    """
    ev = study.undiscounted
    if ev.n_components - (study.base_rate is not None) <= MOST_COMPONENTS:
        return None
    groups = automatic_groups(ev.unchanged_source(), ev.component_names, N_GROUPS)
    joined: MassEvidence = ev.grouped(groups)
    if isinstance(study.evidence, DiscountedEvidence):
        joined = ev.grouped(groups).discounted(study.evidence.reliability)
    return GroupedStudy(replace(study, evidence=joined), list(groups.values()), study)
