"""The data of the components over all instances: their ranking by mean contrast."""

from __future__ import annotations

from typing import Any

import numpy as np

from shafer.report.page_data.json_text import all_few_digits, few_digits
from shafer.report.study import Study

_RANKED = 30


def components_payload(study: Study) -> dict[str, Any]:
    """Return the components by mean size of their contrast; the base rate has no rank."""
    means = study.mean_contrasts()
    base_rate = study.base_rate
    order = [g for g in np.argsort(-means, kind="stable").tolist() if g != base_rate]
    ranking = order[:_RANKED]
    return {
        "components": list(study.undiscounted.component_names),
        "ranking": ranking,
        "meanContrasts": all_few_digits(means[ranking]),
        "baseRate": base_rate,
        "sharesBaseRate": study.shares_base_rate,
        "meanBaseRate": None if base_rate is None else few_digits(means[base_rate]),
    }
