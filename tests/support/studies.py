"""Studies as text, and how their runs end: worlds in which it is known what must come out."""

from __future__ import annotations

import json
import math
from dataclasses import replace

from tests.support.results import ending_at, made

from neurotron.lab.claims import Judgement, catalog

PAPER = [name for name, claim in catalog.CLAIMS.items() if claim.study == "paper"]
PAPER += catalog.OF_ANY_STUDY

MIRROR = {"weights": (-3.0, -4.0), "errors": ending_at(10.0)}

DIVERGED = {"status": "diverged", "stopped_at": 3, "errors": ending_at(math.inf)}

LIKE_THE_PAPERS = f"""
name = "like-the-papers"
claims = {json.dumps(PAPER)}
[trainers]
Tron = "neuro-tron:sensing=center"
First = "first-sample-sgd"
SGD = "sgd"
[[settings]]
name = "normal"
title = "N"
network = "symmetric:width=10"
[[settings.sweeps]]
bound = [0, 0.125, 1, 4]
[[settings.sweeps]]
bound = 1
probability = [0, 0.1, 0.5, 0.9]
[[settings]]
name = "heavy"
title = "t"
like = "normal"
law = "student-t:dof=4"
"""

OUTER_WEIGHTS = f"""
name = "outer-weights"
claims = {json.dumps(PAPER)}
[trainers]
fast = "neuro-tron:sensing=center,step_size=1e-4"
slow = "neuro-tron:sensing=center,step_size=2e-5"
[[settings]]
name = "light"
network = "symmetric:width=100,outer_weights=1"
n_inputs = 50
filter_size = 20
batch_size = 64
[[settings.sweeps]]
bound = [0, 1]
[[settings]]
name = "heavy"
like = "light"
network = "symmetric:width=100,outer_weights=10"
[[settings]]
name = "of-other-sizes"
like = "light"
n_inputs = 5
"""

SGD_LOST = 4
"""Replicates in which SGD ends at the mirror, of 10."""


def as_in_the_paper(setting, replicate, arm):
    if arm["algorithm"] == "sgd" and replicate < SGD_LOST:
        return MIRROR
    factor, reached = {
        "neuro-tron": (1.0, 100), "first-sample-sgd": (3.0, None), "sgd": (0.5, 10),
    }[arm["algorithm"]]  # fmt: skip
    level = arm["bound"] * arm["probability"] or 1e-14
    return {"errors": ending_at(factor * level * (1.0 + 0.01 * replicate), reached)}


def like_the_paper(folder):
    return made(folder, LIKE_THE_PAPERS, as_in_the_paper, 10)


def judged(folder, name, world, study=LIKE_THE_PAPERS, replicates=9):
    """Return the judgement on a claim of runs that end as a world says."""
    claim = catalog.CLAIMS[name] if isinstance(name, str) else name
    return Judgement(claim, tuple(claim.check(made(folder, study, world, replicates))))


def part_of(study, *names, **changes):
    """Return a study with some of its settings, whose keys may be changed."""
    settings = [one | changes for one in study.settings if one["name"] in names]
    return replace(study, settings=settings, costs={})


def flat(setting, replicate, arm):
    return {"errors": ending_at(0.1)}


SMALL = b"""
name = "small"
steps = 100
[trainers]
"Neuro-Tron" = "neuro-tron"
[[settings]]
name = "a"
n_inputs = 8
filter_size = 2
network = "symmetric:width=2"
[[settings.sweeps]]
bound = [0.1, 1]
"""

STUDY = b"""
name = "small"
trainers = { "Neuro-Tron" = "neuro-tron" }
settings = [{ name = "a", n_inputs = 8, filter_size = 2, network = "symmetric:width=2" }]
"""


def as_claimed(setting, replicate, arm):
    """A world in which the paper is right, also about SGD."""
    size = 0.1 * arm["bound"] * arm["probability"]
    error = size * (1.0 + 0.02 * replicate) or 1e-15
    if arm["algorithm"] == "neuro-tron":
        return {"errors": ending_at(error, 10), "radius": 9.0}
    if arm["algorithm"] == "sgd" and replicate % 3 == 1:
        return MIRROR
    return {"errors": ending_at(2.0 * error, 100)}


CERTIFIED = """
name = "s"
verify = 100
[trainers]
Refined = "refined-tron"
slower = "refined-tron:pace=1"
Tron = "neuro-tron:step_size=scheduled"
constant = "neuro-tron:step_size=1e-3"
[[settings]]
name = "normal"
title = "N"
same_problem = true
sweeps = [
  { attack = "none" },
  { attack = "adaptive", bound = 1, probability = [0.4, 0.45] },
  { attack = "half-space", bound = 1, probability = 0.45 },
  { attack = "sign-flip", bound = 1e6, probability = 0.4 },
]
[[settings]]
name = "laplace"
title = "L"
like = "normal"
law = "laplace"
"""
"""Two laws on one problem each, with certified and uncertified arms, which are verified."""
