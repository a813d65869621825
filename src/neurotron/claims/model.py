"""A claim, what was found about it, and the verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from neurotron.results.summary import Interval

__all__ = [
    "NOT_COVERED", "NOT_REPRODUCED", "ONLY_AS_PUBLISHED", "REPRODUCED", "VERDICTS", "Claim",
    "Finding",
]  # fmt: skip

REPRODUCED = "reproduced"
ONLY_AS_PUBLISHED = "reproduced only as published"
NOT_REPRODUCED = "not reproduced"
NOT_COVERED = "not covered"
VERDICTS = (REPRODUCED, ONLY_AS_PUBLISHED, NOT_REPRODUCED, NOT_COVERED)

FEWEST = 5
"""Replicates below which nothing is said."""


@dataclass(frozen=True)
class Finding:
    """One measurement that speaks for or against a claim."""

    case: str
    """Where: a cohort, or a comparison of two."""
    measure: str
    """What the number is, and what the claim asks of it."""
    estimate: float
    low: float
    high: float
    replicates: int
    holds: bool
    as_published: bool = True
    """Whether it is the paper's own comparison; else one that the paper's words mean."""

    @classmethod
    def of(
        cls, case: str, measure: str, interval: Interval, replicates: int, *,
        holds: bool, as_published: bool = True,
    ) -> Finding:  # fmt: skip
        """Return the finding of an interval."""
        return cls(case, measure, *interval, replicates, bool(holds), as_published)


@dataclass(frozen=True)
class Claim:
    """A statement, where it stands, and what was found."""

    name: str
    statement: str
    source: str
    findings: tuple[Finding, ...]
    means_more: bool = False
    """Whether its words mean more than the paper's own comparison."""

    @property
    def told(self) -> tuple[Finding, ...]:
        """The findings with enough replicates."""
        return tuple(found for found in self.findings if found.replicates >= FEWEST)

    @property
    def untold(self) -> tuple[Finding, ...]:
        """The findings with too few."""
        return tuple(found for found in self.findings if found.replicates < FEWEST)

    @property
    def verdict(self) -> str:
        """One of `VERDICTS`: a claim is as good as its weakest finding.

        Beside the paper's own comparison, the one that is meant does not count as holding if no
        runs, or too few, tell of it.
        """
        published = [found.holds for found in self.told if found.as_published]
        meant = [found.holds for found in self.told if not found.as_published]
        if not published and not meant:
            return NOT_COVERED
        silent = not meant or any(not found.as_published for found in self.untold)
        if published and self.means_more and silent:
            meant.append(False)
        if all(published) and all(meant):
            return REPRODUCED
        return ONLY_AS_PUBLISHED if published and all(published) else NOT_REPRODUCED

    @property
    def because(self) -> str:
        """Why, in a sentence."""
        if self.verdict == NOT_COVERED:
            if self.findings:
                return f"fewer than {FEWEST} replicates are not enough to tell"
            return "the study has no runs that speak of it"
        against = [found for found in self.told if not found.holds]
        few = f"; too few replicates tell of {_cases(self.untold)}" if self.untold else ""
        if self.means_more and all(found.as_published for found in self.findings):
            few = "; no runs compare with what its words mean"
        if not against:
            return f"it holds in {self._count(len(self.told), self.told)}{few}"
        count = self._count(len(against), self.told)
        return f"it does not hold in {count}: {_cases(against)}{few}"

    @staticmethod
    def _count(some: int, told: tuple[Finding, ...]) -> str:
        return f"{some} of {len(told)} comparison{'s' if len(told) > 1 else ''}"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON; what is infinite is None."""

        def plain(value: Any) -> Any:
            return None if isinstance(value, float) and not math.isfinite(value) else value

        findings = [
            {name: plain(value) for name, value in asdict(found).items()} for found in self.findings
        ]
        return {
            "name": self.name,
            "statement": self.statement,
            "source": self.source,
            "verdict": self.verdict,
            "because": self.because,
            "findings": findings,
        }


def _cases(findings: Sequence[Finding]) -> str:
    """Return the cases of findings, the first four by name."""
    cases = list(dict.fromkeys(found.case for found in findings))
    more = f" and {len(cases) - 4} more" if len(cases) > 4 else ""
    return "; ".join(cases[:4]) + more
