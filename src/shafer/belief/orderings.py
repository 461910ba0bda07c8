r"""Partial orders by commitment: which of two mass functions is more informative.

Each function tells whether the first mass function is *at least as committed* as the second, up to
a tolerance. The orders are partial: two mass functions may be incomparable.

References
----------
D. Dubois, H. Prade, "A set-theoretic view of belief functions", International Journal of General
Systems 12 (1986) 193-226.

T. Denœux, "Conjunctive and disjunctive combination of belief functions induced by nondistinct
bodies of evidence", Artificial Intelligence 172 (2008) 234-264.
"""

from __future__ import annotations

import numpy as np

from shafer.belief.combination import common_frame
from shafer.belief.mass import MassFunction


def is_w_more_committed(
    first: MassFunction,
    second: MassFunction,
    *,
    tolerance: float = 1e-9,
    with_empty_set: bool = False,
) -> bool:
    r"""Return True if :math:`m_1 \sqsubseteq_w m_2`: no weight of evidence is smaller in the first.

    Parameters
    ----------
    first, second : MassFunction
        Nondogmatic mass functions on one frame.
    tolerance : float, default=1e-9
        By how much a weight of the first may fall short.
    with_empty_set : bool, default=False
        False compares the nonempty strict subsets, as Denœux (2019, §2.1) does: combining with a
        separable mass function by Dempster's rule makes more committed. True compares the empty
        set as well, as Denœux (2008) does: then the conjunctive rule takes the place of
        Dempster's, and the order implies the other two below. Without the empty set it does not,
        since normalisation raises plausibilities.

    Returns
    -------
    bool

    See Also
    --------
    is_pl_more_committed : The same for plausibilities.
    is_q_more_committed : The same for commonalities.

    Examples
    --------
    >>> from shafer.belief import Frame
    >>> frame = Frame(["a", "b"])
    >>> strong, weak = (MassFunction.simple("a", frame, weight=w) for w in (2, 1))
    >>> is_w_more_committed(strong, weak), is_w_more_committed(weak, strong)
    (True, False)
    """
    common_frame([first, second])
    compared = slice(0 if with_empty_set else 1, -1)
    return bool(np.all(first.weights[compared] >= second.weights[compared] - tolerance))


def is_pl_more_committed(
    first: MassFunction, second: MassFunction, *, tolerance: float = 1e-9
) -> bool:
    r"""Return True if :math:`m_1 \sqsubseteq_{pl} m_2`: :math:`Pl_1(A) \le Pl_2(A)` for every A.

    Parameters
    ----------
    first, second : MassFunction
        On one frame.
    tolerance : float, default=1e-9
        By how much a plausibility of the first may exceed that of the second.

    Returns
    -------
    bool

    See Also
    --------
    is_q_more_committed : The same for commonalities.
    is_w_more_committed : The same for weights of evidence.

    Examples
    --------
    >>> from shafer.belief import Frame
    >>> frame = Frame(["a", "b"])
    >>> strong, weak = (MassFunction.simple("a", frame, weight=w) for w in (2, 1))
    >>> is_pl_more_committed(strong, weak), is_pl_more_committed(weak, strong)
    (True, False)
    """
    common_frame([first, second])
    return bool(np.all(first.plausibility <= second.plausibility + tolerance))


def is_q_more_committed(
    first: MassFunction, second: MassFunction, *, tolerance: float = 1e-9
) -> bool:
    r"""Return True if :math:`m_1 \sqsubseteq_q m_2`: :math:`Q_1(A) \le Q_2(A)` for every A.

    Parameters
    ----------
    first, second : MassFunction
        On one frame.
    tolerance : float, default=1e-9
        By how much a commonality of the first may exceed that of the second.

    Returns
    -------
    bool

    See Also
    --------
    is_pl_more_committed : The same for plausibilities.
    is_w_more_committed : The same for weights of evidence.

    Examples
    --------
    >>> from shafer.belief import Frame
    >>> frame = Frame(["a", "b"])
    >>> strong, weak = (MassFunction.simple("a", frame, weight=w) for w in (2, 1))
    >>> is_q_more_committed(strong, weak), is_q_more_committed(weak, strong)
    (True, False)
    """
    common_frame([first, second])
    return bool(np.all(first.commonality <= second.commonality + tolerance))
