"""Which rule decides when costs are given and no rule is named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_COSTS = ("loss", "utility", "reject")
_OF_OTHER_RULES = ("alpha", "tolerance", "expectation")


def rule_for_costs(options: Mapping[str, Any], *, calibrated: bool) -> str | None:
    """Return ``"expected_loss"`` if tempered or moderated evidence is given costs, else None.

    None means that the default does not depend on the costs. An option that expected loss does not
    take, such as ``tolerance``, asks for another rule.

    Parameters
    ----------
    options : mapping
        The options of :meth:`shafer.Evidence.decide`, where None stands for not given.
    calibrated : bool
        Whether the weights were tempered or moderated.

    Returns
    -------
    str or None

    See Also
    --------
    choose : Applies a rule by its name.
    shafer.Evidence.decide : Uses this to find its default rule.

    Examples
    --------
    >>> from shafer.decision import rule_for_costs
    >>> rule_for_costs({"loss": [[0, 5], [1, 1]]}, calibrated=True)
    'expected_loss'
    >>> rule_for_costs({}, calibrated=True) is None
    True
    """
    given = {name for name, value in options.items() if value is not None}
    costs = not given.isdisjoint(_COSTS) and given.isdisjoint(_OF_OTHER_RULES)
    return "expected_loss" if calibrated and costs else None
