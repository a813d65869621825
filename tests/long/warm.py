"""Imported by the process that the killed ones are forked from: it loads the compiled code once."""

from __future__ import annotations

from pathlib import Path

import neurotron as nt
from neurotron.studies.unit import run_unit

STUDY = b"""
name = "damaged"
title = "What is damaged"
steps = 300
replicates = 2
trainers = { tron = "neuro-tron:step_size=fastest", sgd = "sgd" }

[[cohorts]]
name = "normal"
n_inputs = 12
filter_size = 4
step_size = 0.02
network = "symmetric:width=4"
sweeps = [{ bound = [0, 0.25, 1] }]

[[cohorts]]
name = "laplace"
like = "normal"
law = "laplace"
"""


def run(folder: Path, replicates: int) -> None:
    """Run the study: what a process does until it is killed."""
    nt.studies.run(nt.studies.parse(STUDY, "study"), folder, replicates=replicates, workers=1)


run_unit(nt.studies.parse(STUDY, "study").model_dump_json(), "normal", 0)
