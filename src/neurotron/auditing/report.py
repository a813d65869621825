"""`Audit`: what an audit found, in words, numbers and a picture."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neurotron._digits import percent, readable
from neurotron._intervals import Interval
from neurotron._json import plain
from neurotron._text import card
from neurotron.auditing.coefficients import Flip
from neurotron.auditing.finding import (
    ATTACKED,
    WORSE,
    Breaking,
    Ceiling,
    Check,
    Damage,
    InfluentialRow,
    Remedy,
    Verdict,
    worse,
)
from neurotron.auditing.job import Suspects

PRICE = 0.1
"""The largest price without an attack of an estimator that is recommended."""
EQUAL = 0.01
"""Rises of the error that differ by at most this part of it are equal: splits differ by more."""
MISSES: dict[Verdict, str] = {
    "exceeded": ", but misses the tolerance", "undecided": ", but may miss the tolerance"
}  # fmt: skip
"""What a headline says about a remedy, by its verdict."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Audit:
    """What attacks on the labels can do to an estimator, measured on rows that nobody touches.

    It prints as a summary. Intervals are of the mean over splits, at 95 %; the splits share rows,
    so they are about this table and not about new ones.
    """

    estimator: str
    """The audited estimator."""
    n_rows: int
    n_columns: int
    n_training: int
    """How many rows were fitted in each split."""
    n_tested: int
    """How many rows the damage was measured on in each split."""
    splits: int
    replicates: int
    """How often attacks that draw at random were repeated on each split."""
    seed: int
    table_sha256: str
    """The SHA-256 of the table: of inputs as numbers and labels."""
    label_range: tuple[float, float] | None
    clean_error: Interval
    """The root mean squared error on test rows without an attack, in units of the label."""
    unit: float
    """What relative damage is divided by, on average: the error without an attack, or a millionth
    of the spread of the labels if there is no error."""
    versus_least_squares: Interval
    """By which part that error is above that of least squares on the same splits."""
    transfers_only: bool
    """Whether no attack was worked out for this estimator itself, because its predictions are not
    linear in the labels: all are transferred from other models, and a better one may do more."""
    damages: tuple[Damage, ...]
    """What every attack does with every budget."""
    strongest: tuple[Damage, ...]
    """For every budget what the strongest attack on each split does: an attacker chooses."""
    ceilings: tuple[Ceiling, ...]
    """For every budget what no attack can exceed, or why that is not known."""
    tolerance: float | None
    """The largest acceptable rise of the error, in units of that without an attack."""
    max_change: float | None
    """The largest acceptable change of a prediction, in units of the label."""
    suspects: Suspects
    """The labels of the table that may be attacked already."""
    accept_suspects: int | None
    """Up to so many suspects were looked at by a person, who accepts them."""
    without_suspects: tuple[Damage, ...]
    """What the strongest attacks do if the suspects are left out of the table, for every budget;
    empty if there are none."""
    checks: tuple[Check, ...]
    """Each tolerance beside what was found, on all rows and without the suspects."""
    breaking: tuple[Breaking, ...]
    """For every bound the smallest number of rows that breaks the tolerance; empty without one."""
    influential: tuple[InfluentialRow, ...]
    """The rows whose labels matter most, the first one most."""
    remedies: tuple[Remedy, ...]
    """Other estimators under the strongest attacks on them with the largest budget, that with the
    smallest error first."""
    failures: tuple[str, ...] = ()
    """Remedies that could not be fitted, and why."""
    flips: tuple[Flip, ...] = ()
    """The fewest labels that flip the sign of each coefficient, in a fit to all rows, if all change
    by the largest bound; empty unless coefficients are linear in the labels."""

    @property
    def worst(self) -> Damage:
        """The attack that raises the error most, on average over the splits."""
        return max(self.damages or self.strongest, key=lambda damage: damage.relative.estimate)

    @property
    def largest(self) -> Damage:
        """What the strongest attacks with the largest budget do; remedies are compared with it."""
        return max(self.strongest, key=_size)

    @property
    def doubt(self) -> str:
        """Why suspects leave the verdict open, without a full stop; empty if they do not."""
        if self.accept_suspects is not None and self.suspects.count <= self.accept_suspects:
            return ""
        share, within = self.suspects.attacked_fraction, self._found == "within"
        if share is None:
            return f"Nobody could look for suspects: {self.suspects.reason}" * within
        if share.low > ATTACKED:
            return (
                f"At least {percent(share.low)} of the labels seem to be attacked already, so the "
                "rise of the error says little"
            )
        sides = {(check.what, check.verdict) for check in self.checks}
        if any({(what, "within"), (what, "exceeded")} <= sides for what in ("error", "change")):
            return (
                "The damage is within the tolerance on all rows and beyond it without the "
                "suspects, or the other way round"
            )
        alone = within and self.suspects.count > 0 and not self.without_suspects
        return "Without the suspects, the table cannot be audited" * alone

    @property
    def _found(self) -> Verdict:
        """The worst verdict of all checks, whatever the suspects say."""
        return worse(check.verdict for check in self.checks)

    @property
    def verdict(self) -> Verdict:
        """Whether the tolerances hold against an attacker who chooses the strongest attack.

        A tolerance is "exceeded" if the damage is larger, "within" if it is not, or if a ceiling
        is not, and "undecided" if the interval reaches beyond it. The damage with and without the
        suspects of the table counts, and the worst of all decides, unless suspects leave it open.
        """
        return "undecided" if self.checks and self.doubt else self._found

    @property
    def recommendation(self) -> Remedy | None:
        """The safest remedy that is clearly better and costs at most 10 % without an attack.

        Of those that are equal within 1 % of the error, one with a ceiling is preferred. While
        suspects leave the verdict open there is none, because a model that follows wrong labels
        seems better where it is tested on others of their kind.
        """
        better = [
            remedy for remedy in self.remedies
            if not self.doubt
            and math.isfinite(remedy.total.estimate)
            and remedy.saved.low > 0.0
            and remedy.price.estimate <= PRICE
        ]  # fmt: skip
        least = min((remedy.total.estimate for remedy in better), default=0.0) + EQUAL
        equal = (remedy for remedy in better if remedy.total.estimate <= least)
        return min(equal, key=lambda remedy: remedy.at_most is None, default=None)

    @property
    def poor_fit(self) -> str:
        """Why a small rise of the error would mean little; empty if it means something."""
        worse = self.versus_least_squares.estimate
        if worse <= WORSE:
            return ""
        return (
            f"{self.estimator} fits the labels {percent(worse)} worse than least squares on the "
            "same splits: a small rise means little, so compare errors under attack in units of "
            "the label."
        )

    @property
    def headline(self) -> str:
        """The result in one or two sentences."""
        worst = self.largest
        text = (
            f"{self.budget_words(worst)} can raise the error of {self.estimator} by "
            f"{_rise(worst.relative)}{_by(self)}"
        )
        remedy = self.recommendation
        if remedy is not None:
            text += f"; with {remedy.name} it {_changes(remedy.total)}{_by(remedy)}"
            text += f", {_price(remedy.price)}{MISSES.get(remedy.verdict, '')}"
        if self.suspects.count:
            text += f". In the table itself, {_suspects(self.suspects.count)}"
        if self.without_suspects:
            largest = max(self.without_suspects, key=_size)
            text += f"; without them the error can rise by {_rise(largest.relative)}{_by(self)}"
        return f"{text}."

    def budget_words(self, budget: Damage | Ceiling) -> str:
        """Return a budget in words: "10 % of the labels (33 of 332), moved by at most 1,"."""
        labels = f"{percent(budget.share)} of the labels ({budget.rows:,} of {self.n_training:,})"
        if math.isinf(budget.bound):
            return f"{labels}, changed to anything in their range,"
        return f"{labels}, moved by at most {readable(budget.bound, 4)},"

    # ---- output ----

    def __repr__(self) -> str:
        worst = self.worst
        return (
            f"Audit({self.estimator}, {self.n_rows:,} rows, worst attack {worst.attack}: error "
            f"+{percent(worst.relative.estimate)}, verdict {self.verdict!r})"
        )

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, width: int = 80) -> str:
        """Return a summary for a terminal of this width."""
        from neurotron.auditing.wording import as_text

        return as_text(self, width)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON; infinite numbers become None."""
        recommended = self.recommendation
        return {
            "headline": self.headline,
            "verdict": self.verdict,
            "doubt": self.doubt,
            **{name: plain(getattr(self, name)) for name in self.__dataclass_fields__},
            "suspects": {"count": self.suspects.count, **plain(self.suspects)},
            "worst": plain(self.worst),
            "poor_fit": self.poor_fit,
            "recommendation": None if recommended is None else recommended.name,
        }

    def _repr_html_(self) -> str:
        from neurotron.auditing.wording import ShownTable, sections

        facts = {"estimator": self.estimator, "rows": f"{self.n_rows:,}", "verdict": self.verdict}
        said = {section.key: section.parts for section in sections(self)}
        (table,) = (part for part in said["attacks"] if isinstance(part, ShownTable))
        return card("Audit", facts, columns=[*table.columns], rows=table.rows(), note=self.headline)

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw the damage of every attack, with its ceiling."""
        from neurotron.lab.figures import draw
        from neurotron.lab.figures.one_result import audit_chart

        return draw(audit_chart(self), path)

    def save_page(self, path: str | Path) -> Path:
        """Write the audit as one page for a browser, which needs no network."""
        from neurotron.lab.pages.audit_page import write_audit

        return write_audit(self, path)


def _size(damage: Damage) -> tuple[float, int]:
    """Return the size of a budget, by which the largest one is found."""
    return damage.bound * damage.share, damage.rows


def _rise(relative: Interval) -> str:
    return (
        percent(max(relative.estimate, 0.0)) if math.isfinite(relative.estimate) else "any amount"
    )


def _changes(total: Interval) -> str:
    """Return where the error is under attack, compared with that of another estimator without."""
    if total.estimate < 0.0:
        return f"stays {percent(-total.estimate)} lower than without an attack"
    return f"rises by {_rise(total)}"


def _by(found: Audit | Remedy) -> str:
    """Return what has to stand beside a number that a better attack may exceed."""
    return " (transfer attacks only)" * found.transfers_only


def _suspects(count: int) -> str:
    return f"{count:,} label{'s are suspects' if count > 1 else ' is a suspect'}"


def _price(price: Interval) -> str:
    if price.estimate <= 0.0:
        return "at no cost without an attack"
    return f"and costs {percent(price.estimate)} without an attack"
