"""Check in Chromium that everybody can use the built site and a report; ``make docs-check``.

Each page is opened in light and dark, at desktop and phone width. It fails when axe-core reports a
serious finding, when something is loaded from the network, when a page is wider than a phone, or
when a reader without a mouse cannot skip the menu, search, or reach the content.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, Page, sync_playwright
from playwright.sync_api import TimeoutError as NotInTime

from shafer.report import heart_study, write_report

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PAGES = (
    "index",
    "start/index",
    "start/installation",
    "start/which_number",
    "guide/index",
    "guide/explaining",
    "guide/deciding",
    "guide/plots",
    "auto_examples/index",
    "auto_examples/explain/plot_two_men",
    "reference/index",
    "reference/generated/shafer.Explainer",
    "reference/generated/shafer.combine",
    "background/theory",
    "glossary",
    "changelog",
    "search",
)
WIDTHS = {"desktop": (1280, 900), "phone": (390, 844)}
THEMES = ("light", "dark")
SERIOUS = ("serious", "critical")
UNFOLD = """() => {
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  for (const id of ["pin", "following", "alike"]) document.getElementById(id)?.click();
}"""
RUN_AXE = "() => axe.run().then(found => found.violations)"
# Text beyond the right edge of a phone. Code, tables and formulas have scroll bars of their own.
FIND_CUT_TEXT = """() => [...document.querySelectorAll("article p, article dt")]
  .filter(part => part.getBoundingClientRect().right > innerWidth + 1)
  .filter(part => !part.closest("table, pre, .math, .sig"))
  .map(part => part.textContent.trim().slice(0, 60))"""


def findings(site: Path) -> Iterator[str]:
    """Yield one line for each thing that is wrong with the site."""
    program = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if program is None:
        sys.exit(f"No browser was found. Install one of {', '.join(BROWSERS)}.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for theme in THEMES:
            for width in WIDTHS:
                yield from _findings_of_pages(browser, site, theme, width)
                with TemporaryDirectory() as folder:
                    yield from _findings_of_reports(browser, Path(folder), theme, width)
        yield from _findings_of_keyboard(browser, site)
        yield from _findings_of_search(browser, site)
        browser.close()


def _findings_of_pages(browser: Browser, site: Path, theme: str, width: str) -> Iterator[str]:
    for name in PAGES:
        page, loaded = _open(browser, site / f"{name}.html", theme, width)
        place = f"{name} ({theme}, {width})"
        yield from (f"{place}: loads {url} from the network" for url in loaded)
        wide = page.evaluate("document.documentElement.scrollWidth")
        if wide > WIDTHS[width][0]:
            yield f"{place}: the page is {wide} pixels wide and scrolls sideways"
        if cut := page.evaluate(FIND_CUT_TEXT):
            yield f"{place}: text is cut off at the right: {cut[:3]}"
        yield from _findings_of_axe(page, place)
        page.context.close()


def _findings_of_axe(page: Page, place: str) -> Iterator[str]:
    page.add_script_tag(path=AXE)
    for violation in page.evaluate(RUN_AXE):
        if violation["impact"] in SERIOUS:
            where = [" ".join(node["target"]) for node in violation["nodes"]]
            yield f"{place}: {violation['help']} ({violation['id']}) at {where[:3]}"


def _findings_of_reports(browser: Browser, folder: Path, theme: str, width: str) -> Iterator[str]:
    """Check a report with all that is folded opened and two cases compared, and a case alone."""
    study = heart_study(errors="laplace")
    for name, alone in (("report", False), ("case", True)):
        file = folder / f"{name}.html"
        write_report(study, file, [345] if alone else None, alone=alone)
        page, _ = _open(browser, file, theme, width)
        page.evaluate(UNFOLD)
        place = f"{name} ({theme}, {width})"
        wide = page.evaluate("document.documentElement.scrollWidth")
        if wide > WIDTHS[width][0]:
            yield f"{place}: the page is {wide} pixels wide and scrolls sideways"
        yield from _findings_of_axe(page, place)
        page.context.close()


def _open(browser: Browser, file: Path, theme: str, width: str) -> tuple[Page, list[str]]:
    """Open a page, and return it with the addresses that it loads from the network."""
    wide, high = WIDTHS[width]
    # The policy of a report admits its own script only, so not that of axe.
    context = browser.new_context(
        viewport={"width": wide, "height": high}, color_scheme=theme, bypass_csp=True
    )
    page, loaded = context.new_page(), []
    page.on("request", lambda sent: sent.url.startswith("http") and loaded.append(sent.url))
    page.goto(file.resolve().as_uri())
    page.wait_for_load_state("networkidle")
    return page, loaded


def _findings_of_keyboard(browser: Browser, site: Path) -> Iterator[str]:
    page, _ = _open(browser, site / "index.html", "light", "desktop")
    page.keyboard.press("Tab")
    if "skip" not in page.evaluate("document.activeElement.textContent").lower():
        yield "index: the first Tab does not reach a link that skips the menu"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    if not page.evaluate("document.querySelector('main').contains(document.activeElement)"):
        yield "index: after the link that skips the menu, Tab does not reach the content"
    page.keyboard.press("Control+k")
    page.keyboard.type("ignorance")
    if page.evaluate("document.activeElement.value") != "ignorance":
        yield "index: Ctrl+K does not open the search"
    page.context.close()


def _findings_of_search(browser: Browser, site: Path) -> Iterator[str]:
    page, _ = _open(browser, site / "search.html", "light", "desktop")
    page.goto(f"{(site / 'search.html').resolve().as_uri()}?q=ignorance")
    try:
        page.wait_for_selector("#search-results ul li a", timeout=10_000)
    except NotInTime:
        yield "search: no result for 'ignorance'"
    page.context.close()


if __name__ == "__main__":
    lines = list(findings(Path(sys.argv[1])))
    print("\n".join(lines))
    opened = f"{len(PAGES)} pages and 2 reports, {len(THEMES)} themes, {len(WIDTHS)} widths"
    print(f"{opened}: {len(lines)} findings")
    sys.exit(bool(lines))
