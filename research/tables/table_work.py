"""Turns a study of public tables into work that the runner can compute."""

from __future__ import annotations

from functools import partial
from typing import Any

import polars as pl

from neurotron import _check
from neurotron._announce import announced
from neurotron._extras import require
from neurotron.lab.results.damages import cells_of, sound_damages
from neurotron.lab.studies.claim_names import check_claims
from neurotron.lab.studies.completion import complete
from neurotron.lab.studies.public_tables import table_of
from neurotron.lab.studies.table_unit import damage, estimator_of
from neurotron.lab.studies.tables_spec import TablesStudy
from neurotron.lab.studies.work import Work

__all__ = ["check_tables", "work_of_tables"]


def work_of_tables(study: TablesStudy) -> Work:
    """Return the work of a study of tables, after reading its tables and building its methods."""
    study = complete(study.model_dump_json(exclude_unset=True, warnings=False), TablesStudy)
    check_claims(study.claims, study.of_kind)
    with announced(f"neurotron: checking the study {study.name} ..."):
        check_tables(study)
    spec = study.identity()
    return Work(
        spec=spec,
        units=study.units(),
        function=damage,
        costs={one.name: len(cells_of(spec, one.name)) for one in study.settings},
        check=partial(_require_sound, spec),
    )


def _require_sound(spec: dict[str, Any], setting: str, table: pl.DataFrame) -> None:
    sound_damages(spec, setting, table)


def check_tables(study: TablesStudy) -> None:
    """Build every method and read every table, so that errors are found before computing."""
    require("sklearn")
    for setting in study.settings:
        shares = {attack.probability for sweep in setting.sweeps for attack in sweep.attacks}
        for label, text in study.methods_of(setting).items():
            try:
                for share in sorted(shares):
                    estimator_of(text, share)
            except _check.InputError as error:
                where = f"setting {setting.name!r}, method {label!r}"
                raise _check.InputError(f"{where}: {error}") from None
        table_of(setting.table_name)
