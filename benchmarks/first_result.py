"""``python -m benchmarks.first_result NAME``: first results, from the start of Python.

It also runs with the old code that cold starts are compared with, so it uses only what both have.
"""

import dataclasses
import sys
import tempfile

import neurotron as nt

__all__ = ["NAMES", "paper_study", "two_trainers"]


def two_trainers() -> None:
    """Train Neuro-Tron and SGD under one attack."""
    problem = nt.Problem.draw(nt.networks.symmetric(100, 25, 10, seed=1), nt.Normal())
    attack = nt.attacks.AlternatingSign(0.25, 0.5)
    nt.simulate(problem, [nt.NeuroTron(1e-4), nt.SGD(1e-4)], attack=attack, steps=100)


def paper_study() -> None:
    """Run one replicate of all settings and arms of the paper's study, for a few steps."""
    if hasattr(nt, "lab"):
        study, run = nt.lab.read("paper"), nt.lab.run
        settings = [setting | {"steps": 100} for setting in study.settings]
        study = dataclasses.replace(study, settings=settings)
    else:  # the old code
        study, run = nt.studies.read("paper"), nt.studies.run  # type: ignore[attr-defined]
        study = study.model_copy(update={"steps": 100})
    with tempfile.TemporaryDirectory() as place:
        run(study, f"{place}/paper", replicates=1, workers=1)


NAMES = {"two-trainers": two_trainers, "paper-study": paper_study}

if __name__ == "__main__":
    NAMES[sys.argv[1]]()
