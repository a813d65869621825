"""One browser for all pages."""

from __future__ import annotations

import os

import pytest
from playwright.sync_api import sync_playwright
from tests.support.browsers import ARGUMENTS, BROWSER, Visit


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
