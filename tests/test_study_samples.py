"""Samples of the stored studies, computed again: one replicate or few, the same bars."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import neurotron as nt
from neurotron.lab.claims import activations, certificates
from neurotron.lab.claims.frontier import CONCENTRATED, NON_ADDITIVE
from neurotron.lab.results.tables import CLOSE, EXACT, Results
from neurotron.lab.studies.building import build_arms, build_problem


def sample(folder, name: str, setting: str, replicates: int, **changes) -> Results:
    """Run one setting of a study of the catalog, some of its trainers or attacks left out."""
    study = nt.lab.studies.read(name)
    of_setting = {key: changes.pop(key) for key in ("trainers", "sweeps") if key in changes}
    of_setting["paired_with"] = None  # the other one is not run
    chosen = study.setting(setting).model_copy(update=of_setting)
    short = study.model_copy(update={"settings": (chosen,), **changes})
    report = nt.lab.studies.run(short, folder, replicates=replicates)
    assert not report.failures
    return nt.load_results(folder)


def test_the_defence_recovers_the_filter_under_every_additive_attack(tmp_path):
    sweeps = nt.lab.studies.read("defence").setting("normal-9").sweeps
    others = (*CONCENTRATED, *NON_ADDITIVE)
    additive = tuple(sweep for sweep in sweeps if sweep.attack.partition(":")[0] not in others)
    runs = sample(
        tmp_path / "out", "defence", "normal-9", 1, sweeps=additive, trainers=("RefinedTron",)
    ).runs
    assert len(runs) == 5 * 8
    near = pl.col("probability") == 0.45
    assert runs.filter(~near)["error"].max() < EXACT
    assert runs.filter(near)["error"].max() < CLOSE


@pytest.mark.parametrize(
    ("setting", "law", "limit"),
    [
        ("normal-1-net-0", "normal", 1.03),
        pytest.param(
            "cauchy-net-0", "student-t:dof=1", 1.15, marks=[pytest.mark.long, pytest.mark.quick]
        ),
    ],
)
def test_certified_errors_are_hardly_larger_than_measured_ones(setting, law, limit, tmp_path):
    results = sample(tmp_path / "out", "sharpness", setting, 3)
    ratios = [one.estimate for one in certificates.sharp(limit, law)(results)]
    assert len(ratios) == 2
    assert 0.97 <= min(ratios) <= max(ratios) <= limit
    assert max(one.estimate for one in certificates.radius_near_error(1.5)(results)) <= 1.5


@pytest.mark.parametrize(
    "setting", ["laplace-2-net-0", "uniform-net-0", "student-t-4-net-0", "cauchy-net-0"]
)
def test_no_direction_that_is_found_pushes_one_percent_further_than_that_of_the_attack(setting):
    study = nt.lab.studies.read("sharpness")
    spec = study.setting(setting)
    problem = build_problem(study, spec, 0)
    arm = build_arms(study, spec, problem, 0)[0]
    searched, fresh = (pushes(problem, arm.trainer, seed) for seed in (0, 1))

    def pushed(u):
        return np.abs(fresh @ u).mean() / np.linalg.norm(u)

    first = arm.attack.probe_vector
    for u in (first, *np.random.default_rng(2).standard_normal((2, first.size))):
        for _ in range(30):  # the mean push of the attack along u, which is farther than along u
            u = searched.T @ np.sign(searched @ u)
        assert pushed(u) < 1.01 * pushed(first)


def pushes(problem: nt.Problem, trainer: nt.NeuroTron, seed: int, count: int = 20_000):
    """Return ωMx for inputs that are drawn from the law, (count, r)."""
    law, n = problem.law, problem.network.n_inputs
    x = law.inputs(*np.random.default_rng(seed).random((2, law.pairs(count, n))), count, n)
    weights = 1.0 if trainer.weighting is None else 1.0 / (x**2).sum(axis=1, keepdims=True)
    return weights * x @ trainer.completed(problem).sensing.T


@pytest.mark.parametrize("setting", ["student-t-4", "student-t-2.5", "cauchy"])
def test_heavy_tails_with_inverse_norm_weights_are_certified(setting, tmp_path):
    results = sample(
        tmp_path / "out", "heavy-tails", setting, 8, steps=3000,
        trainers=("inverse-norm weights",),
    )  # fmt: skip
    findings = certificates.certified_mean_square(results)
    assert [one.holds for one in findings] == [True, True]
    assert min(one.estimate for one in findings) > 0.05  # the bound says something


def test_no_verified_radius_is_smaller_than_the_error_and_exact_filters_are_verified(tmp_path):
    sweeps = nt.lab.studies.read("verified").setting("normal-9").sweeps
    chosen = tuple(sweep for sweep in sweeps if sweep.attack in ("adaptive", "half-space"))
    trainers = ("RefinedTron", "certified Neuro-Tron")
    results = sample(tmp_path / "out", "verified", "normal-9", 1, sweeps=chosen, trainers=trainers)
    (finding,) = certificates.verification_holds(results)
    assert finding.count == 0
    assert 0.001 < finding.worst < 1.0  # the radii say something
    runs = results.runs
    assert len(runs) == 2 * 8 * 2
    exact = runs.filter(pl.col("error") < EXACT)
    assert len(exact) > 12
    assert exact["verified_radius"].max() < CLOSE
    others = runs.filter(pl.col("error") >= EXACT, pl.col("probability") <= 0.2)
    assert others["verified_radius"].is_finite().all()


@pytest.mark.parametrize("setting", ["softplus-normal", "silu-student-t", "gelu-uniform"])
def test_every_activation_recovers_to_rounding_and_has_a_sharp_certificate(setting, tmp_path):
    results = sample(tmp_path / "out", "activations", setting, 2)
    (recovered,) = certificates.recovers_to_rounding(results)
    assert recovered.worst < 1e-14
    ratios = [one.estimate for one in activations.sharp_with_every(1.1)(results)]
    assert len(ratios) == 2
    assert 0.97 <= min(ratios) <= max(ratios) <= 1.1
    (held,) = certificates.certificate_holds(results)
    assert held.count == 0
    assert 0.5 < held.worst < 1.0  # the radii say something
