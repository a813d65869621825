"""A certificate: a radius, the probability with which it holds, and its assumptions."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Literal

from neurotron import _check
from neurotron._digits import up
from neurotron._json import record
from neurotron._text import WIDTH, card, wrap
from neurotron.guarantees.assumptions import Assumption, legend

__all__ = ["Certificate", "Kind"]

Kind = Literal["theorem (law)", "theorem (table)", "plug-in", "measured"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Certificate(ABC):
    """A statement about the error ‖w − w*‖. It prints as a paragraph with its assumptions.

    Its `kind` says what it rests on: "theorem (law)" is proved for the law of the inputs, "theorem
    (table)" is proved for a table of data whose rows are drawn with replacement, "plug-in" is an
    estimate (the constants of the theorem are computed from rows that do not meet all of its
    assumptions), and "measured" is not proved.
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
    def error_name(self) -> str:
        """What the radius is a bound on."""
        return "error ‖w − w*‖"

    @property
    def holds(self) -> bool:
        """Whether anything is guaranteed."""
        return math.isfinite(self.radius)

    @property
    def confidence(self) -> float:
        """The radius holds with at least this probability."""
        return 1.0 - self.failure

    @property
    def failed(self) -> tuple[Assumption, ...]:
        """The assumptions that do not hold."""
        return tuple(assumption for assumption in self.assumptions if not assumption.holds)

    @property
    def confidence_text(self) -> str:
        """The confidence as text, which never overstates it."""
        text = f"{self.confidence:g}"
        return text if float(text) <= 1.0 - self.failure < 1.0 else f"1 − {self.failure:g}"

    def to_text(self, width: int = WIDTH) -> str:
        """Return the statement and its assumptions, wrapped at words to lines of this width."""
        width = _check.integer("width", width, 1)
        lines = [wrap(self.statement, width)]
        if self.assumptions:
            lines.append(f"Assumptions ({legend(self.assumptions)}):")
        lines += [wrap(f"  {a}", width, hang="  ") for a in self.assumptions]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.to_text()

    @property
    def facts(self) -> dict[str, str]:
        """The main numbers as text, each with its name."""
        return {self.error_name: f"at most {up(self.radius)}"} if self.holds else {}

    def _repr_html_(self) -> str:
        rows = [(a.mark, a.explanation) for a in self.assumptions]
        return card(
            "Certificate", self.facts, rows=rows,
            columns=("", f"assumption ({legend(self.assumptions)})"),
            note=self.statement,
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON; infinite numbers become None."""
        return record(
            self, "kind", "statement", "holds", "radius", "confidence", "failure", "assumptions"
        )
