"""From findings to a verdict, and to words whose numbers do not contradict it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurotron._digits import Notation
from neurotron.lab.claims import CLAIMS, VERDICTS, Claim, Finding, Judgement
from neurotron.lab.claims.effects import Phrase, percent, times
from neurotron.lab.claims.model import above, at_least, at_most, below, tally
from neurotron.lab.results.summary import Interval

HOLDS, PUBLISHED_CODE_ONLY, DOES_NOT_HOLD, UNDECIDED, NOT_TESTED = VERDICTS

INF = math.inf


def finding(estimate, holds=True, *, low=None, high=None, case="A", replicates=9, **fields):
    ends = (estimate if end is None else end for end in (low, high))
    return Finding(case, "measure", estimate, *ends, replicates, holds, **fields)


EXACT = Claim("exact", "s", list, phrase=Phrase("{} of the runs are exact", percent(0.99)))
POINTS = Claim("points", "s", list, phrase=Phrase("a difference of {}", Notation(" points", 2, 2)))


def effect(claim, *findings):
    known = claim if isinstance(claim, Claim) else CLAIMS[claim]
    return Judgement(known, findings).effect


def against(rival, *found):
    published = rival == "the published SGD"
    return [finding(*one, case=case, group=rival, as_published=published)
            for case, *one in found]  # fmt: skip


CASES = {
    "all hold, over a range": (
        "heavy-tails-alike", [finding(0.939), finding(1.41)],
        "0.94–1.4 × the error with other laws in both comparisons",
    ),
    "one finding, with its interval": (
        EXACT, [finding(0.999, low=0.9975, high=1.0)],
        "99.9 % of the runs are exact (95 % interval 99.8–100 %)",
    ),
    "one number everywhere, with the intervals": (
        "grows-with-bound", [finding(1.0, low=0.99, high=1.0, worst=2.0), finding(1.001, high=1.01,
                                                                                worst=2.0)],
        "slope 1.00 on a log-log scale (95 % intervals 0.990–1.01) in both settings",
    ),
    "what does not hold comes first": (
        EXACT,
        [finding(1.0), finding(1.0, case="B"), finding(0.333, False, case="t(4), large-norm"),
         finding(0.5166, False, case="N, large-norm")],
        "33.3–51.7 % of the runs are exact in 2 of 4 comparisons (t(4), large-norm; N, large-norm);"
        " 100 % in the other 2",
    ),
    "undecided, with the interval": (
        EXACT, [finding(1.0), finding(0.975, None, low=0.925, high=1.0, case="B")],
        "undecided in 1 of 2 comparisons (B): 97.5 % of the runs are exact (95 % interval "
        "92.5–100 %); 100 % in the other one",
    ),
    "kinds of comparisons apart, the contradicted one first": (
        "smaller-error-than-sgd",
        [*against("the published SGD", ("A", 0.33), ("B", 0.45)),
         *against("true SGD", ("A", 1.34, False), ("B", 1.54, False), ("C", 1.3, None))],
        "1.3–1.5 × the error of true SGD in 2 of 3 comparisons; undecided in 1 (C): 1.3 ×; "
        "0.33–0.45 × the error of the published SGD in both comparisons",
    ),
    "only the published comparison": (
        "faster-than-sgd", against("the published SGD", ("A", 0.2)),
        "0.20 × the steps of the published SGD; only the paper's own comparison was run",
    ),
    "never, and never for the rival": (
        "faster-than-sgd", against("true SGD", ("A", INF, False), ("B", 0.0)),
        "∞ × the steps of true SGD in 1 of 2 comparisons (A); 0 × in the other one",
    ),
    "diverged": (
        "outer-weights-help",
        [finding(INF, False, group="η = 1 for both", worst=INF, as_published=False),
         finding(0.169, group="published step sizes", worst=1.0)],
        "with η = 1 for both, q = 10 diverges; with published step sizes, q = 10 has 0.17 × the "
        "error of q = 1",
    ),
    "infinite although nothing diverged": (
        "outer-weights-help",
        [finding(INF, False, group="η = 1 for both", worst=1.0, as_published=False)],
        "with η = 1 for both, q = 10 has ∞ × the error of q = 1",
    ),
    "a slope that dips": (
        "grows-with-probability", [finding(0.5, False, worst=0.91)],
        "slope 0.500 on a log-log scale, from one β to the next at least 0.91 × the error",
    ),
    "the worst run": (
        "certificate-holds",
        [finding(0.0, worst=0.1412, count=0, total=1200), finding(0.0, worst=0.2, count=0,
                                                                  total=1200)],
        "0 of 2,400 runs outside, the largest error is 0.20 of its radius",
    ),
    "a run outside": (
        "certificate-holds",
        [finding(0.0, worst=0.1, count=0, total=5), finding(0.1, False, worst=1.0004, count=2,
                                                            total=5, case="B")],
        "2 of 5 runs outside, the largest error is 1.0004 of its radius in 1 of 2 comparisons (B); "
        "0 of 5 runs outside, the largest error is 0.10 of its radius in the other one",
    ),
    "diverged impersonation": (
        "impersonation-wins", [finding(1e-14, False, worst=INF, total=20)],
        "the largest distance to w_adv in 20 runs is ∞",
    ),
    "counts": (
        "theorem-1-is-silent", [finding(1.0, count=26, total=26), finding(0.9, count=18, total=20)],
        "Theorem 1 promises less than the initial error on 44 of 46 networks",
    ),
    "too few replicates for some": (
        "small-attack-degrades", [finding(1.61e11), finding(2.0, replicates=4, case="B")],
        "1.6e11 × the error without attack; not counted, with fewer than 5 replicates: B",
    ),
    "too few replicates for all": (
        "small-attack-degrades", [finding(2.0, replicates=4)],
        "fewer than 5 replicates are too few to judge by",
    ),
    "nothing": ("small-attack-degrades", [], "the study does not test this claim"),
    "negative points": (
        POINTS, [finding(-0.0462, False), finding(-0.0423, False)],
        "a difference of −4.6 to −4.2 points in both comparisons",
    ),
    "many cases": (
        EXACT, [*(finding(0.0, False, case=f"c{i}") for i in range(6)),
                             *(finding(1.0) for _ in range(6))],
        "0 % of the runs are exact in 6 of 12 comparisons (c0; c1; c2; c3 and 2 more); 100 % in "
        "the other 6",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_an_effect_says_what_was_measured_and_where(case):
    name, findings, said = CASES[case]
    assert effect(name, *findings) == said


@pytest.mark.parametrize(
    ("unit", "value", "written"),
    [
        (times(1.0), 0.9996, "0.9996"),  # not 1 ×, which would not hold
        (times(1.0), 1.0, "1.0"),
        (percent(0.99), 0.98996, "98.996"),
        (percent(), 0.99999, "99.999"),
        (percent(), 0.145, "14.5"),
        (Notation(), 123456.0, "120,000"),
        (Notation(), -0.5, "−0.50"),
        (Notation(), -INF, "−∞"),
        (Notation(), 7.1e-7, "7.1e-7"),
    ],
)
def test_a_number_has_as_many_digits_as_its_limits_need(unit, value, written):
    assert unit.number(value) == written


def read(text: str) -> float:
    return float(text.replace("−", "-").replace("∞", "inf").replace(",", ""))


@given(st.floats(-1e12, 1e12), st.floats(-10, 10))
def test_a_written_number_is_near_and_on_the_same_side_of_its_limit(value, limit):
    near = read(Notation(limits=(limit,)).number(value))
    assert near == pytest.approx(value, rel=0.051)
    assert (near > limit, near < limit) == (value > limit, value < limit)


NUMBERS = st.one_of(st.just(0.0), st.just(INF), st.floats(-1e15, 1e15))
FINDINGS = st.lists(
    st.builds(
        Finding, st.sampled_from("ABC"), st.just("measure"), NUMBERS, NUMBERS, NUMBERS,
        st.integers(1, 9), st.sampled_from([True, False, None]), st.booleans(),
        group=st.sampled_from(["one", "other"]), worst=st.one_of(st.none(), NUMBERS),
        count=st.one_of(st.none(), st.integers(0, 9)), total=st.just(9),
    ),
    max_size=5,
)  # fmt: skip


@given(st.sampled_from(sorted(CLAIMS)), FINDINGS)
def test_an_effect_can_be_put_into_words_whatever_was_found(name, findings):
    said = effect(name, *findings)
    assert said
    assert said.isprintable()
    assert "{" not in said
    assert ("undecided" in said) == any(
        found.holds is None and found.replicates >= 5 for found in findings
    )


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=lambda claim: claim.name)
def test_every_claim_has_a_short_form_that_fits_on_a_line(claim):
    assert 10 <= len(claim.short) <= 48
    assert not claim.short.endswith(".")
    assert claim.name not in claim.short


def test_a_tally_counts_verdicts_in_words():
    some = {
        "holds": [finding(2.0)] * 2, "does not hold": [finding(1.0, False)], "not tested": [],
    }  # fmt: skip
    claim = CLAIMS["small-attack-degrades"]
    judgements = [Judgement(claim, tuple(found)) for found in some.values()]
    assert [one.verdict for one in judgements] == list(some)
    assert tally([*judgements, judgements[0]]) == (
        "The paper: 2 of 4 claims hold, 1 does not hold, 1 is not tested."
    )
    assert tally([]) == ""


def test_claims_of_the_paper_and_ours_are_counted_apart():
    theirs = CLAIMS["smaller-error-than-sgd"]
    ours = CLAIMS["certificate-holds"]
    published = Judgement(theirs, (finding(0.5),))
    assert published.verdict == "true of the published code only"
    judgements = [published, Judgement(ours, (finding(0.5),)), published]
    assert tally(judgements) == (
        "The paper: 2 of 2 claims are true of the published code only. Ours: 1 of 1 claim holds."
    )
    assert tally(judgements[1:2]) == "1 of 1 claim holds."
    assert judgements[1].to_dict()["from_paper"] is False


# ---- verdicts ------------------------------------------------------------------------------------


def of(findings, broader_than_published=False) -> Judgement:
    claim = Claim("n", "s", list, broader_than_published=broader_than_published)
    return Judgement(claim, tuple(findings))


BETTER_TO_WORSE = [HOLDS, PUBLISHED_CODE_ONLY, UNDECIDED, DOES_NOT_HOLD, NOT_TESTED]


@given(FINDINGS, st.booleans())
def test_a_verdict_is_what_its_definition_says(findings, broader_than_published):
    claim = of(findings, broader_than_published)
    told = [found for found in findings if found.replicates >= 5]
    published = {found.holds for found in told if found.as_published}
    meant = {found.holds for found in told if not found.as_published}
    few = any(not found.as_published and found.replicates < 5 for found in findings)
    if broader_than_published and published and (few or not meant):
        meant.add(False)
    wanted = {
        NOT_TESTED: not told,
        HOLDS: bool(told) and published | meant == {True},
        PUBLISHED_CODE_ONLY: published == {True} and False in meant,
        DOES_NOT_HOLD: False in published or (not published and False in meant),
    }
    holding = [verdict for verdict, holds in wanted.items() if holds] or [UNDECIDED]
    assert holding == [claim.verdict]
    assert claim.effect.isprintable()


@given(FINDINGS.filter(bool), st.data())
def test_a_finding_that_comes_to_hold_never_makes_a_verdict_worse(findings, data):
    one = data.draw(st.integers(0, len(findings) - 1))
    better = [Finding(**(vars(f) | ({"holds": True} if i == one else {}))) for i, f in
              enumerate(findings)]  # fmt: skip
    before, after = (of(found).verdict for found in (findings, better))
    assert BETTER_TO_WORSE.index(after) <= BETTER_TO_WORSE.index(before)


@given(st.floats(-2, 2), st.floats(-2, 2), st.floats(-2, 2))
def test_a_comparison_is_decided_only_if_its_whole_interval_is_on_one_side(one, other, limit):
    low, high = sorted((one, other))
    found = Interval(0.5 * (low + high), low, high)
    values = np.linspace(low, high, 9)
    for criterion, true in (
        (above, values > limit), (below, values < limit), (at_least, values >= limit),
        (at_most, values <= limit),
    ):  # fmt: skip
        decided = True if true.all() else False if not true.any() else None
        assert criterion(limit, found) is decided
