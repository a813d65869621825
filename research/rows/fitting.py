"""Turns a study of rows into work that the runner can compute."""

from __future__ import annotations

from functools import partial
from typing import Any

import polars as pl

from neurotron import _check, attacks
from neurotron._announce import announced
from neurotron.lab.results.fits import cells_of, sound_fits
from neurotron.lab.studies.building import build_problem, require_keys
from neurotron.lab.studies.claim_names import check_claims
from neurotron.lab.studies.completion import complete
from neurotron.lab.studies.fit import fit
from neurotron.lab.studies.rows_spec import RowsSetting, RowsStudy
from neurotron.lab.studies.work import Work

__all__ = ["check_rows", "work_of_rows"]

MOST_ENTRIES = 10**8
"""Largest number of entries of the inputs of a problem, 800 MB."""
MOST_FITS = 100_000
"""Largest number of fits of one unit."""


def work_of_rows(study: RowsStudy) -> Work:
    """Return the work of a study of rows, after building its problems and attacks as a check."""
    study = complete(study.model_dump_json(exclude_unset=True, warnings=False), RowsStudy)
    check_claims(study.claims, study.of_kind)
    with announced(f"neurotron: checking the study {study.name} ..."):
        check_rows(study)
    settings = {setting["name"]: setting for setting in study.identity()["settings"]}
    return Work(
        spec=study.identity(),
        units=study.units(),
        function=fit,
        costs={name: len(cells_of(setting)) for name, setting in settings.items()},
        check=partial(_require_sound, settings),
    )


def _require_sound(settings: dict[str, Any], setting: str, table: pl.DataFrame) -> None:
    sound_fits(settings[setting], table)


def check_rows(study: RowsStudy) -> None:
    """Build every problem and attack once, so that errors are found before anything is computed."""
    for setting in study.settings:
        try:
            _check_setting(study, setting)
        except _check.InputError as error:
            raise _check.InputError(f"setting {setting.name!r}: {error}") from None


def _check_setting(study: RowsStudy, setting: RowsSetting) -> None:
    require_keys(setting, setting.sweeps)
    entries = max(setting.sizes) * setting.n_inputs
    if entries > MOST_ENTRIES:
        raise _check.InputError(
            f"rows × n_inputs must be at most {MOST_ENTRIES:,}, got {entries:,}"
        )
    fits = len(setting.sizes) * len(cells_of(setting.model_dump(mode="json")))
    if fits > MOST_FITS:
        raise _check.InputError(f"a problem must have at most {MOST_FITS:,} fits, got {fits:,}")
    if setting.noise > 0.0 and "honest" not in setting.solvers:
        raise _check.InputError(
            "with noise, errors are compared with those of the solver 'honest': add it to `solvers`"
        )
    problem = build_problem(study, setting, 0)
    for sweep in setting.sweeps:
        for bound, probability in sweep.levels:
            attacks.build(sweep.attack, problem, bound=bound, probability=probability, seed=0)
