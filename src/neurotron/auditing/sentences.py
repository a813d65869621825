"""What an audit says in sentences: the verdict, suspects, the smallest budget, remedies."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from neurotron._digits import percent, readable, signed, with_ends
from neurotron._intervals import Interval

if TYPE_CHECKING:
    from neurotron.auditing.finding import Breaking, Check, Remedy
    from neurotron.auditing.report import Audit

TRANSFERS = (
    "Only transfer attacks were tried: they were worked out for other models, so a better attack "
    "may do more."
)
"""What is said about a model for which itself no attack can be worked out."""
MISSED = "Labels that are wrong by less than about five times the noise often do not show."
"""What the search for suspects may miss: on 27 poisoned tables, 3 to 15 % of labels wrong by 4, 5
and 10 times the noise around a linear fit gave suspects in 41, 63 and 93 % of the cases."""


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
    """Return how many labels may be attacked before the audit, or why the search was impossible."""
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
            f"error by {rise(without.relative)} instead of "
            f"{rise(before.relative)}."
        )
    return text + _accepted(audit)


def _accepted(audit: Audit) -> str:
    """Return what a person said about the labels of the table."""
    if audit.accept_suspects is None:
        return ""
    return f" Up to {audit.accept_suspects:,} suspects were accepted by a person."


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


def rise(value: Interval) -> str:
    """Return a rise in percent with its interval."""
    if not math.isfinite(value.estimate):
        return "fails"
    return with_ends(value, lambda share: signed(share, percent))
