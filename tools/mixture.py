"""``python -m tools.mixture``: what the regressor loses if it looks for no attack in the noise.

It is fitted to the splits of the study of public tables, with the step that fits a mixture left
out. The run goes on where it stopped; its results are in out/mixture, and their medians in
docs/evidence/mixture.csv, which says which code it is of.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import neurotron as nt
from neurotron._types import Array
from neurotron.lab.results import files
from neurotron.lab.results.damage_summary import percent
from neurotron.lab.results.damages import middle
from neurotron.lab.studies.public_tables import Table
from neurotron.lab.studies.table_splits import Attack, attacked, split_of
from neurotron.lab.studies.tables_spec import TablesStudy
from neurotron.lab.studies.work import fingerprint
from neurotron.solvers import solver
from tools.tables_guide import CELL, ROOT, STORE

REPLICATES = 20


def _attacks() -> list[Attack]:
    """Return the attacks of the study of public tables, which are the same for all tables."""
    study = nt.lab.studies.read("tables")
    assert isinstance(study, TablesStudy)
    return [attack for sweep in study.settings[0].sweeps for attack in sweep.attacks]


def damages(
    text: str,
    setting: str,
    replicate: int,
    progress: Callable[[int, int], None] | None = None,
) -> list[dict[str, Any]]:
    """Return the damage to the regressor without a mixture on one split of a table."""
    from sklearn.linear_model import LinearRegression

    del text
    fit, test = split_of(setting, replicate)
    clean = _error(LinearRegression().fit(fit.X, fit.y), test)
    rows = []
    for attack in _attacks():
        error = _error(without_mixture(fit.X, attacked(fit, attack, replicate)), test)
        rows.append(attack._asdict() | {"damage": error / clean - 1.0})
    return rows


def without_mixture(X: Array, y: Array) -> nt.NeuroTronRegressor:
    """Return the regressor as it is fitted if it does not look for attacks in the noise."""
    with (
        warnings.catch_warnings(action="ignore"),
        mock.patch.object(solver, "hidden_attack", return_value=None),
    ):
        return nt.NeuroTronRegressor().fit(X, y)


def _error(model: Any, rows: Table) -> float:
    return float(((rows.y - model.predict(rows.X)) ** 2).mean() ** 0.5)


def main() -> None:
    """Compute what is missing, and store the medians."""
    study = nt.lab.studies.read("tables")
    names = [setting.name for setting in study.settings if setting.name != CELL]
    spec = {"name": "mixture", "settings": [{"name": name} for name in names]}
    units = [(name, number) for number in range(REPLICATES) for name in names]
    code = fingerprint(damages)["code"]
    folder = Path(ROOT / "out" / f"mixture-{code}")
    work = nt.lab.studies.Work(spec, units, damages)
    report = nt.lab.studies.run(work, folder, workers=1)  # one at a time, because of the patch
    if report.interrupted or report.failures:
        sys.exit(f"mixture: {len(report.failures)} units failed, see {folder / 'runs.jsonl'}")
    keys = ("setting", "name", "probability")
    lines = [f"# code: {code}", "setting,attack,probability,damage,low,high"]
    found = nt.lab.results.load_table(folder).group_by(keys, maintain_order=True)
    of_table: dict[str, list[str]] = {name: [] for name in names}
    for (setting, attack, share), group in found:
        numbers = ",".join(map(percent, middle(group["damage"].to_numpy())))
        of_table[str(setting)].append(f"{setting},{attack},{share:g},{numbers}")
    lines += [line for some in of_table.values() for line in some]
    files.write(STORE, "mixture.csv", ("\n".join(lines) + "\n").encode())


if __name__ == "__main__":
    main()
