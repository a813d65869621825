"""Writes the list of public names for type checkers.

Run ``python -m neurotron._names`` after changing the table of public names, which is in
``neurotron/__init__.py``.
"""

from __future__ import annotations

from pathlib import Path

import neurotron

STUB = Path(neurotron.__file__).with_suffix(".pyi")


def stub() -> str:
    """Return the stub file that type checkers read instead of ``neurotron/__init__.py``."""
    lines = ["# Written by `python -m neurotron._names` from the table in __init__.py.", ""]
    lines += [f"from neurotron import {name} as {name}" for name in vars(neurotron)["_SUBPACKAGES"]]
    for module, names in sorted(vars(neurotron)["_HOME"].items()):
        lines += [f"from {module} import {name} as {name}" for name in names]
    return "\n".join([*lines, "", "__version__: str", ""])


if __name__ == "__main__":
    STUB.write_text(stub(), "utf-8")
