"""Guarantees do not say what is not so: rows, stored labels, attackers, quoted numbers, Ctrl-C."""

from __future__ import annotations

import importlib
import itertools
import re
import signal

import numpy as np
import pytest

import neurotron as nt
from neurotron.conformance import ConformanceError
from neurotron.guarantees.assumptions import parity


def rows_problem(rows, truth=True, **law):
    n = np.shape(rows)[1]
    gate = nt.networks.relu_gate(n)
    if not truth:
        return nt.Problem.from_rows(gate, rows, np.ones(len(rows)))
    return nt.Problem.draw(gate, nt.Empirical(rows, **law), true_weights=np.full(n, -2.0))


def certify(problem, attack=None, **options):
    options = {"batch_size": 16, "steps": 1000} | options
    return nt.certify(problem, nt.Arm(nt.NeuroTron("fastest"), attack), **options)


# ---- parity of rows ----------------------------------------------------------------------------


def test_rows_of_one_sign_have_no_guarantee_however_few():
    draw = np.random.default_rng(0)
    for count in range(1, 201):
        for n in (1, 3):
            found = parity(rows_problem(draw.exponential(size=(count, n))))
            assert found.blocking
            assert not found.holds
    certificate = certify(rows_problem(draw.exponential(size=(25, 1))))
    assert not certificate.holds
    assert "25 rows are too few" in " ".join(str(certificate).split())


@pytest.mark.parametrize(("count", "least"), [(50, 0.98), (150, 0.995), (1000, 0.995)])
def test_rows_of_a_symmetric_law_are_let_pass(count, least):
    draw = np.random.default_rng(1)
    samples = draw.standard_normal((400, count, 3))
    passed = [not parity(rows_problem(rows)).blocking for rows in samples]
    assert np.mean(passed) >= least


