"""Imported by the process that the killed ones are forked from: it loads the compiled code once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from tests.support.commands import study_text

import neurotron as nt
from neurotron.lab.training.unit import train

STUDY = study_text(steps=300, replicates=2).encode()


def trained(setting: dict[str, Any], replicate: int, seed: int, weights: Any) -> Any:
    """Train, in a study that has an array, too."""
    return train(setting, replicate, seed)


def study_of(content: bytes) -> nt.Study:
    """Return the study of a file, with an array."""
    data = {"weights": np.arange(9.0)}
    return replace(nt.lab.parse(content, "study.toml"), unit=trained, data=data)


def run(folder: Path, replicates: int) -> None:
    """Run the study: what a process does until it is killed."""
    nt.lab.run(study_of(STUDY), folder, replicates=replicates, workers=1)


train(dict(study_of(STUDY).settings[0]), 0, 0)
