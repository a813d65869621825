"""A claim, what was found about it, and the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from neurotron._digits import counted
from neurotron._intervals import Interval
from neurotron._json import record
from neurotron.lab.claims.effects import Phrase, cases, described

HOLDS = "holds"
PUBLISHED_CODE_ONLY = "true of the published code only"
DOES_NOT_HOLD = "does not hold"
UNDECIDED = "undecided"
NOT_TESTED = "not tested"
VERDICTS = (HOLDS, PUBLISHED_CODE_ONLY, DOES_NOT_HOLD, UNDECIDED, NOT_TESTED)
MARKS = dict(zip(VERDICTS, "✓◐✗?–", strict=True))
"""The mark of every verdict."""
VERBS = (
    ("holds", "hold"), (f"is {PUBLISHED_CODE_ONLY}", f"are {PUBLISHED_CODE_ONLY}"),
    ("does not hold", "do not hold"), ("is undecided", "are undecided"),
    ("is not tested", "are not tested"),
)  # fmt: skip
"""The verdicts as said of one claim and of several."""

FEWEST = 5
"""Replicates below which a finding does not count."""


def above(limit: float, found: Interval) -> bool | None:
    """Tell whether a number is above a limit: None if its interval has values on both sides.

    >>> above(0.0, Interval(0.2, 0.1, 0.3)), above(0.0, Interval(0.1, -0.1, 0.3))
    (True, None)
    """
    return True if found.low > limit else False if found.high <= limit else None


def below(limit: float, found: Interval) -> bool | None:
    """Tell whether a number is below a limit: None if its interval has values on both sides."""
    return True if found.high < limit else False if found.low >= limit else None


def at_least(limit: float, found: Interval) -> bool | None:
    """Tell whether a number is not below a limit: None if its interval has values on both sides."""
    return None if (less := below(limit, found)) is None else not less


def at_most(limit: float, found: Interval) -> bool | None:
    """Tell whether a number is not above a limit: None if its interval has values on both sides."""
    return None if (more := above(limit, found)) is None else not more


def between(low: float, high: float, found: Interval) -> bool | None:
    """Tell whether a number is in a range, ends included: None if its interval crosses an end."""
    return every((at_least(low, found), at_most(high, found)))


def every(outcomes: Iterable[bool | None]) -> bool | None:
    """Tell whether all are true: False if one is false, else None if one is undecided.

    >>> every([True, None]), every([None, False]), every([])
    (None, False, True)
    """
    seen = set(outcomes)
    return False if False in seen else None if None in seen else True


@dataclass(frozen=True)
class Finding:
    """One measurement that supports or contradicts a claim."""

    case: str
    """Where: a setting, or a comparison of two."""
    measure: str
    """What the number is, and what the claim asks of it."""
    estimate: float
    low: float
    high: float
    replicates: int
    """How many independent replicates there are."""
    holds: bool | None
    """None if the interval does not decide."""
    as_published: bool = True
    """Whether it is the paper's own comparison; else one that the paper's words mean."""
    group: str = ""
    """What it is a comparison with, if a claim makes several kinds: they are reported apart."""
    worst: float | None = None
    """The value of the run that is worst for the claim, if the claim is about every run."""
    count: int | None = None
    """How many of `total` runs, replicates or networks there are, if something is counted."""
    total: int | None = None

    @classmethod
    def of(
        cls, case: str, measure: str, interval: Interval, replicates: int, *,
        holds: bool | None, as_published: bool = True, group: str = "",
        worst: float | None = None, count: int | None = None, total: int | None = None,
    ) -> Finding:  # fmt: skip
        """Return the finding of an interval."""
        decided = None if holds is None else bool(holds)
        return cls(
            case, measure, *interval, replicates, decided, as_published,
            group, None if worst is None else float(worst), count, total,
        )  # fmt: skip


@dataclass(frozen=True)
class Claim:
    """A statement, its source, the check that tests it on results, and the figures that show it."""

    name: str
    statement: str
    check: Callable[[Any], list[Finding]]
    """Returns the findings of results of a study: none if they have nothing that tests it."""
    source: str = "added by this package, not in the paper"
    """The place in the paper, or that this package adds it."""
    from_paper: bool = False
    """Whether the paper makes it; else it is ours, and is counted apart."""
    figures: Sequence[str] = ()
    """The names of the charts that show it."""
    section: str = ""
    """The section of the report that shows it, if there is one, as in "certificates"."""
    broader_than_published: bool = False
    """Whether its words mean more than the paper's own comparison."""
    short: str = ""
    """The statement in a few words, for a line of a terminal or a headline."""
    phrase: Phrase = field(default_factory=Phrase)
    """How its findings are put into words: by default their estimates."""
    study: str = ""
    """The study of the catalog that it was written for; empty if it is for any."""


