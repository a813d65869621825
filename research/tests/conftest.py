"""Long tests can be resumed here as well."""

from tests.long.conftest import pytest_runtest_makereport, pytest_runtest_setup

__all__ = ["pytest_runtest_makereport", "pytest_runtest_setup"]
