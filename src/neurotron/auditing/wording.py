"""What is said about an audit, once: sections of sentences, tables and facts.

A terminal shows them with `as_text`, and a browser as the page of the audit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from neurotron import _check, _text, attacks
from neurotron._digits import counted, percent, readable, signed, up, with_ends
from neurotron._environment import package_version
from neurotron._intervals import Interval
from neurotron.auditing import sentences
from neurotron.auditing.attackers import KNOWING
from neurotron.auditing.finding import STRONGEST, Ceiling, Damage

if TYPE_CHECKING:
    from neurotron.auditing.report import Audit

LEAST_NAME = 22
"""So many characters of a name are shown even if a table is then too wide for the terminal."""
MOST_ROWS = 40
"""How many of the suspects are listed."""
NONE = "–"
"""What a table shows where there is nothing."""
MEASURES = {
    "error": "rise of the error (RMSE)",
    "mean": "shift of the mean prediction",
    "worst": "shift of a single prediction",
}


class ShownTable(NamedTuple):
    """A table, whose first column names the rows."""

    columns: dict[str, list[str]]
    words: tuple[str, ...] = ()
    """The columns that hold words and not numbers."""
    wide: tuple[str, ...] = ()
    """The columns for which a terminal has no room."""

    def rows(self) -> list[tuple[str, ...]]:
        """Return the cells row by row."""
        return [*zip(*self.columns.values(), strict=True)]


class Facts(NamedTuple):
    """Names, and what there is to say about each."""

    known: dict[str, str]
    title: str = ""
    """If it is given, a page shows them when somebody opens this title, and a terminal does not."""


class Section(NamedTuple):
    """A part of what is said, and the name of its place on a page."""

    key: str
    title: str
    parts: tuple[str | ShownTable | Facts, ...]


def as_text(audit: Audit, width: int, *, label: str = "", rows: Sequence[int] | None = None) -> str:
    """Return an audit for a terminal; `rows` are numbers of rows in a file, from 1."""
    width = max(_check.integer("width", width, 1), 40)
    summary = (
        audit.headline, sentences.verdict_words(audit), audit.poor_fit,
        sentences.suspects_words(audit),
    )  # fmt: skip
    shown = [_text.wrap(words, width) for words in summary if words]
    for section in sections(audit, label=label, rows=rows):
        parts = [text for part in section.parts if (text := _shown(part, width))]
        shown += [f"{section.title.upper()}\n{parts[0]}", *parts[1:]]
    return "\n\n".join(shown)


def _shown(part: str | ShownTable | Facts, width: int) -> str:
    if isinstance(part, str):
        return _text.wrap(part, width)
    if isinstance(part, Facts):
        known = {} if part.title else part.known
        return "\n".join(_text.wrap(f"{name}: {fact}", width, "  ") for name, fact in known.items())
    narrow = {head: cells for head, cells in part.columns.items() if head not in part.wide}
    others = [*narrow][1:]
    room = width - sum(2 + max(map(len, (head, *narrow[head]))) for head in others)
    rows = [
        (_text.shorten(first, max(room, LEAST_NAME)), *row)
        for first, *row in ShownTable(narrow).rows()
    ]
    return _text.table([tuple(narrow), *rows], right=True)


def sections(audit: Audit, *, label: str = "", rows: Sequence[int] | None = None) -> list[Section]:
    """Return what is said below the summary."""
    words = _Words(audit, f"units of {label or 'the label'}", rows)
    every = {
        "ceilings": ("At most, and reached", words.ceilings()),
        "attacks": ("Attacks", words.attacks()),
        "breaking": ("Smallest budget", words.breaking()),
        "rows": ("Rows whose labels matter most", words.influential()),
        "remedies": ("Remedies", words.remedies()),
        "method": ("How it was measured", words.method()),
    }
    whole = (Section(key, title, tuple(parts)) for key, (title, parts) in every.items())
    return [section for section in whole if section.parts]


@dataclass(frozen=True)
class _Words:
    """What is said about an audit, in these units of the label and with these numbers of rows."""

    audit: Audit
    unit: str
    rows: Sequence[int] | None

    def ceilings(self) -> Iterator[str | ShownTable]:
        """Yield what no attack can exceed, beside what was reached, or why it is not known."""
        known = [
            (_level(one), name, up(most.estimate) + f" ({_most(one.relative)})" * (key == "error"),
             NONE if reached is None else readable(reached.estimate, 4))
            for one in self.audit.ceilings for key, name in MEASURES.items()
            if (most := getattr(one, key)) is not None
            for reached in [getattr(one, f"reached_{key}")]
        ]  # fmt: skip
        if known:
            yield (
                "A ceiling is what no attack within the budget can exceed, whatever its method. "
                "Beside it is the most that the attacks of this audit reached. Both are means over "
                f"{counted(self.audit.splits, 'split')} of the table, in {self.unit}."
            )
            heads = ("labels changed", "what", "at most", "reached")
            columns = dict(zip(heads, map(list, zip(*known, strict=True)), strict=True))
            if len(self.audit.ceilings) == 1:
                del columns["labels changed"]
            yield ShownTable(columns, heads[:2])
        better = (
            sentences.TRANSFERS if self.audit.transfers_only else "A better attack may do more."
        )
        for one, budgets in self._grouped().items():
            yield budgets + (
                f"{one.statement} What was measured is then only what these attacks reached. "
                f"{better}" if one.reason else one.statement
            )  # fmt: skip
        if shown := self.audit.flips:
            yield (
                f"In a fit to all {self.audit.n_rows:,} rows, so many labels flip the sign of a "
                "coefficient, each moved as far as the largest budget allows. This is exact: no "
                f"choice of one label less does. {self._counted_from}"
            )
            yield ShownTable(
                {"coefficient": [one.name for one in shown],
                 "value": [_size(one.value) for one in shown],
                 "labels": [f"{len(one.rows):,}" if one.rows else NONE for one in shown],
                 "first rows": [", ".join(map(self._row, one.rows[:3])) for one in shown]},
                ("coefficient", "first rows"),
            )  # fmt: skip

    def _grouped(self) -> dict[Ceiling, str]:
        """Return one ceiling of each kind, with its budgets unless there is one kind only."""
        found: dict[str, list[Ceiling]] = {}
        for one in self.audit.ceilings:
            found.setdefault(one.statement, []).append(one)
        return {
            first: f"{', '.join(map(_level, (first, *others)))}: " * (len(found) > 1)
            for first, *others in found.values()
        }

    def attacks(self) -> Iterator[str | ShownTable | Facts]:
        """Yield what every attack does."""
        audit, one = self.audit, self.audit.largest
        several, budgets = len(audit.strongest) > 1, [_budget(each) for each in audit.strongest]
        ranked = sorted(
            (*audit.strongest, *audit.damages),
            key=lambda one: (
                budgets.index(_budget(one)), one.attack != STRONGEST, -one.relative.estimate
            ),
        )  # fmt: skip
        by = f"each by at most {readable(one.bound, 4)}"
        if math.isinf(one.bound):
            by = "to anything in their range"
        budget = f"{one.rows:,} of {audit.n_training:,} labels ({percent(one.share)}), {by}"
        yield (
            f"Each attack changes {budget}. "
            * (not several)
            + "The rise of the root mean squared error on test rows is in units of "
            f"{self._no_attack()}, with its 95 % interval. Worst and mean are the largest change "
            f"of a prediction and the change of their mean, in {self.unit}. Strongest is the "
            "strongest attack on each split, as an attacker would choose it."
        )
        columns = {
            "attack": [one.attack for one in ranked],
            "labels": [f"{one.rows:,}" for one in ranked],
            "rise of the error": [sentences.rise(one.relative) for one in ranked],
            "in label units": [with_ends(one.error, _signed) for one in ranked],
            "worst": [_size(one.worst.estimate) for one in ranked],
            "mean": [_size(one.mean.estimate) for one in ranked],
            "drift of parameters": [
                NONE if one.drift is None else _size(one.drift.estimate) for one in ranked
            ],
        }
        if several:
            columns["labels changed"] = [_level(one) for one in ranked]
        words, wide = ("attack", "labels changed"), ("in label units", "drift of parameters")
        yield ShownTable(columns, words, wide)
        known = {one.attack: does for one in ranked if (does := _does(one.attack))}
        if known:
            yield Facts(known, "What these attacks do")

    def _no_attack(self) -> str:
        if self.audit.unit > 2.0 * self.audit.clean_error.estimate:
            return f"{readable(self.audit.unit, 4)}, because without an attack there is no error"
        return f"that without an attack, {with_ends(self.audit.clean_error, _size)}"

    def breaking(self) -> Iterator[str]:
        """Yield the smallest number of labels that breaks the tolerance, for every bound."""
        return (sentences.breaking_words(self.audit, one) for one in self.audit.breaking)

    def influential(self) -> Iterator[str | ShownTable]:
        """Yield the rows whose labels matter most."""
        shown = self.audit.influential
        if shown:
            yield (
                "If the label of one of these rows alone moves as far as it can, the predictions "
                f"change by so much (root mean square, in {self.unit}). Protect or check these "
                f"labels first. {self._counted_from}"
            )
            yield ShownTable(
                {"row": [self._row(one.row) for one in shown],
                 "change of predictions": [_size(one.shift) for one in shown],
                 "fitted in splits": [f"{one.splits}" for one in shown]}
            )  # fmt: skip

    @property
    def _counted_from(self) -> str:
        return f"Rows are counted from {int(self.rows is not None)}."

    def _row(self, row: int) -> str:
        return f"{row if self.rows is None else self.rows[row]}"

    def remedies(self) -> Iterator[str | ShownTable]:
        """Yield what other estimators cost, what attacks do to them, and which is best."""
        audit, remedies = self.audit, self.audit.remedies
        if remedies:
            best = audit.recommendation
            yield sentences.no_remedy_words(audit) if best is None else f"Recommended: {best.name}."
            yield (
                "Each estimator is under the attack that is worst for it. Attacked, at most (if "
                "that is known) and price (without an attack) are the rise of the error over that "
                f"of {audit.estimator} without an attack; the error itself is in {self.unit}. "
                f"For {audit.estimator} itself, {audit.budget_words(audit.largest)} raise it by "
                f"{sentences.rise(audit.largest.relative)}{'*' * audit.transfers_only}."
            )
            yield ShownTable(
                {
                    "estimator": [one.name for one in remedies],
                    "attacked": [
                        sentences.rise(one.total) + "*" * one.transfers_only for one in remedies
                    ],
                    "error": [_size(one.error.estimate) for one in remedies],
                    "at most": [_most(one.at_most) for one in remedies],
                    "price": [signed(one.price.estimate, percent) for one in remedies],
                    "worst attack": [one.damage.attack for one in remedies],
                    "rise over its own error": [
                        sentences.rise(one.damage.relative) for one in remedies
                    ],
                },
                ("estimator", "worst attack"),
                ("worst attack", "rise over its own error"),
            )
            said: dict[str, list[str]] = {}
            for one in remedies:
                said.setdefault(sentences.held_words(audit, one), []).append(one.name)
            held = "; ".join(f"{words}: {', '.join(names)}" for words, names in said.items())
            tolerance = "The tolerance is about the rise over an estimator's own error."
            if audit.transfers_only or any(one.transfers_only for one in remedies):
                yield "*: transfer attacks only, so a better attack may do more."
            if audit.checks:
                yield f"{held[0].upper()}{held[1:]}. {tolerance}"
        yield from (f"Not compared: {failure}" for failure in audit.failures)

    def method(self) -> Iterator[str | Facts]:
        """Yield how everything was measured."""
        audit = self.audit
        known = {
            "Table": f"{counted(audit.n_rows, 'row')}, {counted(audit.n_columns, 'column')}",
            "Splits": f"{audit.splits}; each fits {audit.n_training:,} rows, whose labels are "
            f"attacked, and tests on {audit.n_tested:,} others, which nobody touches",
            "Repetitions": f"{audit.replicates} of each attack that draws random numbers; seed "
            f"{audit.seed}",
        }
        if audit.label_range is not None:
            low, high = (readable(end) for end in audit.label_range)
            known["Label range"] = f"{low} to {high}; no attack leaves it"
        if audit.suspects.count:
            rows = ", ".join(map(self._row, audit.suspects.rows[:MOST_ROWS]))
            more = ", and more in audit.json" * (audit.suspects.count > MOST_ROWS)
            known["Suspects"] = f"rows {rows}{more}. {self._counted_from}"
        yield Facts(known | {"Software": f"neurotron {package_version()}"})
        yield (
            "The labels of the table are taken as they are, suspects included, unless it says "
            '"without the suspects". Inputs are never changed. Intervals are of the mean over '
            "splits of this one table, which share rows, so they do not say how another table "
            "would come out."
        )


def level_name(bound: float, share: float) -> str:
    """Return a budget in a few words.

    >>> level_name(1.0, 0.1), level_name(math.inf, 0.05)
    ('10 % by 1', '5 % by any amount')
    """
    by = f"{bound:.4g}" if math.isfinite(bound) else "any amount"
    return f"{percent(share)} by {by}"


def _level(one: Damage | Ceiling) -> str:
    return level_name(one.bound, one.share)


def _budget(one: Damage | Ceiling) -> tuple[float, float, int]:
    return one.bound, one.share, one.rows


def _does(attack: str) -> str:
    """Return what an attack does, if it is one of the package."""
    name = attack.partition(":")[0]
    return attacks.BY_NAME.summary(name) if name in attacks.BY_NAME else KNOWING.get(name, "")


def _most(rise: Interval | None) -> str:
    """Return a relative ceiling in percent, rounded up."""
    if rise is None:
        return NONE
    return signed(rise.estimate, lambda share: f"{up(100.0 * share)} %")


def _size(value: float) -> str:
    return readable(value, 3)


def _signed(value: float) -> str:
    return signed(value, _size)
