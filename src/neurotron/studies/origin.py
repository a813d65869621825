"""The study that a folder of results is of."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from neurotron import _check
from neurotron.studies.building import arm_rows
from neurotron.studies.claim_names import check_claims
from neurotron.studies.completion import complete
from neurotron.studies.spec import Study

if TYPE_CHECKING:
    from neurotron.results.tables import Results

__all__ = ["study_of"]


def study_of(results: Results) -> Study:
    """Return the study of results, or say that their manifest cannot be of a study.

    `load_results` checks what tables need of a manifest; here all is checked that a study needs.
    """
    file = results.folder.path / "manifest.json"
    try:
        study = complete(json.dumps({**results.spec, "replicates": 1}))
        check_claims(study.claims)
        arms = {setting.name: arm_rows(study, setting) for setting in study.settings}
    except ValueError as error:
        raise _check.InputError(f"{file}: it holds no study that can be run: {error}") from None
    if study.identity() != results.spec or arms != results.folder.manifest["arms"]:
        raise _check.InputError(
            f"{file}: it does not say of its study and its arms what this version would: put it "
            "back as it was written, or use the version that wrote it"
        )
    return study