@dataclass(frozen=True)
class Judgement:
    """The findings about a claim, and the verdict that follows from them."""

    claim: Claim
    findings: tuple[Finding, ...]

    @property
    def conclusive(self) -> tuple[Finding, ...]:
        """The findings with enough replicates."""
        return tuple(found for found in self.findings if found.replicates >= FEWEST)

    @property
    def inconclusive(self) -> tuple[Finding, ...]:
        """The findings with too few replicates."""
        return tuple(found for found in self.findings if found.replicates < FEWEST)

    @property
    def verdict(self) -> str:
        """One of `VERDICTS`, decided by the weakest finding.

        If the paper's own comparison was run, but what its words mean was run with too few
        replicates or not at all, the claim is true of the published code only.
        """
        published = [found.holds for found in self.conclusive if found.as_published]
        meant = [found.holds for found in self.conclusive if not found.as_published]
        if not published and not meant:
            return NOT_TESTED
        silent = not meant or any(not found.as_published for found in self.inconclusive)
        if published and self.claim.broader_than_published and silent:
            meant.append(False)
        if published and every(published) is True and every(meant) is False:
            return PUBLISHED_CODE_ONLY
        if every(published) is False or (not published and every(meant) is False):
            return DOES_NOT_HOLD
        return HOLDS if every([*published, *meant]) is True else UNDECIDED

    @property
    def effect(self) -> str:
        """What was measured, in a few words with numbers."""
        if self.verdict == NOT_TESTED:
            if self.findings:
                return f"fewer than {FEWEST} replicates are too few to judge by"
            return "the study does not test this claim"
        parts = [described(self.conclusive, self.claim.phrase)]
        if self.claim.broader_than_published and all(found.as_published for found in self.findings):
            parts.append("only the paper's own comparison was run")
        elif self.inconclusive:
            few = f"not counted, with fewer than {FEWEST} replicates: {cases(self.inconclusive)}"
            parts.append(few)
        return "; ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON; infinite numbers become None."""
        claim = record(self.claim, "name", "statement", "short", "source", "from_paper")
        return claim | record(self, "verdict", "effect", "findings")


def tally(judgements: Sequence[Judgement]) -> str:
    """Return how many claims of the paper and how many of ours have each verdict, in words."""
    theirs, ours = (
        _counted([one.verdict for one in judgements if one.claim.from_paper == from_paper])
        for from_paper in (True, False)
    )
    if not theirs:
        return ours
    return f"The paper: {theirs} Ours: {ours}" if ours else f"The paper: {theirs}"


def _counted(verdicts: Sequence[str]) -> str:
    """Return how often there is each verdict.

    >>> _counted(["holds", "holds", "undecided"])
    '2 of 3 claims hold, 1 is undecided.'
    """
    total, counts = len(verdicts), Counter(verdicts)
    parts = [
        f"{counts[verdict]}{{}} {verbs[counts[verdict] > 1]}"
        for verdict, verbs in zip(VERDICTS, VERBS, strict=True)
        if counts[verdict]
    ]
    of = f" of {counted(total, 'claim')}"
    return ", ".join(parts).format(of, *[""] * len(parts)) + "." if parts else ""
