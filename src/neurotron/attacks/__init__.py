"""Attacks: what is done to the labels, one formula per attack.

>>> import neurotron as nt
>>> nt.attacks.AlternatingSign(bound=0.25, probability=0.5)
AlternatingSign(bound=0.25, probability=0.5)
"""

from neurotron.attacks.base import Attack
from neurotron.attacks.budget import Budget
from neurotron.attacks.catalog import *  # noqa: F403  (type checkers see every attack)
from neurotron.attacks.catalog import BUILT_IN, build
from neurotron.attacks.catalog import BY_NAME as BY_NAME
from neurotron.attacks.query import Query

__all__ = ["Attack", "Budget", "Query", "build"]
__all__ += [kind.__name__ for kind in BUILT_IN]


def __dir__() -> list[str]:
    return sorted(__all__)
