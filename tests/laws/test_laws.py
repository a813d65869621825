from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from tests.support.messages import says

import neurotron as nt
from neurotron._streams import Purpose, Stream
from neurotron.laws import Corrupted

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
    Corrupted(nt.Normal(scale=2.0), 0.5),
    Corrupted(nt.Correlated(nt.Uniform(), ROOT), 3.0, probability=0.2),
    Corrupted(nt.ScipyLaw(stats.expon()), 0.5, probability=0.5),
    Corrupted(nt.StudentT(3), 0.5),
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


# ---- corrupted inputs ----------------------------------------------------------------------------


def test_labels_are_made_of_the_clean_inputs_and_the_trainer_sees_others():
    """The clean ones are those of the clean law, so that runs can be compared in pairs."""
    network, law = nt.networks.relu_gate(3), nt.Laplace()
    clean = nt.Problem.draw(network, law, seed=2)
    corrupted = nt.Problem.draw(network, Corrupted(law, 0.5, probability=0.3), seed=2)
    one, other = (p.data.batch(network, Stream.of(1, 0), 4, 2000) for p in (clean, corrupted))
    np.testing.assert_array_equal(one.labels, other.labels)
    noise = other.inputs - one.inputs
    hit = noise.any(axis=1)
    assert abs(hit.mean() - 0.3) < 5 * math.sqrt(0.21 / 2000)
    assert stats.kstest(noise[hit].ravel() / 0.5, stats.norm.cdf).pvalue > 1e-4


def test_rows_corrupted_at_a_lower_probability_are_a_subset():
    low, high = (draws(Corrupted(nt.Uniform(), 0.5, p), 500, 3) for p in (0.2, 0.6))
    clean = draws(nt.Uniform(), 500, 3)
    few, many = ((x != clean).any(axis=1) for x in (low, high))
    np.testing.assert_array_equal(draws(Corrupted(nt.Uniform(), 0.5, 0.0), 500, 3), clean)
    assert 0 < few.sum() < many.sum() < 500
    np.testing.assert_array_equal(low[few], high[few])
    assert (draws(Corrupted(nt.Uniform(), 0.5), 500, 3) != clean).all()


def test_quartic_moments_are_those_of_the_inputs_seen():
    law = Corrupted(nt.Correlated(nt.Uniform(), ROOT), 0.7, probability=0.6)
    gram = np.cov(np.random.default_rng(2).standard_normal((3, 9)))
    x = draws(law, 200_000, 3)
    terms = np.einsum("bi,ij,bj->b", x, gram, x)[:, None, None] * x[:, :, None] * x[:, None, :]
    gap = np.abs(terms.mean(axis=0) - law.even_moments(3).quartic(gram))
    assert (gap <= 5 * terms.std(axis=0) / math.sqrt(len(x))).all()
    assert law.even_moments(3, "inverse-norm").quartic is None


def test_neuro_tron_is_drawn_to_a_shorter_filter_by_corrupted_inputs():
    """Errors in variables: the mean update vanishes at w*/(1 + p s²)."""
    network, p, s = nt.networks.symmetric(8, 3, 4, seed=1), 0.5, 1.0
    problem = nt.Problem.draw(network, Corrupted(nt.Normal(), s, p), seed=1)
    arm = nt.Arm(nt.NeuroTron(0.05))
    run = nt.simulate(problem, [arm], steps=500, batch_size=2000)
    np.testing.assert_allclose(run.weights[0], problem.true_weights / (1 + p * s**2), atol=0.04)


def test_nothing_is_guaranteed_of_corrupted_inputs_but_they_can_be_measured():
    problem = nt.Problem.draw(nt.networks.relu_gate(3), Corrupted(nt.Normal(), 0.5))
    arm = nt.Arm(nt.NeuroTron("fastest"))
    law = "Corrupted(Normal(scale=1.0), scale=0.5, probability=1)"
    for method in ("sharp", "theorem1"):
        with pytest.raises(nt.InputError) as caught:
            nt.certify(problem, arm, batch_size=4, steps=9, method=method)
        assert says(caught.value, "a guarantee needs labels", law, "method 'measured'")
    with pytest.raises(nt.InputError, match="a plan needs labels"):
        nt.plan(problem, None, accuracy=0.1, batch_size=4)
    with pytest.raises(nt.InputError, match="step_size='scheduled' needs labels"):
        nt.simulate(problem, [nt.Arm(nt.NeuroTron("scheduled"))], steps=9, batch_size=4)
    measured = nt.certify(problem, arm, batch_size=4, steps=9, failure=0.2, method="measured")
    assert 0.0 < measured.radius < math.inf


def test_corrupted_inputs_have_a_name():
    built = nt.laws.BY_NAME.build("corrupted:scale=0.5,law=student-t:dof=4;scale=2,probability=0.1")
    assert repr(built) == "Corrupted(StudentT(scale=2.0, dof=4.0), scale=0.5, probability=0.1)"
    with pytest.raises(nt.InputError, match=r"`law` .*corrupted already"):
        nt.laws.BY_NAME.build("corrupted:scale=1,law=corrupted:scale=1")
