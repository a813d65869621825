"""Finds the study that a folder of results belongs to."""

from __future__ import annotations

import json
from typing import TypeVar

from neurotron import _check
from neurotron.lab.results.damages import Damages
from neurotron.lab.results.fits import Fits
from neurotron.lab.results.loading import AnyResults
from neurotron.lab.results.sharing import once
from neurotron.lab.results.stored import Stored
from neurotron.lab.results.tables import Results
from neurotron.lab.studies.building import arm_rows
from neurotron.lab.studies.claim_names import check_claims
from neurotron.lab.studies.completion import complete
from neurotron.lab.studies.kinds import AnyStudy
from neurotron.lab.studies.rows_spec import RowsStudy
from neurotron.lab.studies.spec import BaseStudy, Study
from neurotron.lab.studies.tables_spec import TablesStudy

__all__ = ["any_study_of", "study_of"]

S = TypeVar("S", bound=BaseStudy)


@once
def study_of(results: Results) -> Study:
    """Return the study that results belong to; raise an error if their manifest holds none.

    `load_results` checks only the parts of a manifest that tables need. Here the whole study is
    checked.
    """
    study = _study(results, Study)
    try:
        arms = {setting.name: arm_rows(study, setting) for setting in study.settings}
    except ValueError as error:
        raise _no_study(results, error) from None
    if arms != results.folder.manifest["arms"]:
        raise _other_version(results)
    return study


def any_study_of(results: AnyResults) -> AnyStudy:
    """Return the study that results of any kind belong to; raise an error if there is none."""
    if isinstance(results, Fits):
        return _rows_study_of(results)
    if isinstance(results, Damages):
        return _tables_study_of(results)
    return study_of(results)


@once
def _rows_study_of(results: Fits) -> RowsStudy:
    return _study(results, RowsStudy)


@once
def _tables_study_of(results: Damages) -> TablesStudy:
    return _study(results, TablesStudy)


def _study(results: Stored, model: type[S]) -> S:
    try:
        study = complete(json.dumps({**results.spec, "replicates": 1}), model)
        check_claims(study.claims, study.of_kind)
    except ValueError as error:
        raise _no_study(results, error) from None
    if study.identity() != results.spec:
        raise _other_version(results)
    return study


def _no_study(results: Stored, error: ValueError) -> _check.InputError:
    file = results.folder.path / "manifest.json"
    return _check.InputError(f"{file}: it holds no valid study: {error}")


def _other_version(results: Stored) -> _check.InputError:
    return _check.InputError(
        f"{results.folder.path / 'manifest.json'}: its study and arms are not as this version "
        "would write them: restore the original file, or use the version that wrote it"
    )
