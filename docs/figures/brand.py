"""Draw the logo, the icon and the social card: a bar of evidence for, open, and against.

Run ``python docs/figures/brand.py``, and look at the files in ``docs/_static``.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
from matplotlib import pyplot
from matplotlib.font_manager import FontProperties
from matplotlib.image import imread
from matplotlib.path import Path as Outline
from matplotlib.textpath import TextPath

FIGURES = Path(__file__).parent
STATIC = FIGURES.parent / "_static"
FOR, OPEN, AGAINST = "#0072B2", "#9a9a9a", "#D55E00"
INK = {"logo-light.svg": "#14181f", "logo-dark.svg": "#f4f6f8"}
SHARES = ((FOR, 0.0, 15.0), (OPEN, 17.0, 9.0), (AGAINST, 28.0, 12.0))  # colour, start, length


def icon() -> str:
    """Return the icon: three bars, as long as the evidence for, open, and against."""
    bars = (
        f'<rect x="2" y="{y}" width="{width}" height="8" rx="2" fill="{colour}"/>'
        for y, width, colour in ((3, 28, FOR), (12, 12, OPEN), (21, 20, AGAINST))
    )
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">{"".join(bars)}</svg>\n'


def logo(ink: str) -> str:
    """Return the logo: the name above a bar in three parts."""
    bars = "".join(
        f'<rect x="{start * 1.5:g}" y="25" width="{length * 1.5:g}" height="5" fill="{colour}"/>'
        for colour, start, length in SHARES
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 -2 62 36" role="img">'
        f'<title>shafer</title><path d="{_word()}" fill="{ink}"/>{bars}</svg>\n'
    )


def _word() -> str:
    """Return the outline of the name, so that no font is needed to show it."""
    text = TextPath((0, 0), "shafer", size=20, prop=FontProperties(weight="bold"))
    wide = text.get_extents()
    letters = {Outline.MOVETO: "M", Outline.LINETO: "L", Outline.CURVE3: "Q", Outline.CURVE4: "C"}
    parts = []
    for points, code in text.iter_segments(curves=True, simplify=False):
        if code == Outline.CLOSEPOLY:
            parts.append("Z")
            continue
        pairs = [
            f"{(x - wide.x0) * 60 / wide.width:.2f} {19 - y:.2f}"
            for x, y in zip(points[::2], points[1::2], strict=True)
        ]
        parts.append(letters[code] + " ".join(pairs))
    return "".join(parts)


def social_card(file: Path) -> None:
    """Draw the card that a link to the site shows: name, one sentence, and the two men."""
    figure = pyplot.figure(figsize=(12, 6.3), facecolor="white")
    for colour, start, length in SHARES:
        figure.add_artist(
            pyplot.Rectangle((0.05 + start * 0.0055, 0.735), length * 0.0055, 0.022, color=colour)
        )
    figure.text(0.05, 0.79, "shafer", size=60, weight="bold", color=INK["logo-light.svg"])
    sentence = "The evidence behind a classifier's probabilities"
    figure.text(0.05, 0.635, sentence, size=26, color=INK["logo-light.svg"])
    ax = figure.add_axes((0.05, 0.03, 0.9, 0.54))
    ax.imshow(imread(FIGURES / "two-men.png"), interpolation="antialiased")
    ax.axis("off")
    figure.savefig(file, dpi=100, metadata={"Software": None})


if __name__ == "__main__":
    matplotlib.use("agg")
    (STATIC / "favicon.svg").write_text(icon(), "utf-8")
    for name, colour_of_ink in INK.items():
        (STATIC / name).write_text(logo(colour_of_ink), "utf-8")
    social_card(STATIC / "social-card.png")
