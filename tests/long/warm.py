"""Imported by the process that the killed ones are forked from: it loads the compiled code once."""

from __future__ import annotations

from pathlib import Path

from neurotron.lab.studies.unit import train
from tests.support.commands import study_text

import neurotron as nt

STUDY = study_text(steps=300, replicates=2).encode()


def run(folder: Path, replicates: int) -> None:
    """Run the study: what a process does until it is killed."""
    nt.lab.studies.run(
        nt.lab.studies.parse(STUDY, "study"), folder, replicates=replicates, workers=1
    )


train(nt.lab.studies.parse(STUDY, "study").model_dump_json(), "normal", 0)
