"""A certificate: a radius, how surely it holds, and under which hypotheses."""

from __future__ import annotations

import math
import textwrap
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Literal

from neurotron.guarantees.assumptions import Assumption

__all__ = ["Certificate", "Kind", "finite"]

WIDTH = 96
"""Columns of a printed certificate."""

Kind = Literal["theorem", "plug-in", "empirical"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Certificate(ABC):
    """A statement about ‖w − w*‖, which prints as a paragraph with its assumptions.

    `kind` says what it rests on: "theorem" (the law is known, all constants are exact or on the
    safe side), "plug-in" (constants taken from rows of data), "empirical" (only measured).
    """

    kind: Kind
    radius: float
    """‖w − w*‖ is at most this with probability 1 − failure; inf if nothing is guaranteed."""
    failure: float
    assumptions: tuple[Assumption, ...]

    @property
    @abstractmethod
    def statement(self) -> str:
        """What is guaranteed, in one paragraph."""

    @property
    def holds(self) -> bool:
        """Whether anything is guaranteed."""
        return math.isfinite(self.radius)

    @property
    def confidence(self) -> float:
        """The chance with which the radius is right, at least."""
        return 1.0 - self.failure

    @property
    def failed(self) -> tuple[Assumption, ...]:
        """The assumptions that do not hold."""
        return tuple(assumption for assumption in self.assumptions if not assumption.holds)

    @property
    def chance(self) -> str:
        """The confidence as text that is not above it."""
        text = f"{self.confidence:g}"
        return text if float(text) <= 1.0 - self.failure < 1.0 else f"1 − {self.failure:g}"

    def __str__(self) -> str:
        lines = [textwrap.fill(str(a), WIDTH, subsequent_indent="    ") for a in self.assumptions]
        title = ["Assumptions:"] if lines else []
        return "\n".join([textwrap.fill(self.statement, WIDTH), *title, *(f"  {x}" for x in lines)])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON; what is infinite is None."""
        return {
            "kind": self.kind,
            "statement": self.statement,
            "holds": self.holds,
            "radius": finite(self.radius),
            "confidence": self.confidence,
            "failure": self.failure,
            "assumptions": [assumption.to_dict() for assumption in self.assumptions],
        }


def finite(value: float | None) -> float | None:
    """Return a number as JSON has it: None for one that is infinite."""
    return value if value is not None and math.isfinite(value) else None
