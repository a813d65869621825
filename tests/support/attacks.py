"""Every built-in attack, made without naming it: a new one is tested as soon as it is listed."""

from __future__ import annotations

from typing import Any

import numpy as np

import neurotron as nt
from neurotron._registry import kebab_case

TELLING = {"share": 0.1, "cutoff": 2.5, "scale": 2.0}
"""Numbers of attacks that make a difference in a short run; others are ½."""


STREAMED = [kind for kind in nt.attacks.BUILT_IN if kind.scope != "rows"]
"""The attacks that a simulation can run; the others need a table of rows."""


def own_settings(kind: type[nt.Attack], filter_size: int) -> dict[str, Any]:
    """Return what a built-in attack needs besides `bound` and `probability`."""
    name, draw = kebab_case(kind.__name__), np.random.default_rng(5)
    registry = nt.attacks.BY_NAME
    numbers, vector = registry.text_parameters(name), draw.standard_normal(filter_size)
    return {
        setting: TELLING.get(setting, 0.5) if setting in numbers else vector
        for setting, default in registry.parameters(name).items()
        if default == "" and setting not in ("bound", "probability")
    }  # fmt: skip


def example(kind: type[nt.Attack], filter_size: int = 4, **budget: float) -> nt.Attack:
    """Return a built-in attack on a network with a filter of that size."""
    return kind(**budget, **own_settings(kind, filter_size))
