"""An audit as text for a terminal: result first, then tables, then how it was measured."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from neurotron import _check
from neurotron._digits import percent, readable, up
from neurotron._intervals import Interval

if TYPE_CHECKING:
    from neurotron.auditing.finding import Breaking, Ceiling, Check, Remedy
    from neurotron.auditing.report import Audit

__all__ = [
    "TRANSFERS", "as_text", "breaking_words", "ceiling_words", "held_words", "no_remedy_words",
    "suspects_words", "verdict_words", "with_interval",
]  # fmt: skip

MOST_NAME = 22
"""How many characters of the name of a remedy are printed."""
SHOWN = 5
"""How many of the rows that matter most are printed."""
TRANSFERS = (
    "Only transfer attacks were tried: they were worked out for other models, so a better attack "
    "may do more."
)
"""What is said about a model for which itself no attack can be worked out."""

MISSED = "Labels that are wrong by less than about five times the noise often do not show."
"""What the search for suspects may miss: on 27 poisoned tables, 3 to 15 % of labels wrong by 4, 5
and 10 times the noise around a linear fit gave suspects in 41, 63 and 93 % of the cases."""


def as_text(audit: Audit, width: int, rows: Sequence[int] | None = None) -> str:
    """Return an audit as paragraphs and tables; `rows` are numbers of rows in a file, from 1."""
    return "\n\n".join(_parts(audit, max(_check.integer("width", width, 1), 40), rows))


def _parts(audit: Audit, width: int, rows: Sequence[int] | None) -> Iterator[str]:
    yield _filled(audit.headline, width)
    if audit.checks:
        yield _filled(verdict_words(audit), width)
    if audit.poor_fit:
        yield _filled(audit.poor_fit, width)
    yield _filled(suspects_words(audit), width)
    for ceiling in audit.ceilings:
        yield _filled(ceiling_words(audit, ceiling), width)
    yield _table(
        ("attack", "labels", "error", "worst", "mean"),
        [
            (damage.attack, f"{damage.rows:,}", with_interval(damage.relative),
             readable(damage.worst.estimate, 3), readable(damage.mean.estimate, 3))
            for damage in (*audit.damages, *audit.strongest)
        ],
    )  # fmt: skip
    yield _filled(
        "labels: how many were changed. error: rise of the root mean squared error on test rows, "
        f"in units of {_unit(audit)}, with its 95 % interval. worst, mean: largest change of a "
        "prediction, and change of their mean, in units of the label. strongest: the strongest "
        "attack on each split, as an attacker would choose it.",
        width,
    )
    for breaking in audit.breaking:
        yield _filled(breaking_words(audit, breaking), width)
    if audit.influential:
        shown = ", ".join(
            f"{each.row if rows is None else rows[each.row]} ({readable(each.shift, 3)})"
            for each in audit.influential[:SHOWN]
        )
        yield _filled(
            f"The rows whose labels matter most, counted from {int(rows is not None)}, with the "
            "change of predictions (root mean square) if one of them moves as far as it can: "
            f"{shown}.",
            width,
        )
    if audit.remedies:
        yield _table(
            ("instead", "price", "attacked", "error", "worst attack", "at most"),
            [
                (_short(remedy.name), _signed(remedy.price.estimate),
                 f"{_signed(remedy.total.estimate)}{'*' * remedy.transfers_only}",
                 readable(remedy.error.estimate, 3), remedy.damage.attack, _most(remedy.at_most))
                for remedy in audit.remedies
            ],
        )  # fmt: skip
        yield _filled(_recommended(audit), width)
    for failure in audit.failures:
        yield _filled(f"Not compared: {failure}", width)
    yield _filled(
        f"Random splits of {audit.n_rows:,} rows: {audit.splits}, with {audit.n_training:,} rows "
        f"to fit and {audit.n_tested:,} to test. Repetitions of attacks that draw at random: "
        f"{audit.replicates} on each split. The intervals are of the mean over splits; these share "
        "rows.",
        width,
    )


def verdict_words(audit: Audit) -> str:
    """Return whether the tolerances hold, and why that may be open."""
    verdict, found = audit.verdict, f"Verdict: {audit.verdict}. "
    if verdict == "not asked":
        return ""
    if audit.doubt:
        count = audit.suspects.count
        accepting = f"--accept-suspects {count} (accept_suspects={count} in Python)"
        if audit.suspects.attacked_fraction is None:
            return f"{found}{audit.doubt}. Look at the labels, and say that you did: {accepting}."
        return (
            f"{found}{audit.doubt}. Look at the suspects with `neurotron clean`. Then audit the "
            "table without those that are wrong (--cleaned writes it), or accept them with "
            f"{accepting}."
        )
    these = [check for check in audit.checks if check.verdict == verdict]
    limits = [*dict.fromkeys(map(_limit, these))]
    if verdict == "exceeded":
        only = " once the suspects are left out" * all(one.without_suspects for one in these)
        return f"{found}Attacks {' and '.join(limits)}{only}."
    if verdict == "undecided":
        return (
            f"{found}Attacks may {' or '.join(limits)}: the interval of the strongest damage "
            "reaches beyond that, so use more splits."
        )
    proved = (
        " No attack with this budget can, whatever its method: the ceiling is lower on every split."
    ) * all(check.is_proved for check in these)
    both = ", with the suspects or without them" * bool(audit.without_suspects)
    doubt = proved or f" {TRANSFERS}" * audit.transfers_only
    return f"{found}No attack that was tried could {' or '.join(limits)}{both}.{doubt}"


def _limit(check: Check) -> str:
    if check.what == "error":
        return f"raise the error by more than the tolerance of {percent(check.tolerance)}"
    return f"move a prediction by more than the tolerance of {readable(check.tolerance)}"


def suspects_words(audit: Audit) -> str:
    """Return how many labels may be attacked before the audit, or why nobody could look."""
    found, share = audit.suspects, audit.suspects.attacked_fraction
    if share is None:
        text = f"Nobody looked for suspects among the labels of the table: {found.reason}."
        return text + _accepted(audit)
    ends = f"95 % interval: {percent(share.low)} to {percent(share.high)}"
    about = "none" if share.estimate == 0.0 else f"about {percent(share.estimate)}"
    text = (
        f"Suspects in the table itself: {found.count:,} of {audit.n_rows:,} labels "
        f"{'does' if found.count == 1 else 'do'} not fit a robust linear model. Of all labels, "
        f"{about} seem to be attacked already ({ends}). {MISSED}"
    )
    for before, without in zip(audit.strongest, audit.without_suspects, strict=False):
        text += (
            f" Without the suspects, the strongest attack on {without.rows:,} labels raises the "
            f"error by {with_interval(without.relative)} instead of "
            f"{with_interval(before.relative)}."
        )
    return text + _accepted(audit)


def _accepted(audit: Audit) -> str:
    """Return what a person said about the labels of the table."""
    if audit.accept_suspects is None:
        return ""
    return f" Up to {audit.accept_suspects:,} suspects were accepted by a person."


def ceiling_words(audit: Audit, ceiling: Ceiling) -> str:
    """Return what no attack can exceed and what was reached, or why the first is not known."""
    if ceiling.reason:
        budget = audit.budget_words(ceiling).rstrip(",")
        transfers = f" {TRANSFERS}" * audit.transfers_only
        return f"No ceiling for {budget}: {ceiling.reason}.{transfers}"
    pairs = (
        ("the error rises", ceiling.error, ceiling.reached_error),
        ("a prediction changes", ceiling.worst, ceiling.reached_worst),
        ("the mean prediction changes", ceiling.mean, ceiling.reached_mean),
    )
    parts = [
        f"{what} by at most {up(most.estimate)}, and we reached {readable(reached.estimate, 4)}"
        for what, most, reached in pairs
        if most is not None and reached is not None
    ]
    return (
        f"With {audit.budget_words(ceiling)} {'; '.join(parts)} (means over splits, in units of "
        f"the label). {ceiling.kind}"
    )


def breaking_words(audit: Audit, breaking: Breaking) -> str:
    """Return the smallest number of labels that breaks the tolerance, in words."""
    assert audit.tolerance is not None
    moved = "changed" if math.isinf(breaking.bound) else f"moved by {readable(breaking.bound, 4)}"
    limit = percent(audit.tolerance)
    proved = ""
    if breaking.proven:
        proved = f" Up to {breaking.proven:,} are proved to be harmless in this sense."
    if breaking.rows is None:
        return (
            f"No number of labels that was tried, up to {breaking.unbroken:,} of {breaking.of:,}, "
            f"raises the error by more than {limit}.{proved}"
        )
    assert breaking.share is not None
    tried = " Fewer were not tried." * (breaking.rows > 1)
    if breaking.unbroken:
        tried = f" {breaking.unbroken:,} did not, with any attack that was tried."
    return (
        f"From {breaking.rows:,} of {breaking.of:,} labels ({percent(breaking.share)}) on, "
        f"{moved}, the error may rise by more than {limit}: the 95 % interval reaches "
        f"beyond it, most by {breaking.attack}.{tried}{proved}"
    )


def _recommended(audit: Audit) -> str:
    remedy = audit.recommendation
    text = (
        "instead: other estimators, each under the attack that is worst for it. price (without an "
        "attack), attacked, at most: rise of the error over that of "
        f"{audit.estimator} without an attack; error: in units of the label. "
    )
    if any(each.transfers_only for each in audit.remedies):
        text += "*: transfer attacks only, so a better attack may do more. "
    if audit.checks:
        said: dict[str, list[str]] = {}
        for each in audit.remedies:
            said.setdefault(held_words(audit, each), []).append(each.name)
        found = "; ".join(f"{words}: {', '.join(names)}" for words, names in said.items())
        text += f"{found[0].upper()}{found[1:]}. "
    if remedy is None:
        return f"{text}{no_remedy_words(audit)}"
    return f"{text}Recommended: {remedy.name}."


def no_remedy_words(audit: Audit) -> str:
    """Return why no remedy is recommended."""
    if audit.doubt:
        return "None is recommended as long as the labels of the table are in doubt."
    return (
        "None is recommended: none makes the error under attack clearly smaller and costs at most "
        "10 % without an attack."
    )


def held_words(audit: Audit, remedy: Remedy) -> str:
    """Return whether a remedy holds the tolerance, in words; if labels are in doubt, it may not."""
    if remedy.verdict != "within" or audit.doubt:
        return "misses the tolerance" if remedy.verdict == "exceeded" else "may miss the tolerance"
    badly = ", but fits worse than least squares" * remedy.fits_badly
    return f"holds the tolerance{badly}"


def with_interval(value: Interval) -> str:
    """Return a rise in percent with its interval."""
    if not math.isfinite(value.estimate):
        return "fails"
    text = _signed(value.estimate)
    if not math.isfinite(value.high):
        return text
    return f"{text} ({_signed(value.low)} to {_signed(value.high)})"


def _signed(share: float) -> str:
    if not math.isfinite(share):
        return "fails"
    text = percent(abs(share))
    return f"−{text}" if share < 0.0 and text != "0 %" else f"+{text}"


def _most(rise: Interval | None) -> str:
    return "–" if rise is None else _signed(rise.estimate)


def _unit(audit: Audit) -> str:
    if audit.unit > 2.0 * audit.clean_error.estimate:
        return f"{readable(audit.unit, 4)}, because without an attack there is no error"
    return f"that without an attack, {readable(audit.clean_error.estimate, 4)}"


def _short(name: str) -> str:
    return name if len(name) <= MOST_NAME else f"{name[: MOST_NAME - 1]}…"


def _filled(text: str, width: int) -> str:
    """Return a paragraph in lines, none of which begins with the sign of percent."""
    glued = text.replace(" %", "\u00a0%")
    lines = textwrap.fill(glued, width, break_long_words=False, break_on_hyphens=False)
    return lines.replace("\u00a0", " ")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in columns, of which all but the first are aligned to the right."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (head, *rows)
    )
