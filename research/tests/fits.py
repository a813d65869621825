"""Folders of a study of rows in which the truth is known, because it is made up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import neurotron as nt
from neurotron.lab.results.fits import SOLVED, Fits, cells_of, load_fits
from neurotron.lab.results.folder import Folder, manifest_of
from neurotron.lab.results.manifest import FITTING
from neurotron.lab.results.rows import plain_rows

__all__ = ["ROWS", "made_fits", "rows_study"]

ROWS = """
name = "few"
kind = "rows"
claims = [CLAIMS]
[[settings]]
name = "paper"
title = "P"
network = "symmetric:width=2"
n_inputs = 6
filter_size = 2
rows_per_weight = [2, 4, 8, 16]
sweeps = [
  { attack = "none" },
  { attack = "constant", bound = 4, probability = [0.2, 0.4] },
  { attack = "picked-rows", bound = 1e6, probability = [0.2, 0.4] },
]
[[settings]]
name = "gate"
title = "G"
like = "paper"
network = "relu-gate"
n_inputs = 2
rows_per_weight = [2, 4, 8, 96]
[[settings]]
name = "rivals"
title = "R"
like = "paper"
rows_per_weight = 8
solvers = ["solve", "trim"]
sweeps = [{ attack = "constant", bound = 4, probability = 0.4 }]
[[settings]]
name = "noise"
title = "Z"
like = "paper"
noise = 0.1
rows_per_weight = [20, 80]
solvers = ["honest", "solve", "least-squares"]
sweeps = [{ attack = "none" }, { attack = "constant", bound = [0.1, 1], probability = 0.4 }]
"""


def rows_study(*claims: str) -> nt.lab.studies.RowsStudy:
    """Return the small study of rows, with these claims."""
    listed = ", ".join(f'"{name}"' for name in claims)
    study = nt.lab.studies.parse(ROWS.replace("CLAIMS", listed).encode(), "rows")
    assert isinstance(study, nt.lab.studies.RowsStudy)
    return study


Outcome = Callable[[str, int, dict[str, Any]], dict[str, Any]]


def made_fits(
    folder: Path, study: nt.lab.studies.RowsStudy, outcome: Outcome, replicates: int = 6
) -> Fits:
    """Return results whose fits are what `outcome(setting, replicate, fit)` says of them."""
    manifest = manifest_of(study.identity(), {}, {}, FITTING)
    with Folder.written(folder, manifest, False) as held:
        for setting in study.settings:
            for replicate in range(replicates):
                rows = []
                for cell in cells_of(setting.model_dump(mode="json")):
                    rows += walk(setting, replicate, cell, outcome)
                held.save(setting.name, replicate, plain_rows(rows))
    return load_fits(folder)


def walk(
    setting: nt.lab.studies.RowsSetting, replicate: int, cell: tuple[Any, ...], outcome: Outcome
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for ratio, size in zip(setting.rows_per_weight, setting.sizes, strict=True):
        row = dict(zip(("attack", "bound", "probability", "solver"), cell, strict=True))
        row |= {"rows_per_weight": ratio, "rows": size, "tampered": int(row["probability"] * size)}
        row |= {"error": 1e-15, "starts": None, "proven": None}
        if row["solver"] == "solve":
            row |= {"starts": 1, "proven": size // 2}
        rows.append(row | outcome(setting.name, replicate, row))
        last = [one["error"] <= SOLVED for one in rows[-2:]]
        if setting.noise == 0.0 and len(last) == 2 and all(last):
            break
    return rows
