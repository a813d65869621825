"""Pages in a browser: opened without a network, looked at, and checked to be open to all."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe

NAMES = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run",
]  # fmt: skip
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}


class Visit:
    """A page that is open, with what it asked for and complained of."""

    def __init__(self, browser, folder: Path, **settings):
        self.context = browser.new_context(offline=True, **({"viewport": DESKTOP} | settings))
        self.page = self.context.new_page()
        self.requests, self.complaints = [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._hear)
        page = folder if folder.suffix == ".html" else folder / "report.html"
        self.address = page.as_uri()
        self.page.goto(self.address)

    def _hear(self, message):
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def until(self, expression: str):
        """Wait until an expression is true (Playwright's own way is refused by the page)."""
        end = time.monotonic() + 20.0
        while not self.page.evaluate(expression):
            assert time.monotonic() < end, expression
            time.sleep(0.02)

    def draw_all(self):
        """Scroll to every figure, and wait until it is drawn."""
        for name in self.figures():
            self.page.evaluate(f"document.getElementById('{name}').scrollIntoView()")
            self.until(f"document.getElementById('{name}').dataset.drawn === 'true'")

    def seen(self, figure: str) -> list[list[str]]:
        """The lines that are drawn, panel by panel: a name for every trace with something in it."""
        return self.page.eval_on_selector_all(
            f"#{figure} .plot",
            """plots => plots.map(plot => [...plot.querySelectorAll(".scatterlayer .trace")]
               .filter(trace => [...trace.querySelectorAll("path")].some(path => {
                   const box = path.getBBox(); return box.width + box.height > 0; }))
               .map(trace => trace.__data__[0].trace.meta))""",
        )

    def put(self, figure: str) -> list[list[str]]:
        """The lines that the figure is made of, panel by panel."""
        content = json.loads(self.page.locator(f"#{figure} script").text_content())
        return [
            [trace["meta"] for trace in panel["data"] if trace["x"]] for panel in content["panels"]
        ]

    def axis(self, figure: str, name: str) -> dict:
        """Type and range of an axis of the first panel, as drawn."""
        return self.page.eval_on_selector(
            f"#{figure} .plot",
            "(plot, name) => (({type, range}) => ({type, range}))(plot._fullLayout[name])",
            name,
        )

    def place(self, figure: str, line: str, point: int) -> tuple[float, float]:
        """Where a point of a line of the first panel is on the screen."""
        self.page.locator(f"#{figure} .plot").first.scroll_into_view_if_needed()
        return tuple(
            self.page.eval_on_selector(
                f"#{figure} .plot",
                """(plot, [line, point]) => {
                    const { xaxis, yaxis } = plot._fullLayout, box = plot.getBoundingClientRect();
                    const trace = plot.data.find(one => one.meta === line && one.text);
                    return [box.x + xaxis._offset + xaxis.d2p(trace.x[point]),
                            box.y + yaxis._offset + yaxis.d2p(trace.y[point])]; }""",
                [line, point],
            )
        )

    def figures(self) -> list[str]:
        return self.page.eval_on_selector_all("figure", "all => all.map(one => one.id)")

    def overflow(self) -> int:
        """By how much the page is wider than the screen, with all tables unfolded."""
        unfold = "document.querySelectorAll('details').forEach(one => { one.open = %s })"
        self.page.evaluate(unfold % "true")
        width = self.page.evaluate("document.documentElement.scrollWidth")
        self.page.evaluate(unfold % "false")
        return width - self.page.viewport_size["width"]


def brightness(visit) -> int:
    """Of the page behind the text, from 0 to 765."""
    colour = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    return sum(int(part) for part in colour[4:-1].split(","))


def complaints_of_axe(visit: Visit) -> list[Any]:
    """Return what axe-core minds in light and in dark, except minor things."""
    drawings = {"exclude": [[".svg-container"]]}  # each is one image, with its numbers beside
    violations = {"resultTypes": ["violations"]}
    found = Axe().run(visit.page, drawings, violations).response["violations"]
    visit.page.locator("#theme").click()  # what else there is than colours is the same in dark
    colours = {"type": "rule", "values": ["color-contrast"]}
    found += (
        Axe().run(visit.page, drawings, {"runOnly": colours} | violations).response["violations"]
    )
    return [
        (one["impact"], one["help"], [node["target"] for node in one["nodes"]][:3])
        for one in found
        if one["impact"] != "minor"
    ]
