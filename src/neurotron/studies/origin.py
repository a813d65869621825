"""Finds the study that a folder of results belongs to."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from neurotron import _check
from neurotron.results.sharing import once
from neurotron.studies.building import arm_rows
from neurotron.studies.claim_names import check_claims
from neurotron.studies.completion import complete
from neurotron.studies.spec import Study

if TYPE_CHECKING:
    from neurotron.results.tables import Results

__all__ = ["study_of"]


@once
def study_of(results: Results) -> Study:
    """Return the study that results belong to; raise an error if their manifest holds none.

    `load_results` checks only the parts of a manifest that tables need. Here the whole study is
    checked.
    """
    file = results.folder.path / "manifest.json"
    try:
        study = complete(json.dumps({**results.spec, "replicates": 1}))
        check_claims(study.claims)
        arms = {setting.name: arm_rows(study, setting) for setting in study.settings}
    except ValueError as error:
        raise _check.InputError(f"{file}: it holds no valid study: {error}") from None
    if study.identity() != results.spec or arms != results.folder.manifest["arms"]:
        raise _check.InputError(
            f"{file}: its study and arms are not as this version would write them: restore the "
            "original file, or use the version that wrote it"
        )
    return study
