"""Trainers: how the weights move, one algorithm per file.

>>> import neurotron as nt
>>> nt.trainers.build("sgd", step_size=0.1)
SGD(step_size=0.1)
"""

from neurotron.trainers.arm import Arm
from neurotron.trainers.base import Trainer
from neurotron.trainers.catalog import *  # noqa: F403  (type checkers see every trainer)
from neurotron.trainers.catalog import BUILT_IN, build
from neurotron.trainers.catalog import BY_NAME as BY_NAME
from neurotron.trainers.stages import Stages

__all__ = ["Arm", "Stages", "Trainer", "build"]
__all__ += [kind.__name__ for kind in BUILT_IN]


def __dir__() -> list[str]:
    return sorted(__all__)
