"""One browser for all pages."""

from __future__ import annotations

import os

import numpy as np
import pytest
from playwright.sync_api import sync_playwright
from research.cells import Grid, Scale
from tests.support.browsers import ARGUMENTS, BROWSER, Visit

from neurotron.lab.figures.chart import Chart, Panel


@pytest.fixture(scope="session")
def browser():
    if BROWSER is None and not os.environ.get("NEUROTRON_NEEDS_BROWSER"):
        pytest.skip("no Chromium here: apt-get install chromium to test pages in a browser")
    assert BROWSER is not None, "NEUROTRON_NEEDS_BROWSER is set, and there is no Chromium"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=BROWSER, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture
def visiting(browser):
    """Open pages that are closed after the test."""
    visits = []

    def visiting(folder, **settings):
        visits.append(Visit(browser, folder, **settings))
        return visits[-1]

    yield visiting
    for visit in visits:
        visit.context.close()


@pytest.fixture(scope="session")
def heat_map():
    """A chart of two heat maps."""
    values = np.array([[1e-14, 0.02], [0.1, np.inf]])
    grid = Grid(("0.25", "4"), values, 0.5 * values, 2.0 * values, values < 1e-3, "certified")
    panels = tuple(Panel(title, grid.legend, ("0.1", "0.4"), grid) for title in ("Tron", "SGD"))
    return Chart(
        "map", "Final error", "By β and θ.", "probability β", "bound θ", panels, x_log=False,
        y_log=False, y_range=(-0.5, 1.5), scale=Scale("error", 1e-14, 1.0),
        y_ticks=((0.0, "0.25"), (1.0, "4")),
    )  # fmt: skip
