"""The rules by name, their options, and the function that applies them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, final

from array_api_compat import array_namespace

from shafer._checks.arrays import to_numpy
from shafer._masses.masses import Masses
from shafer._typing import Array
from shafer.decision import act_rules, class_rules
from shafer.decision.acts import Acts, check_alpha, check_reject, check_tolerance
from shafer.decision.set_utility import set_utility


@final
@dataclass(frozen=True)
class Rule:
    """A rule for any loss, its short form under 0-1 loss, and the options of both.

    Attributes
    ----------
    on_acts : callable
        From masses, a loss (acts, K) and the options to what is chosen, boolean (..., acts).
    on_classes : callable, optional
        From masses and options to the classes chosen under 0-1 loss; by default ``on_acts``.
    options : tuple of strings
        Those of ``DEFAULTS`` that it takes.
    precise : bool
        Whether it always chooses exactly one.
    bets : bool
        Whether it uses the masses before discounting only.
    success : callable
        From masses and alpha to 1 − the risk of naming each class, (..., K), as the rule measures
        it. ``reject`` is compared with it, for precise rules under 0-1 loss.
    """

    on_acts: Callable[..., Array]
    on_classes: Callable[..., Array] | None = None
    options: tuple[str, ...] = ()
    precise: bool = False
    bets: bool = False
    success: Callable[[Masses, float], Array] = lambda masses, _: masses.belief

    def of_classes(self, masses: Masses, **options: Any) -> Array:
        """Choose classes under 0-1 loss."""
        if self.on_classes is not None:
            return self.on_classes(masses, **options)
        belief = masses.belief
        xp = array_namespace(belief)
        zero_one = 1.0 - xp.eye(belief.shape[-1], dtype=belief.dtype, device=belief.device)
        return self.on_acts(masses, zero_one, **options)


EXPECTATIONS = ("probability", "pignistic", "lower", "upper", "hurwicz")
"""How ``utility_set`` weighs the classes; the last mixes lower and upper."""
DEFAULTS: MappingProxyType[str, Any] = MappingProxyType(
    {"alpha": 0.5, "tolerance": 0.65, "expectation": "probability"}
)
"""What the options are when they are not given."""


def _best_set(masses: Masses, tolerance: Any, expectation: str, alpha: float) -> Array:
    """Answer with the set of classes of largest expected utility, before discounting."""
    base = masses.base
    utility = set_utility(base.belief.shape[-1], tolerance)
    if expectation == "probability":
        return class_rules.most_probable_set(base.probability, utility)
    if expectation == "pignistic":
        return class_rules.most_probable_set(base.pignistic, utility)
    pessimism = {"lower": 1.0, "upper": 0.0}.get(expectation, alpha)
    xp = array_namespace(base.belief)
    return xp.asarray(base.best_sets(utility, pessimism), device=base.belief.device)


def _best_acts(
    masses: Masses, loss: Array, tolerance: Any, expectation: str, alpha: float
) -> Array:
    """Answer with the set of acts of largest expected utility, before discounting."""
    if tolerance in ("u65", "u80"):
        raise ValueError(
            f"tolerance={tolerance!r} cannot be used with a loss or utility. Pass a number from "
            "0.5 to 1 instead."
        )
    orness = check_tolerance(tolerance)
    return act_rules.best_set_of_acts(masses.base, loss, orness, expectation, alpha)


RULES: MappingProxyType[str, Rule] = MappingProxyType(
    {
        "plausibility": Rule(
            act_rules.least_lower_risk,
            class_rules.most_plausible,
            precise=True,
            success=lambda masses, _: masses.plausibility,
        ),
        "belief": Rule(act_rules.least_upper_risk, class_rules.most_believed, precise=True),
        "pignistic": Rule(
            act_rules.least_pignistic_risk,
            class_rules.most_probable_bet,
            precise=True,
            success=lambda masses, _: masses.pignistic,
        ),
        # The most probable class is the most plausible one.
        "expected_loss": Rule(
            act_rules.least_expected_loss,
            class_rules.most_plausible,
            precise=True,
            bets=True,
            success=lambda masses, _: masses.base.probability,
        ),
        "hurwicz": Rule(
            act_rules.least_hurwicz_risk,
            class_rules.between,
            ("alpha",),
            precise=True,
            success=lambda m, alpha: alpha * m.belief + (1.0 - alpha) * m.plausibility,
        ),
        # Under 0-1 loss the best act never loses, so that regret is loss.
        "minimax_regret": Rule(
            act_rules.least_upper_regret, class_rules.most_believed, precise=True
        ),
        "interval_dominance": Rule(
            act_rules.not_interval_dominated, class_rules.not_interval_dominated
        ),
        "maximality": Rule(act_rules.maximal, class_rules.not_interval_dominated),
        "e_admissible": Rule(act_rules.e_admissible_acts, class_rules.e_admissible),
        "weak_dominance": Rule(act_rules.not_weakly_dominated, class_rules.not_weakly_dominated),
        "utility_set": Rule(
            _best_acts, _best_set, ("tolerance", "expectation", "alpha"), bets=True
        ),
    }
)
"""The rules by name."""

PRECISE_RULES = tuple(name for name, rule in RULES.items() if rule.precise)
"""The rules that always choose exactly one class or act."""

BETTING_RULES = tuple(name for name, rule in RULES.items() if rule.bets)
"""The rules that decide as if there were no discount."""


def choose(
    masses: Masses,
    rule: str,
    acts: Acts | None = None,
    reject: float | None = None,
    options: Mapping[str, Any] = MappingProxyType({}),
) -> Array:
    """Apply a rule: boolean (..., K) under 0-1 loss, (..., acts) where there are acts.

    Parameters
    ----------
    masses : Masses
        The mass function of every row.
    rule : str
        One of ``RULES``.
    acts : Acts, optional
        What may be done; by default to name a class, under 0-1 loss.
    reject : float, optional
        The cost of naming no class, where there are no acts: then the set is the whole frame.
    options : mapping
        Of the names in ``DEFAULTS``; None stands for the default.

    Returns
    -------
    boolean array of shape (..., K) or (..., acts)
        True for what is chosen.

    See Also
    --------
    chosen_names : Turns the result into names.
    shafer.Evidence.decide : The same for evidence, with checks and labels.

    Examples
    --------
    >>> import shafer
    >>> from shafer.decision.rules import choose
    >>> from shafer._masses import PooledMasses
    >>> ev = shafer.Evidence.from_weights([[[0.9, -0.9], [-0.2, 0.2]]])
    >>> choose(PooledMasses(ev.pooled), "interval_dominance")
    array([[ True, False]])
    """
    chosen_rule = find_rule(rule)
    read = _read_options(rule, chosen_rule, options)
    if acts is not None:
        return _among_acts(masses, acts.loss, partial(chosen_rule.on_acts, **read))
    chosen = chosen_rule.of_classes(masses, **read)
    if reject is None:
        return chosen
    return _or_reject(
        masses, chosen, rule, check_reject(reject, zero_one=True), read.get("alpha", 0.5)
    )


def _among_acts(masses: Masses, loss: Array, on_acts: Callable[..., Array]) -> Array:
    """Apply a rule to all acts but those that are worse than some other whatever the class.

    No rule that compares single acts chooses them, and none needs them. ``utility_set`` leaves
    them out by definition: the ordered weighted average of a larger set puts less weight on its
    worst act, so a bad act could otherwise improve a set. A huge loss that stands for "never"
    would also set the scale on which the other acts are compared.
    """
    xp = array_namespace(loss)
    possible = xp.min(loss, axis=1) <= xp.min(xp.max(loss, axis=1))
    if bool(xp.all(possible)):
        return on_acts(masses, loss)
    chosen = on_acts(masses, xp.take(loss, xp.nonzero(possible)[0], axis=0))
    never = xp.zeros_like(chosen[..., :1])
    column = xp.cumulative_sum(xp.astype(possible, xp.int64)) - 1
    every = xp.where(possible, column, xp.full_like(column, chosen.shape[-1]))
    return xp.take(xp.concat([chosen, never], axis=-1), every, axis=-1)


def find_rule(rule: object) -> Rule:
    """Look a rule up by its name."""
    if not isinstance(rule, str) or rule not in RULES:
        raise ValueError(f"rule must be one of {', '.join(map(repr, RULES))}; got {rule!r}.")
    return RULES[rule]


def _or_reject(masses: Masses, chosen: Array, rule: str, cost: float, alpha: float) -> Array:
    """Choose every class where naming the best one is expected to cost more than rejecting."""
    if rule not in PRECISE_RULES:
        raise ValueError(
            f"Without a loss, reject= needs a rule that chooses one class "
            f"({', '.join(map(repr, PRECISE_RULES))}); got rule={rule!r}, reject={cost!r}."
        )
    xp = array_namespace(masses.belief)
    success = RULES[rule].success(masses, alpha)
    risk = 1.0 - xp.sum(xp.where(chosen, success, 0.0), axis=-1, keepdims=True)
    return chosen | (risk > cost + masses.rounding)


def _read_options(name: str, rule: Rule, options: Mapping[str, Any]) -> dict[str, Any]:
    """Check the options given, refuse those of other rules, and fill in the rest."""
    given = {option: value for option, value in options.items() if value is not None}
    for option in given:
        if option not in rule.options:
            takes = ", ".join(rule.options) or "no options"
            raise ValueError(
                f"rule {name!r} does not take {option}; got {option}={given[option]!r}. It takes "
                f"{takes}."
            )
    read = {option: given.get(option, DEFAULTS[option]) for option in rule.options}
    if "expectation" in read and read["expectation"] not in EXPECTATIONS:
        raise ValueError(
            f"expectation must be one of {', '.join(map(repr, EXPECTATIONS))}; "
            f"got {read['expectation']!r}."
        )
    if "alpha" in given and read.get("expectation", "hurwicz") != "hurwicz":
        raise ValueError(
            "alpha needs expectation='hurwicz'; got alpha and "
            f"expectation={read['expectation']!r}. Leave out alpha, or change the expectation."
        )
    if "alpha" in read:
        read["alpha"] = check_alpha(read["alpha"])
    return read


def chosen_names(chosen: Array, names: tuple[Any, ...]) -> list[Any]:
    """Write each row of a boolean array (..., names) as a tuple of names.

    Parameters
    ----------
    chosen : boolean array of shape (..., names)
        What is chosen, as :func:`choose` returns it.
    names : tuple
        The name of each class or act.

    Returns
    -------
    list of tuples

    See Also
    --------
    choose : Makes the boolean array.

    Examples
    --------
    >>> import numpy as np
    >>> from shafer.decision.rules import chosen_names
    >>> chosen_names(np.array([[True, False], [True, True]]), ("no", "yes"))
    [('no',), ('no', 'yes')]
    """
    array = to_numpy(chosen)
    if array.ndim > 2:
        return [chosen_names(row, names) for row in array]
    return [tuple(name for name, yes in zip(names, row, strict=True) if yes) for row in array]


# Which rule decides when costs are given and no rule is named.

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
    >>> from shafer.decision.rules import rule_for_costs
    >>> rule_for_costs({"loss": [[0, 5], [1, 1]]}, calibrated=True)
    'expected_loss'
    >>> rule_for_costs({}, calibrated=True) is None
    True
    """
    given = {name for name, value in options.items() if value is not None}
    costs = not given.isdisjoint(_COSTS) and given.isdisjoint(_OF_OTHER_RULES)
    return "expected_loss" if calibrated and costs else None
