"""The targets of the benchmark, each with the figure that it is compared with.

The targets do not name the share of hidden inputs (2) or the event (3). Half of the inputs and one
draw were chosen before the first run. The others were added after it, and are marked.
"""

from __future__ import annotations

from asking.tables import Rows, count, figures, mean

ADDED = " (added later)"


def targets(rows: Rows) -> list[dict[str, str]]:
    """Return a line for each target."""
    return [*_missing(rows), *_wrong(rows)]


def _line(name: str, figure: str, met: bool) -> dict[str, str]:
    return {"target": name, "measured": figure, "met": "yes" if met else "no"}


def _missing(rows: Rows) -> list[dict[str, str]]:
    ours, theirs = "next/half loss: information", "next/half loss: entropy reduction"
    gap = mean(rows, ours) - mean(rows, theirs)
    won, lost = count(rows, ours, theirs, larger=False)
    fast = _ratio(rows, "next/time: second order", "next/time: entropy reduction")
    untuned = _ratio(rows, "next/time: second order", "next/time: entropy reduction, untuned")
    lines = [
        _line("1: log loss level with entropy reduction", f"{gap:+.4f}, {won}:{lost}", gap < 0.001),
        _line("1: second order, a tenth of its time, tuned", f"{fast:.2f}", fast <= 0.1),
        _line("1: second order, a tenth of its time, untuned", f"{untuned:.2f}", untuned <= 0.1),
    ]
    for share in ("quarter", "half", "three quarters"):
        key = f"overturn/{share}, auroc: "
        later = "" if share == "half" else ADDED
        chance = mean(rows, key + "overturn")
        ahead, behind = count(rows, key + "overturn", key + "1 − max-softmax", larger=True)
        part = ahead / len(figures(rows, key + "overturn"))
        counts = f"{part:.0%} ({ahead}:{behind})"
        lines += [
            _line(f"2: AUROC ≥ .86, {share} hidden{later}", f"{chance:.3f}", chance >= 0.86),
            _line(f"2: above max-softmax on 85 %, {share} hidden{later}", counts, part >= 0.85),
        ]
    for event in ("one draw", "at least 10%", "at least 25%", "at least 50%"):
        for kind in ("mean", "conditional", "naive Bayes, mean"):
            value = mean(rows, f"fragility/{kind}, {event}: fragility")
            name = f"3: AUROC ≥ .94, {kind}, {event}{'' if event == 'one draw' else ADDED}"
            lines.append(_line(name, f"{value:.3f}", value >= 0.94))
    return lines


def _wrong(rows: Rows) -> list[dict[str, str]]:
    lines = []
    for kind in ("mixed", "shift 4", "times ten"):
        stake = mean(rows, f"cells/{kind}, repaired: stake")
        ratio = stake / mean(rows, f"cells/{kind}, repaired: surprise")
        name = f"4: 1.5 × the repairs of the conditional z-score, {kind}"
        lines.append(_line(name, f"{ratio:.2f}", ratio >= 1.5))
    for kind in ("mixed", "shift 4", "times ten"):
        ratio = mean(rows, f"guard/{kind}, loss: guarded") / mean(
            rows, f"guard/{kind}, loss: winsorised"
        )
        name = f"5: log loss ≤ .85 × winsorising, {kind}"
        lines.append(_line(name, f"{ratio:.2f}", ratio <= 0.85))
    for other in ("plain", "winsorised"):
        more = mean(rows, "guard/none, loss: guarded") - mean(rows, f"guard/none, loss: {other}")
        lines.append(_line(f"5: clean rows at most +.005, {other}", f"{more:+.4f}", more <= 0.005))
    return lines


def _ratio(rows: Rows, ours: str, theirs: str) -> float:
    """Return the median ratio of two figures."""
    a, b = figures(rows, ours), figures(rows, theirs)
    ratios = sorted(a[name] / b[name] for name in a)
    return ratios[len(ratios) // 2]
