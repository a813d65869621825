"""How w moves: one algorithm per file, each a direction × an influence."""

from neurotron.trainers.arm import Arm
from neurotron.trainers.base import Trainer
from neurotron.trainers.clipped_sgd import ClippedSGD
from neurotron.trainers.clipped_tron import ClippedTron
from neurotron.trainers.first_sample_sgd import FirstSampleSGD
from neurotron.trainers.huber_sgd import HuberSGD
from neurotron.trainers.names import BY_NAME, build
from neurotron.trainers.neuro_tron import NeuroTron
from neurotron.trainers.refined_tron import RefinedTron
from neurotron.trainers.sgd import SGD
from neurotron.trainers.stages import Stages
from neurotron.trainers.trimmed_sgd import TrimmedSGD

__all__ = [
    "BY_NAME",
    "SGD",
    "Arm",
    "ClippedSGD",
    "ClippedTron",
    "FirstSampleSGD",
    "HuberSGD",
    "NeuroTron",
    "RefinedTron",
    "Stages",
    "Trainer",
    "TrimmedSGD",
    "build",
]
