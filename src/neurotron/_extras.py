"""Optional dependencies, imported when needed; the error says how to install a missing one."""

from __future__ import annotations

import importlib
import sys
import warnings
from typing import Any

from neurotron._check import shorten

EXTRA_OF = dict.fromkeys(
    ("filelock", "jinja2", "matplotlib", "plotly", "polars", "pydantic", "rich", "typer"), "lab"
) | {"distributed": "cluster", "safetensors": "sklearn", "sklearn": "sklearn"}


class MissingExtra(ImportError):
    """An optional dependency is not installed, or cannot be loaded."""


def install(extra: str) -> str:
    """Return the command that installs an extra.

    >>> install("lab")
    "pip install '.[lab]' in a checkout of neurotron"
    """
    return f"pip install '.[{extra}]' in a checkout of neurotron"


def require(module: str) -> Any:
    """Import and return `module`; if that fails, the error says how to install it, or why.

    A module that is installed may still fail to load, for example for lack of memory.
    """
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module) if module in sys.modules else _whole(module)
    except Exception as error:  # when memory is short, imports fail in many ways
        if isinstance(error, ModuleNotFoundError) and (error.name or "").startswith(package):
            raise MissingExtra(f"this needs {package}: {install(EXTRA_OF[package])}") from error
        raise MissingExtra(f"{package} is installed but {unloadable(error)}") from error


def unloadable(error: Exception) -> str:
    """Return the part of an error message about a package whose import raised this error."""
    reason = shorten(" ".join(f"{type(error).__name__}: {error}".split()))
    return f"cannot be loaded ({reason}): free some memory, or install it again"


def _whole(module: str) -> Any:
    """Import a module; refuse polars without its compiled part, for which it only warns."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*binary is missing")
        return importlib.import_module(module)
