from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import neurotron as nt
from neurotron._streams import Purpose, Stream

ROOT = np.random.default_rng(0).standard_normal((3, 4))
LAWS = [
    nt.Normal(scale=0.5),
    nt.Laplace(scale=2.0),
    nt.StudentT(4),
    nt.StudentT(7.5, scale=3.0),
    nt.StudentT(0.5),
    nt.Uniform(scale=2.0),
    nt.Rademacher(scale=0.3),
    nt.ScipyLaw(stats.logistic(scale=0.4)),
    nt.ScipyLaw(stats.arcsine(loc=-1.0, scale=2.0)),
    nt.ScipyLaw(stats.expon()),
    nt.ScipyLaw(stats.t(3)),
    nt.Correlated(nt.Normal(), ROOT),
    nt.Correlated(nt.Uniform(), ROOT),
    nt.Empirical(np.random.default_rng(1).exponential(size=(40, 3))),
    nt.Empirical(np.random.default_rng(1).exponential(size=(40, 3)), symmetrized=True),
]


def draws(law: nt.Law, batch: int, n: int, step: int = 0) -> np.ndarray:
    u, v = Stream.of(3, 0).pairs(Purpose.INPUTS, step, law.pairs(batch, n))
    return law.inputs(u, v, batch, n)


def test_every_built_in_law_is_here():
    assert {type(law) for law in LAWS} >= {*nt.laws.BUILT_IN}


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_every_law_conforms(law):
    nt.check_law(law)


@pytest.mark.parametrize(
    ("law", "reference"),
    [
        (nt.Normal(scale=3.0), stats.norm(scale=3.0)),
        (nt.Laplace(scale=2.0), stats.laplace(scale=2.0)),
        (nt.StudentT(4), stats.t(4)),
        (nt.StudentT(1, scale=2.0), stats.cauchy(scale=2.0)),
        (nt.StudentT(0.7), stats.t(0.7)),
        (nt.StudentT(300), stats.t(300)),
        (nt.Uniform(scale=2.0), stats.uniform(-2.0, 4.0)),
        (nt.ScipyLaw(stats.hypsecant()), stats.hypsecant()),
    ],
    ids=lambda value: repr(value) if isinstance(value, nt.Law) else "",
)
def test_coordinates_follow_the_distribution_scipy_knows(law, reference):
    """Kolmogorov–Smirnov on 400 000 draws; a right law passes at p > 1e-4 for this fixed seed."""
    sample = draws(law, 4000, 100).ravel()
    assert stats.kstest(sample, reference.cdf).pvalue > 1e-4


def test_the_two_coordinates_of_a_pair_are_independent():
    for law in (nt.Normal(), nt.Laplace(), nt.Uniform(), nt.Rademacher()):
        u, v = Stream.of(0, 0).pairs(Purpose.INPUTS, 0, 200_000)
        first, second = law.coordinates(u, v)
        for f in (np.sign, np.abs, np.square):
            correlation = np.corrcoef(f(first) + 1e-9 * first, f(second) + 1e-9 * second)[0, 1]
            assert abs(correlation) < 5 / math.sqrt(200_000), law


def test_an_odd_number_of_coordinates_uses_every_pair():
    law = nt.Normal()
    assert law.pairs(3, 5) == 8
    assert draws(law, 3, 5).shape == (3, 5)


@pytest.mark.parametrize(
    ("distribution", "symmetric"),
    [
        (stats.norm(), True),
        (stats.norm(loc=1e-3), False),
        (stats.t(2.5), True),
        (stats.gamma(3.0), False),
        (stats.beta(2.0, 2.0, loc=-0.5), True),
    ],
)
def test_symmetry_of_a_scipy_law_is_read_off_its_quantiles(distribution, symmetric):
    assert nt.ScipyLaw(distribution).symmetric is symmetric


def test_rows_are_symmetric_if_their_opposites_are_the_same_set():
    assert nt.Empirical([[1.0, 0.0], [-1.0, 0.0], [0.0, 2.0], [0.0, -2.0]]).symmetric
    assert not nt.Empirical([[1.0, 0.0], [-1.0, 0.0], [0.0, 2.0]]).symmetric


def test_an_asymmetric_law_may_be_trained_on_but_not_certified():
    law = nt.ScipyLaw(stats.expon())
    problem = nt.Problem.draw(nt.networks.relu_gate(3), law)
    run = nt.simulate(problem, [nt.Arm(nt.SGD(1e-2))], steps=20, batch_size=4)
    assert run.status == ("finished",)
    with pytest.raises(nt.InputError, match="λ1 needs a parity-symmetric law"):
        nt.theory.lambda1(problem, np.eye(3))


def test_covariance_of_an_uncentred_law_is_its_second_moment():
    law = nt.ScipyLaw(stats.norm(loc=2.0, scale=0.5))
    sample = draws(law, 100_000, 2)
    np.testing.assert_allclose(sample.T @ sample / len(sample), law.covariance(2), rtol=0.01)
