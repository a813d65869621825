"""The laboratory: studies, their results, claims, charts and pages (extra `lab`).

>>> import neurotron as nt
>>> study = nt.lab.read("smoke")
>>> [setting["title"] for setting in study.settings]
['N(0, 1)', 'Laplace(1)']
"""

from __future__ import annotations

import importlib
from typing import Any

from neurotron._extras import require

_HOME = {
    "neurotron.lab.claims": ["CLAIMS", "VERDICTS", "Claim", "Finding", "Judgement", "evaluate"],
    "neurotron.lab.claims.model": ["above", "at_least", "at_most", "below", "between"],
    "neurotron.lab.figures.chart": ["Chart", "Line", "Panel"],
    "neurotron.lab.figures.collection": ["charts"],
    "neurotron.lab.figures.render_matplotlib": ["draw"],
    "neurotron.lab.figures.styles": ["Style", "styles"],
    "neurotron.lab.pages.headline": ["Headline"],
    "neurotron.lab.pages.page": ["report"],
    "neurotron.lab.results.results": ["Results", "load"],
    "neurotron._intervals": ["Interval"],
    "neurotron.lab.results.summary": ["bootstrap", "median", "rate"],
    "neurotron.lab.results.text_table": ["TextTable"],
    "neurotron.lab.running": ["run"],
    "neurotron.lab.store.files": ["StorageError"],
    "neurotron.lab.studies.reading": ["catalog", "parse", "read", "template"],
    "neurotron.lab.training.runs": ["Runs"],
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'neurotron.lab' has no attribute {name!r}")
    require("polars")
    require("pydantic")
    value = getattr(importlib.import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