def test_mostly_positive_rows_are_refused():
    draw = np.random.default_rng(2)
    for count in (50, 60, 100, 200):
        rows = np.abs(draw.standard_normal((count, 1)))
        rows[: count // 5] *= -1.0
        assert parity(rows_problem(rows)).blocking


# ---- labels that are stored --------------------------------------------------------------------


def test_flipped_signs_make_parity_where_labels_are_made_and_stored_rows_are_never_flipped():
    rows = np.random.default_rng(3).exponential(size=(100, 3))
    stored = rows_problem(rows, truth=False)
    assert not stored.law.symmetric
    assert not certify(stored, initial_error=10.0).holds
    assert certify(rows_problem(rows, symmetrized=True)).holds
    with pytest.raises(nt.NotAchievable, match="parity"):
        nt.plan(stored, None, radius=1.0, batch_size=8, initial_error=10.0)


def test_flipping_signs_is_not_advised_where_labels_are_stored():
    rows = np.random.default_rng(3).exponential(size=(100, 3))
    assert "symmetrized" not in str(certify(rows_problem(rows, truth=False), initial_error=10.0))
    assert "labels can be made" in " ".join(str(certify(rows_problem(rows))).split())


@pytest.mark.parametrize("known", [False, True])
def test_too_few_rows_are_told_how_many_to_give(known):
    rows = np.random.default_rng(3).standard_normal((20, 3))
    certificate = certify(rows_problem(rows, truth=known), initial_error=10.0)
    text = " ".join(str(certificate).split())
    assert "20 rows are too few to tell: give at least 50" in text
    assert "No guarantee is known" not in text
    assert ("50. If labels can be made" in text) is known


# ---- what attackers look at --------------------------------------------------------------------


class Majority(nt.Attack):
    """Pushes as most samples of the batch do, and does not say that it looks at them."""

    query_fields = ("push",)

    def distort(self, bound, query):
        return (
            bound * np.sign(np.mean(query.push, axis=0, keepdims=True)) * np.ones_like(query.push)
        )


class DeclaredMajority(Majority):
    scope = "batch"


class JointCoins(nt.attacks.Constant):
    """Attacks the whole batch or nothing."""

    query_fields = ("label",)

    @staticmethod
    def chance(probability, query):
        return np.where(np.mean(query.label) > 0.0, probability, 0.0) + 0.0 * query.label


class Stateful(nt.Attack):
    """Changes its answer whenever it is asked."""

    query_fields = ("label",)
    asked = itertools.count()

    def distort(self, bound, query):
        return bound * (-1.0) ** next(self.asked) + 0.0 * query.label


class Comparing(nt.Attack):
    """Looks at how the other arms answer."""

    query_fields = ("output",)

    def distort(self, bound, query):
        return bound * np.tanh(query.output - query.output.mean(axis=1, keepdims=True))


class Evading(Majority):
    """Looks at the batch unless it is one of the size that is tried for every attack."""

    def distort(self, bound, query):
        if len(query.push) in (1, 64):
            return 0.0 * query.push
        return super().distort(bound, query)


class Writing(nt.Attack):
    """Writes into what it is given."""

    def distort(self, bound, query):
        query.label[query.label > 0.0] = 0.0
        return bound + query.label


@pytest.mark.parametrize(
    ("attack", "told"),
    [
        (Stateful, "distort returns different values.*keep no state"),
        (Comparing, "distort depends on the other arms.*its own sample only"),
    ],
)
def test_an_attack_is_told_what_it_depends_on(small_problem, attack, told):
    certificate = certify(small_problem, attack(0.5, 0.3))
    assert not certificate.holds
    text = " ".join(str(certificate).split())
    assert re.search(told, text)
    assert "scope" not in text
    with pytest.raises(ConformanceError, match=told.partition(".*")[0]):
        nt.check_attack(attack(0.5, 0.3))
    with pytest.raises(nt.InputError, match=told.split()[1]):
        certify(small_problem, attack(0.5, 0.3), budget=nt.Budget(0.5, 0.3))


def test_an_attack_that_writes_into_the_query_is_told_so(small_problem):
    told = "distort of Writing writes into .*read-only.*: return new"
    with pytest.raises(nt.InputError, match=told):
        certify(small_problem, Writing(0.5, 0.3))
    with pytest.raises(ConformanceError, match=told):
        nt.check_attack(Writing(0.5, 0.3))


def test_what_an_attack_looks_at_is_tried_with_the_batch_size_that_is_certified(small_problem):
    certificate = certify(small_problem, Evading(0.5, 0.3))
    assert not certificate.holds
    assert "scope = 'batch'" in " ".join(str(certificate).split())


def test_an_attack_that_looks_at_the_batch_must_say_so(small_problem):
    with pytest.raises(ConformanceError, match="scope = 'batch'"):
        nt.check_attack(Majority(0.5, 0.3))
    certificate = certify(small_problem, Majority(0.5, 0.3))
    assert not certificate.holds
    assert "scope = 'batch'" in " ".join(str(certificate).split())
    with pytest.raises(nt.NotAchievable, match="scope = 'batch'"):
        nt.plan(small_problem, Majority(0.5, 0.3), radius=2.0, batch_size=8)
    with pytest.raises(nt.InputError, match="sees the batch"):
        certify(small_problem, Majority(0.5, 0.3), budget=nt.Budget(0.5, 0.3))
    assert certify(small_problem, DeclaredMajority(0.5, 0.3)).holds


def test_coins_tossed_jointly_are_covered_by_no_guarantee(small_problem):
    with pytest.raises(ConformanceError, match=r"chance looks at .*one sample at a time"):
        nt.check_attack(JointCoins(0.5, 0.3))
    for method in ("sharp", "theorem1"):
        certificate = certify(small_problem, JointCoins(0.5, 0.3), method=method)
        assert [a.name for a in certificate.failed] == ["attack"]


# ---- numbers that are quoted -------------------------------------------------------------------


def test_every_text_of_a_radius_is_at_least_the_radius(small_problem):
    plan = nt.plan(small_problem, nt.Budget(0.5, 0.3), steps=700, batch_size=8)
    radius = plan.certificate.radius
    marks = {
        repr(plan.certificate): ["radius="],
        repr(plan): ["radius="],
        " ".join(str(plan).split()): ["ε = ", "w*‖ is at most "],
    }
    for text, mark in [(text, mark) for text, some in marks.items() for mark in some]:
        quoted = float(text.partition(mark)[2].split()[0].rstrip(",):"))
        assert radius <= quoted < 1.001 * radius
    assert repr(nt.plan(small_problem, nt.Budget(0.5, 0.3), radius=2.0, batch_size=8)).count(
        "steps"
    ) == 1  # fmt: skip


# ---- Ctrl-C ------------------------------------------------------------------------------------


def test_ctrl_c_ends_a_measurement_at_once(small_problem, monkeypatch):
    certifying = importlib.import_module("neurotron.guarantees.certify")
    made, simulate = [], certifying.simulate

    def interrupted(*arguments, **options):
        made.append(options["replicate"])
        return simulate(
            *arguments, **options, progress=lambda *_: signal.raise_signal(signal.SIGINT)
        )

    monkeypatch.setattr(certifying, "simulate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        certify(small_problem, method="measured", steps=10**7)
    assert made == [0]


class Skewed(nt.data.Simulated):
    """Labels with noise that only `batch` knows of."""

    def batch(self, network, stream, step, batch_size):
        batch = super().batch(network, stream, step, batch_size)
        return batch._replace(labels=batch.labels + np.abs(batch.inputs[:, 0]) - 1.0)


@pytest.mark.parametrize("method", ["sharp", "theorem1"])
def test_labels_of_data_of_ones_own_have_no_guarantee(small_problem, method):
    """The certificate said 5e-13 of exponential noise, and the error was 0.17."""
    data = Skewed(small_problem.law, small_problem.true_weights)
    problem = nt.Problem(small_problem.network, data)
    arm = nt.Arm(nt.NeuroTron(1e-3))
    found = nt.certify(problem, arm, batch_size=8, steps=100, method=method)
    assert not found.holds
    assert "labels" in [assumption.name for assumption in found.failed]
    assert "measured" in next(a.remedy for a in found.failed if a.name == "labels")
    with pytest.raises(nt.NotAchievable, match="no theorem covers the labels of Skewed"):
        nt.plan(problem, None, radius=1.0, batch_size=8, method=method)
    assert nt.certify(problem, arm, batch_size=8, steps=3, method="measured", confidence=0.5).holds
