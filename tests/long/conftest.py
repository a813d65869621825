"""Long tests can be resumed: with NEUROTRON_RESUME=1 what passed with this code is skipped."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest
from tests.support import passed

RESUMES = os.environ.get("NEUROTRON_RESUME") == "1"


def pytest_runtest_setup(item: pytest.Item) -> None:
    if RESUMES and passed.is_known(item):
        pytest.skip("has passed with this code already (NEUROTRON_RESUME=1)")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Remember a test once it is torn down, because checks may be in what tears it down."""
    report = yield
    failed = item.stash.setdefault(passed.FAILED, False) or not report.passed
    item.stash[passed.FAILED] = failed
    if report.when == "teardown" and not failed:
        passed.remember(item)
    return report
