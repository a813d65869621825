"""Trainers by name, and from text to a trainer."""

from __future__ import annotations

from neurotron._registry import Registry, parse
from neurotron.trainers.base import Trainer
from neurotron.trainers.clipped_sgd import ClippedSGD
from neurotron.trainers.clipped_tron import ClippedTron
from neurotron.trainers.first_sample_sgd import FirstSampleSGD
from neurotron.trainers.huber_sgd import HuberSGD
from neurotron.trainers.neuro_tron import NeuroTron
from neurotron.trainers.refined_tron import RefinedTron
from neurotron.trainers.sgd import SGD
from neurotron.trainers.trimmed_sgd import TrimmedSGD

__all__ = ["BY_NAME", "build", "step_size_of"]

BY_NAME: Registry[Trainer] = Registry(
    "trainer",
    {
        "neuro-tron": NeuroTron,
        "refined-tron": RefinedTron,
        "sgd": SGD,
        "first-sample-sgd": FirstSampleSGD,
        "clipped-tron": ClippedTron,
        "clipped-sgd": ClippedSGD,
        "huber-sgd": HuberSGD,
        "trimmed-sgd": TrimmedSGD,
    },
)


def build(text: str, *, step_size: float | str) -> Trainer:
    """Return the trainer that `text` describes, with η = `step_size` if it needs one and says none.

    >>> build("sgd", step_size=1e-4), build("refined-tron", step_size=1e-4)
    (SGD(step_size=0.0001), RefinedTron())
    """
    return BY_NAME.build(text, **({"step_size": step_size} if _needs_step_size(text) else {}))


def step_size_of(text: str, step_size: float | str) -> str:
    """Return what tables say of the step size of the trainer that `build` returns.

    >>> step_size_of("sgd", 1e-4), step_size_of("refined-tron", 1e-4)
    ('0.0001', 'its own')
    """
    said = parse(text)[1].get("step_size", step_size if _needs_step_size(text) else "its own")
    return said if isinstance(said, str) else str(float(said))


def _needs_step_size(text: str) -> bool:
    name, _ = parse(text)
    return name in BY_NAME and BY_NAME.settings(name).get("step_size") == ""
