"""The headline of the page: the main result in one sentence."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import polars as pl

from neurotron._digits import percent
from neurotron.lab.claims.catalog import judgement_on
from neurotron.lab.claims.model import PUBLISHED_CODE_ONLY
from neurotron.lab.results.results import Results
from neurotron.lab.results.summary import rate
from neurotron.lab.training.runs import EXACT, Runs
from neurotron.lab.training.summary import certified

MET = ["setting", "replicate", "attack_text", "bound", "probability"]
"""What two runs that are compared have in common: their data and the attack."""
FOUND = (
    "A run has found the true filter w* if its final weights are closer to w* than half the length "
    "of w*."
)
MIRROR = (
    " It has ended in the direction of the mirror image −w* if the cosine of its weights with −w* "
    "is above ½."
)
SEVERAL = (
    " The filter of a network counts as found if this was so at every level of the attack; a "
    "trainer counts as ended in the direction of the mirror image if it did so at any level."
)
ANOTHER = " Runs in which labels are replaced by those of another filter are not counted."
EXACTLY = f" Exactly means an error ‖w − w*‖ below {EXACT:g}."


class Headline(NamedTuple):
    """What the results show."""

    sentence: str
    meaning: str = ""
    """What the words of the sentence mean."""
    figures: tuple[str, ...] = ()
    """The beginnings of the names of charts that show it, the most telling first."""
    story: str = ""
    """A paragraph below the verdicts, if they need one."""


def headline(results: Results) -> Headline:
    """Return the main result in one sentence, which also names the exception to it."""
    runs = Runs.of(results)
    if not len(runs.runs):
        return Headline("No runs have been computed yet.")
    pair = rivalry(runs)
    if pair is not None and pair.mirrored:
        return _of_rivals(pair)._replace(story=_story(results, pair))
    sure = _attacked(certified(runs))
    if len(sure) and set(runs.runs["algorithm"]) == {"neuro-tron"}:
        return _of_certificates(runs, sure)
    return _of_runs(runs)


class Rivalry(NamedTuple):
    """Where Neuro-Tron and SGD ended on the same networks, under the same attacks."""

    ours: str
    theirs: str
    networks: int
    """Pairs of a setting and a replicate."""
    found: int
    """Those on which ours found the filter at every level of the attack."""
    missed: int
    """Those on which theirs did not."""
    mirrored: int
    """Those on which theirs ended in the direction of the mirror image at any level."""
    both: int
    """Those on which both found the filter at every level."""
    closer: int
    """Of these, those on which theirs ended closer to it, at most levels."""
    share: str
    """The share of the labels that was attacked, in words."""
    noun: str = "networks"
    meaning: str = FOUND


def rivalry(results: Runs) -> Rivalry | None:
    """Compare Neuro-Tron with SGD, if the study is about Neuro-Tron and both meet an attack."""
    runs = _attacked(results.runs).filter(pl.col("attack") != "impersonation")
    if not len(runs) or results.arms["algorithm"][0] != "neuro-tron":
        return None
    ours, theirs = (
        runs.filter(algorithm=name).select(*MET, "trainer", "outcome", "error")
        for name in ("neuro-tron", "sgd")
    )
    pairs = ours.join(theirs, on=MET, suffix="_sgd", maintain_order="left_right")
    if not len(pairs):
        return None
    names = Counter(pairs.select("trainer", "trainer_sgd").iter_rows())
    (one, other), _ = names.most_common(1)[0]
    pairs = pairs.filter(trainer=one, trainer_sgd=other)
    units = pairs.group_by("setting", "replicate").agg(
        found=(pl.col("outcome") == "recovered").all(),
        missed=(pl.col("outcome_sgd") != "recovered").any(),
        mirrored=(pl.col("outcome_sgd") == "mirror").any(),
        closer=(pl.col("error_sgd") < pl.col("error")).mean() > 0.5,
    )
    both = units.filter("found", ~pl.col("missed"))
    found, missed, mirrored = (int(units[name].sum()) for name in ("found", "missed", "mirrored"))
    meaning = FOUND + MIRROR
    meaning += SEVERAL if len(pairs) > len(units) else ""
    meaning += ANOTHER if "impersonation" in set(results.runs["attack"]) else ""
    return Rivalry(
        one, other, len(units), found, missed, mirrored, len(both), int(both["closer"].sum()),
        _share(pairs), _noun(results, pairs), meaning,
    )  # fmt: skip


STORY = (
    "What the published experiments call SGD multiplies the mean error of a batch by the gradient "
    "of its first sample only. Neuro-Tron is faster and more accurate than that, as the paper "
    "says. True stochastic gradient descent is faster than Neuro-Tron and ends a little closer to "
    "the true filter w*, if it gets there: half of the signal is the same for a filter w and for "
    "its mirror image −w, and on {mirrored:,} of {networks:,} networks SGD ended in the direction "
    "of −w* (95 % interval {low:.0f} to {high:.0f} %). Neuro-Tron follows only the part of the "
    "output that differs between w and −w, and found the filter on {found:,} of {networks:,} "
    "networks. That, and not a smaller error, is its real advantage."
)


def _story(results: Results, pair: Rivalry) -> str:
    """Return the paragraph about SGD, if the verdicts on these results say the same."""
    both = ("smaller-error-than-sgd", "faster-than-sgd")
    if not {*both} <= {*results.spec["claims"]}:
        return ""
    judged = (judgement_on(results, name) for name in both)
    if any(one.verdict != PUBLISHED_CODE_ONLY for one in judged):
        return ""
    interval = rate(pair.mirrored, pair.networks)
    return STORY.format(
        mirrored=pair.mirrored, networks=pair.networks, found=pair.found,
        low=100.0 * interval.low, high=100.0 * interval.high,
    )  # fmt: skip


def _of_rivals(pair: Rivalry) -> Headline:
    on = "on" if pair.noun == "networks" else "in"
    missed = f"missed it {on} {pair.missed:,} and " if pair.missed > pair.mirrored else ""
    of_these = f"{pair.mirrored:,}{' of them' if missed else ''}"
    parts = [
        f"With {pair.share} of the labels attacked, {pair.ours} found the true filter {on} "
        f"{_part(pair.found, pair.networks)} {pair.noun}",
        f"{pair.theirs} {missed}ended in the direction of its mirror image {on} {of_these}",
    ]
    if 2 * pair.closer > pair.both:
        parts.append(
            f"where both found it, {pair.theirs} came closer {on} {_part(pair.closer, pair.both)}"
        )
    return Headline(f"{'; '.join(parts)}.", pair.meaning, ("mirror-filter",))


def _of_certificates(results: Runs, sure: pl.DataFrame) -> Headline:
    """Return how many runs ended within their certified radius, and where the others ended."""
    inside = int((sure["part"] <= 1.0).sum())
    unsure = _attacked(results.runs).join(sure, on=[*MET, "arm"], how="anti")
    parts = [
        f"With {_share(sure)} of the labels attacked, {_part(inside, len(sure))} certified runs "
        "ended within the radius that was guaranteed for them before training"
    ]
    allowed = f"Each radius is guaranteed with probability {results.confidence_text}."
    if len(unsure):
        parts.append(f"without a certificate, {_said(unsure, False)} found the true filter")
        allowed = f"{allowed} {FOUND}"
    return Headline(f"{'; '.join(parts)}.", allowed, ("certificate",))


def _of_runs(results: Runs) -> Headline:
    """Return how often the first trainer found the filter, and the best of the others."""
    runs, under = _attacked(results.runs), ""
    if len(runs):
        under = f"With {_share(runs)} of the labels attacked, "
    else:
        runs, under = results.runs, "Without an attack, "
    lead, *others = dict.fromkeys(runs["trainer"])
    by_all = runs.group_by(MET).len("trainers").filter(trainers=1 + len(others))
    compared = runs.join(by_all, on=MET, how="semi")
    if not len(compared):
        others, compared = [], runs
    ends = {who: compared.filter(trainer=who) for who in (lead, *others)}
    exact = any(map(_exact, ends.values()))
    sentence = f"{under}{lead} found the true filter in {_said(ends[lead], exact)}"
    if others:
        best = max(
            others, key=lambda who: (_exact(ends[who]), len(ends[who].filter(outcome="recovered")))
        )
        rank = f", {'the most often exact' if exact else 'the best'} of {len(others)} others,"
        sentence += f"; {best}{rank if len(others) > 1 else ''} in {_said(ends[best], exact)}"
    figures = ("exact", "mirror-filter") if len(_attacked(results.runs)) else ("levels", "trainers")
    return Headline(f"{sentence}.", FOUND + EXACTLY * exact + MIRROR, figures)


def _said(runs: pl.DataFrame, exact: bool) -> str:
    """Return a phrase on how many runs found the filter, and where the others ended."""
    ended = Counter(runs["outcome"])
    words = f"{_part(ended['recovered'], len(runs))} runs"
    words += f", exactly in {_percent(_exact(runs), len(runs))}" if exact else ""
    elsewhere = [
        f"{verb} in {ended[outcome]:,}"
        for verb, outcome in (
            ("ended in the direction of its mirror image", "mirror"),
            ("diverged", "diverged"),
        )
        if ended[outcome]
    ]
    return f"{words} ({' and '.join(elsewhere)})" if elsewhere else words


def _exact(runs: pl.DataFrame) -> int:
    return int((runs["error"] < EXACT).sum())


def _attacked(runs: pl.DataFrame) -> pl.DataFrame:
    return runs.filter(pl.col("bound") * pl.col("probability") > 0.0)


def _noun(results: Runs, pairs: pl.DataFrame) -> str:
    """Return what a setting and a replicate have of their own: a network, or only data."""
    there = set(pairs["setting"])
    chosen = [setting for setting in results.spec["settings"] if setting["name"] in there]
    shared = any(setting["same_problem"] or setting["paired_with"] for setting in chosen)
    return "replicates" if shared else "networks"


def _share(runs: pl.DataFrame) -> str:
    """Return the largest share of the labels that was attacked, in words."""
    few, many = float(runs["probability"].min()), float(runs["probability"].max())  # type: ignore[arg-type]
    words = {0.5: "half", 1.0: "all"}.get(many, percent(many, 6))
    return words if few == many else f"up to {words}"


def _part(number: int, of: int) -> str:
    """Return a part of a whole, in words to put before a noun.

    >>> _part(3, 4), _part(4, 4), _part(0, 4)
    ('3 of 4', 'all 4', 'none of 4')
    """
    return (
        f"all {of:,}" if number == of else f"{number or 'none':{',' if number else ''}} of {of:,}"
    )


def _percent(number: int, of: int) -> str:
    """Return a share as text; only all of them are "all", and only none are "none".

    >>> _percent(999, 1000), _percent(0, 10), _percent(10, 10)
    ('99.9 %', 'none', 'all')
    """
    return {0: "none", of: "all"}.get(number, percent(number / of))
