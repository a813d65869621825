"""The one shape of a guarantee: a statement, how far off things may be, how surely, assuming what.

Certificates of training, verifications of a filter, proofs on the rows and ceilings of audits are
guarantees. Each adds what is its own; none of its theory is here.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, fields
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar, Literal

from neurotron import _check
from neurotron._digits import up
from neurotron._json import record
from neurotron._text import WIDTH, card, wrap

__all__ = ["STATED", "Assumption", "Guarantee", "Kind", "delta", "legend", "stated"]

Kind = Literal["theorem", "plug-in", "measured"]
STATED = "stated"
"""What is found of an assumption that nobody can check here: somebody states it."""
MARKS = {"✓": "checked", "•": "stated", "✗": "does not hold"}


@dataclass(frozen=True)
class Assumption:
    """One assumption of a guarantee.

    >>> failed = Assumption("λ1 > 0", "The pull λ1 towards the true weights is positive.",
    ...                     measured=-0.2, required="> 0", holds=False, remedy="Use another M.")
    >>> print(failed.explanation.partition(": ")[2])
    The pull λ1 towards the true weights is positive. This does not hold: it is -0.2. Use another M.
    """

    name: str
    statement: str
    """What is required, as a sentence."""
    measured: float | str
    """What is found: a number, or words; `STATED` if nobody checks it."""
    required: str
    holds: bool
    remedy: str = ""
    """What to change if it does not hold, as a sentence."""
    blocking: bool = True
    """Whether nothing is guaranteed without it; nearly symmetric rows may have a certificate."""

    def __str__(self) -> str:
        return f"{self.mark} {self.explanation}"

    @property
    def mark(self) -> str:
        """One of `MARKS`."""
        return ("•" if self.measured == STATED else "✓") if self.holds else "✗"

    @property
    def explanation(self) -> str:
        """What is required, what is found and, if it does not hold, what to change."""
        measured = self.measured if isinstance(self.measured, str) else f"it is {self.measured:.4g}"
        if not self.holds:
            text = f"{self.name}: {self.statement} This does not hold: {measured}. {self.remedy}"
            return text.rstrip()
        return (
            self.statement
            if isinstance(self.measured, str)
            else f"{self.statement} Here {measured}."
        )


def stated(name: str, statement: str) -> Assumption:
    """Return an assumption that nobody can check here."""
    return Assumption(name, statement, STATED, STATED, True)


def legend(assumptions: Iterable[Assumption]) -> str:
    """Return what the marks of these assumptions mean."""
    used = {assumption.mark for assumption in assumptions}
    return ", ".join(f"{mark} {words}" for mark, words in MARKS.items() if mark in used)


def delta(confidence: float) -> float:
    """Return δ = 1 − confidence, the probability with which a guarantee may fail.

    It is the difference of the decimal numbers as they are written: the binary number that stands
    for a confidence is off by up to 6e-17, which is a large part of a small δ. The largest
    confidence below 1 is 0.9999999999999999.

    >>> delta(0.95), delta(0.999999999), delta(0.9999999999999999)
    (0.05, 1e-09, 1e-16)
    """
    return float(1 - Decimal(repr(confidence)))


@dataclass(frozen=True, eq=False, kw_only=True)
class Guarantee(ABC):
    """What is guaranteed, how surely, and under which assumptions. It prints as a paragraph.

    Its `kind` says what it rests on: a "theorem" is proved, a "plug-in" is an estimate by a theorem
    whose constants are computed from rows that do not meet all of its assumptions, and what was
    "measured" is not proved.
    """

    derived: ClassVar[tuple[str, ...]] = ()
    """Properties that `to_dict` has beside the fields."""

    kind: Kind
    about: Literal["law", "table"] = "law"
    """What a theorem is about: the law of the inputs, or a table of data."""
    radius: float
    """The `quantity` is at most this with probability `confidence`; inf if there is no bound."""
    confidence: float
    assumptions: tuple[Assumption, ...]

    @property
    @abstractmethod
    def statement(self) -> str:
        """What is guaranteed, or why nothing is, in one paragraph."""

    @property
    @abstractmethod
    def quantity(self) -> str:
        """What the radius is a bound on."""

    @property
    def holds(self) -> bool:
        """Whether anything is guaranteed."""
        return math.isfinite(self.radius)

    @property
    def failed(self) -> tuple[Assumption, ...]:
        """The assumptions that do not hold."""
        return tuple(assumption for assumption in self.assumptions if not assumption.holds)

    @property
    def confidence_text(self) -> str:
        """The confidence as text, which never overstates it."""
        text = f"{self.confidence:g}"
        return text if float(text) <= self.confidence else f"1 − {up(delta(self.confidence))}"

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
        return {self.quantity: f"at most {up(self.radius)}"} if self.holds else {}

    def _repr_html_(self) -> str:
        rows = [(a.mark, a.explanation) for a in self.assumptions]
        return card(
            type(self).__name__, self.facts, rows=rows,
            columns=("", f"assumption ({legend(self.assumptions)})") if rows else (),
            note=self.statement,
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON; infinite numbers become None."""
        own = (field.name for field in fields(self) if field.repr)
        return record(self, "statement", "holds", "quantity", *self.derived, *own)

    def plot(self, path: str | Path | None = None, **more: Any) -> Any:
        """Draw the guarantee, if it has a picture.

        That of a certificate is the guaranteed error over the steps, beside the measured one if a
        `run` is given. That of a verification is the fraction of rows explained over the level.
        """
        from neurotron.lab.figures import draw
        from neurotron.lab.figures.one_result import guarantee_chart

        return draw(guarantee_chart(self, **more), path)
