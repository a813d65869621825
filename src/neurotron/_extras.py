"""Optional dependencies: imported when needed, with a message that says how to get them."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["MissingExtra", "require"]

EXTRA_OF = dict.fromkeys(
    ("jinja2", "matplotlib", "plotly", "polars", "pydantic", "rich", "threadpoolctl", "typer"),
    "lab",
) | {"distributed": "cluster"}


class MissingExtra(ImportError):
    """An optional dependency is not installed."""


def require(module: str) -> Any:
    """Return the imported `module`, or say which extra brings it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingExtra(
            f"this needs {package}: pip install 'neurotron[{EXTRA_OF[package]}]'"
        ) from error
