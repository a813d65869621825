"""The list of the built-in trainers, their names, and how text becomes a trainer.

To add one, import it here like the others and put it in `BUILT_IN`. Its name in text, its export
from `neurotron.trainers`, its place in the compiled loop and the tests all follow from that.
"""

from __future__ import annotations

from neurotron._references import is_reference
from neurotron._registry import Registry, parse
from neurotron.trainers.base import Trainer
from neurotron.trainers.clipped_sgd import ClippedSGD as ClippedSGD
from neurotron.trainers.clipped_tron import ClippedTron as ClippedTron
from neurotron.trainers.first_sample_sgd import FirstSampleSGD as FirstSampleSGD
from neurotron.trainers.huber_sgd import HuberSGD as HuberSGD
from neurotron.trainers.neuro_tron import NeuroTron as NeuroTron
from neurotron.trainers.neuro_tron import ScheduledTron
from neurotron.trainers.refined_tron import RefinedTron as RefinedTron
from neurotron.trainers.sgd import SGD as SGD
from neurotron.trainers.trimmed_sgd import TrimmedSGD as TrimmedSGD

BUILT_IN: tuple[type[Trainer], ...] = (
    NeuroTron,
    RefinedTron,
    SGD,
    FirstSampleSGD,
    ClippedTron,
    ClippedSGD,
    HuberSGD,
    TrimmedSGD,
)

RESOLVED: tuple[type[Trainer], ...] = (ScheduledTron,)
"""What a built-in trainer may become once a run is known; it has no name of its own in text."""

BY_NAME: Registry[Trainer] = Registry.of("trainer", BUILT_IN, Trainer)


def build(text: str, *, step_size: float | str) -> Trainer:
    """Return the trainer that `text` describes.

    Neuro-Tron and those that need a step size have η = `step_size` unless the text gives another;
    the others find their own.

    >>> build("sgd", step_size=1e-4), build("refined-tron", step_size=1e-4)
    (SGD(step_size=0.0001), RefinedTron())
    """
    return BY_NAME.build(text, **({"step_size": step_size} if takes_step_size(text) else {}))


def step_size_of(text: str, step_size: float) -> float | None:
    """Return the step size of the trainer that `build` returns, None if it finds its own.

    >>> step_size_of("sgd", 1e-4), step_size_of("neuro-tron:step_size=fastest", 1e-4)
    (0.0001, None)
    """
    said = parse(text)[1].get("step_size", step_size if takes_step_size(text) else None)
    return None if said is None or isinstance(said, str) else float(said)


def takes_step_size(text: str) -> bool:
    """Return whether a trainer is compared with others at one step size."""
    name, _ = parse(text)
    known = name in BY_NAME or is_reference(name)
    return known and (name == "neuro-tron" or BY_NAME.parameters(name).get("step_size") == "")
