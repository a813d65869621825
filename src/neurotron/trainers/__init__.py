"""How w moves: one algorithm per file, each a direction × an influence."""

from neurotron._registry import Registry
from neurotron.trainers.arm import Arm
from neurotron.trainers.base import Trainer
from neurotron.trainers.first_sample_sgd import FirstSampleSGD
from neurotron.trainers.neuro_tron import NeuroTron
from neurotron.trainers.sgd import SGD

__all__ = ["BY_NAME", "SGD", "Arm", "FirstSampleSGD", "NeuroTron", "Trainer"]

BY_NAME: Registry[Trainer] = Registry(
    "trainer",
    {"neuro-tron": NeuroTron, "sgd": SGD, "first-sample-sgd": FirstSampleSGD},
)
