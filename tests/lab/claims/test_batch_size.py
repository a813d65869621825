"""What the batch size changes: verdicts on made-up results, a sample, and errata 13."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from tests.support.results import ending_at, made
from tests.support.studies import judged, part_of

import neurotron as nt
from neurotron.lab.claims.batch_size import batch_size_runs
from neurotron.lab.claims.model import DOES_NOT_HOLD, HOLDS, NOT_TESTED, UNDECIDED
from neurotron.lab.figures.batch_size import _after, _exception
from neurotron.lab.figures.view import RunsView
from neurotron.theory import Theorem1

STUDY, PAPER = nt.lab.read("batch-size"), nt.lab.read("paper")
SHORT = part_of(STUDY, *(f"normal-1-b{b}" for b in (1, 4, 16)))


def size_of(setting: str) -> int:
    return int(setting.rpartition("-b")[2])


def made_up(steps=(1000, 100, 10), floor=lambda b: b**-0.5, part=0.9):
    """Return runs that reach w* after these steps, and end at such an error under attack."""

    def outcome(setting, replicate, arm):
        b = size_of(setting)
        if arm["attack"] == "none":
            reached = dict(zip((1, 4, 16), steps, strict=True))[b]
            return {"errors": ending_at(0.0, reached), "certified_steps": 1500.0 / b,
                    "theorem1_step_size": 1e-4 * b**0.1}  # fmt: skip
        error = floor(b) * (1.0 + 0.001 * replicate)
        return {"errors": ending_at(error), "radius": 9.0, "root_mean_square": error / part}

    return outcome


@pytest.mark.parametrize(
    ("claim", "outcome", "verdict"),
    [
        ("fewer-steps-with-larger-batches", made_up(), HOLDS),
        ("fewer-steps-with-larger-batches", made_up((100, 100, 10)), DOES_NOT_HOLD),
        ("fewer-steps-with-larger-batches", made_up((10, 100, 10)), DOES_NOT_HOLD),
        ("samples-alike-for-all-batches", made_up((1000, 1000, 100)), DOES_NOT_HOLD),
        ("larger-batches-lower-the-floor", made_up(), HOLDS),
        ("larger-batches-lower-the-floor", made_up(floor=lambda b: b**0.1), DOES_NOT_HOLD),
        ("batch-sizes-as-certified", made_up((1000, 100, 10)), HOLDS),
        ("batch-sizes-as-certified", made_up((1000, 100, 10), part=1.1), DOES_NOT_HOLD),
        ("batch-sizes-as-certified", made_up((1000, 1000, 1000)), DOES_NOT_HOLD),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_claim_comes_out_as_the_runs_were_made(claim, outcome, verdict, tmp_path):
    assert judged(tmp_path / "r", claim, outcome, SHORT, 6).verdict == verdict


def test_numbers_of_samples_are_compared_with_those_of_the_smallest_batch(tmp_path):
    found = judged(tmp_path / "r", "samples-alike-for-all-batches", made_up(), SHORT, 6).findings
    assert [(one.case, one.estimate) for one in found] == [
        ("N(0, 1), b = 4 against 1", 0.4), ("N(0, 1), b = 16 against 1", 0.16),
    ]  # fmt: skip


def test_steps_that_some_runs_need_and_others_do_not_leave_the_claim_undecided(tmp_path):
    def outcome(setting, replicate, arm):
        steps = (100, 10 if replicate % 2 else 1000, 10)
        return made_up(steps)(setting, replicate, arm)

    name = "fewer-steps-with-larger-batches"
    assert judged(tmp_path / "r", name, outcome, SHORT, 6).verdict == UNDECIDED


def test_a_study_with_one_batch_size_does_not_test_the_claims(tmp_path):
    results = made(tmp_path / "r", part_of(STUDY, "normal-1-b1"), made_up(), 6)
    verdicts = {one.claim.name: one.verdict for one in nt.lab.evaluate(results)}
    assert set(verdicts.values()) == {NOT_TESTED}
    assert not [one for one in nt.lab.charts(results) if one.name.startswith("batch-size")]


def test_the_charts_show_what_the_claims_compare(tmp_path):
    charts = {one.name: one for one in nt.lab.charts(made(tmp_path / "r", SHORT, made_up(), 3))}
    steps, samples = charts["batch-size-steps"].panels[0].lines[::2]
    assert charts["batch-size-steps"].panels[0].ticks == ("1", "4", "16")
    assert steps.x.tolist() == [0, 1, 2]
    assert steps.y.tolist() == [1000, 100, 10]
    assert samples.y.tolist() == [1000, 400, 160]
    floor = charts["batch-size-floor"].panels[0].lines
    assert [line.name for line in floor] == [
        "same η, noise", "same η, drift", "η of the certificate, noise, same samples",
        "same η, certified",
    ]  # fmt: skip
    np.testing.assert_allclose(floor[0].y, [1.001, 0.5005, 0.25025])
    np.testing.assert_allclose(floor[3].y, floor[1].y / 0.9)
    rising, falling = charts["batch-size-step-size"].lines
    assert (np.diff(rising.y) > 0.0).all()
    assert (np.diff(falling.y) < 0.0).all()


def nothing_learnt(setting, replicate, arm):
    return {"errors": ending_at(0.5)}


def test_the_paper_compares_batch_sizes_apart_from_its_table_1(tmp_path):
    laws = "normal-1", "student-t-4", "normal-9", "laplace-2"
    runs = batch_size_runs(made(tmp_path / "r", PAPER, nothing_learnt, 1))
    names = [f"{law}-b{b}" for law in laws for b in (1, 4, 16)]
    assert [*dict.fromkeys(runs["setting"])] == names
    assert len(dict.fromkeys(runs["family"])) == len(laws)
    paired = {one["name"]: one["paired_with"] for one in PAPER.settings}
    assert [paired[name] for name in names] == [law for law in laws for _ in range(3)]


@pytest.mark.parametrize("key", ["sweeps", "trainers", "law"])
def test_settings_that_differ_in_more_than_their_batch_size_are_not_compared(key, tmp_path):
    one, other = SHORT.settings[:2]
    label = "η = 0.002"
    differing = {
        "sweeps": one["sweeps"][:2], "trainers": {label: one["trainers"][label]}, "law": "uniform",
    }  # fmt: skip
    study = replace(SHORT, settings=[one, other | {key: differing[key]}], costs={})
    assert batch_size_runs(made(tmp_path / "r", study, nothing_learnt, 1)).is_empty()


def test_runs_of_the_paper_that_are_compared_by_batch_size_have_no_figures_of_their_own(tmp_path):
    names = [one["name"] for one in PAPER.settings]
    study = part_of(PAPER, *(name for name in names if name.startswith("normal-1")))
    charts = nt.lab.charts(made(tmp_path / "r", study, nothing_learnt, 1))
    assert "batch-size-steps" in {one.name for one in charts}
    assert not [one.title for one in charts if "b = " in one.title]


def test_errors_after_the_same_number_of_samples_are_those_of_earlier_steps(tmp_path):
    results = made(tmp_path / "r", SHORT, made_up(), 2)
    honest = batch_size_runs(results).filter(attack="none", step_rule="fastest")
    for b, samples, error in ((1, 1000, 0.0), (4, 399, 10.0), (4, 400, 0.0)):
        runs = _after(RunsView(results), honest.filter(b=b), samples)
        assert runs["error"].to_list() == [error, error]


@dataclass(frozen=True)
class OnSmallInputs(nt.attacks.Constant):
    """The attacker of errata 13: always at inputs of norm 1/4, never at others."""

    query_fields: ClassVar[tuple[str, ...]] = ("norm",)

    @staticmethod
    def chance(probability, query):
        return np.where(query.norm < 0.3, probability, 0.0)


def test_errata_13_the_step_size_of_theorem_1_falls_with_b_against_small_inputs():
    """γη at b = 1, 2, 16, from the page and from the moments by hand."""
    rows = nt.laws.Empirical([[0.25], [-0.25], [0.5], [-0.5]])
    problem = nt.Problem.draw(nt.networks.relu_gate(1), rows)
    attack = OnSmallInputs(bound=1.0, probability=1.0)
    m2, m4 = ((0.25**i + 0.5**i) / 2 for i in (2, 4))
    beta1, beta3 = 0.25 / 2, 0.25**3 / 2
    for b, printed in ((1, 0.762), (2, 0.736), (16, 0.714)):
        spread = (beta1 * m2 + m2**2) * (1 - 1 / b) + (beta3 + m4) / b
        by_hand = (m2 - beta1) / spread
        assert by_hand == pytest.approx(printed, abs=5e-4)
        for theorem in (_exception(b), Theorem1.of(problem, np.eye(1), attack, b)):
            assert 2.0 * theorem.step_size(2.0) == pytest.approx(by_hand, rel=1e-12)


def test_without_an_attack_the_step_size_of_theorem_1_grows_to_the_kurtosis_of_the_norm():
    problem = nt.Problem.draw(nt.networks.relu_gate(4), nt.Laplace(scale=2.0))
    small, large = (Theorem1.of(problem, np.eye(4), None, b).step_size(2.0) for b in (1, 10**9))
    assert large / small == pytest.approx(
        problem.norm_moment(4) / problem.norm_moment(2) ** 2, rel=1e-6
    )
