"""Corrupted inputs: what trainers see, where they are drawn to, and that nothing is guaranteed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from tests.support.messages import says

import neurotron as nt
from neurotron._streams import Stream
from neurotron.data import Corrupted
from neurotron.guarantees import biased_weights
from neurotron.theory.sharp import risk_constant

NETWORK = nt.networks.symmetric(8, 3, 4, seed=2)
ZERO = np.zeros(3)
A, B = np.eye(8)[:2]
CORRELATED = nt.Correlated.from_covariance(np.where(np.eye(8, dtype=bool), 1.0, 0.4))
ROWS = nt.Empirical(np.random.default_rng(1).exponential(size=(50, 8)), symmetrized=True)


def drawn(data: nt.data.Data, batch: int = 4000, network=NETWORK) -> nt.data.Batch:
    return data.batch(network, Stream.of(5, 0), 3, batch)


def pair(law: nt.Law, batch: int = 4000, **ways) -> tuple[np.ndarray, np.ndarray]:
    """Return the inputs that trainers see, and those that labels were computed from."""
    data = (Corrupted(law, true_weights=ZERO, **ways), nt.data.Simulated(law, ZERO))
    return tuple(drawn(one, batch).inputs for one in data)


WAYS = [{"scale": 0.8, "probability": 0.5}, {"size": 1.0, "probability": 0.3}]
both_ways = pytest.mark.parametrize("ways", WAYS, ids=["noise", "adversary"])


# ---- what trainers see ---------------------------------------------------------------------------


@both_ways
def test_labels_are_those_of_inputs_that_the_law_alone_would_draw(ways):
    """So that runs can be compared in pairs."""
    corrupted, clean = (
        nt.Problem.draw(NETWORK, law, seed=2, noise=0.1)
        for law in (Corrupted(nt.Laplace(), **ways), nt.Laplace())
    )
    one, other = drawn(clean.data), drawn(corrupted.data)
    np.testing.assert_array_equal(one.labels, other.labels)
    hit = (one.inputs != other.inputs).any(axis=1)
    assert hit.mean() == pytest.approx(ways["probability"], abs=0.03)


def test_noise_is_normal():
    seen, clean = pair(nt.Laplace(), scale=0.5, probability=0.3)
    noise = seen - clean
    assert stats.kstest(noise[noise.any(axis=1)].ravel() / 0.5, stats.norm.cdf).pvalue > 1e-4


def test_an_adversary_moves_inputs_by_exactly_the_size():
    seen, clean = pair(nt.Laplace(), size=0.7, probability=0.3, reads=A, moves=2.0 * B)
    distances = np.linalg.norm(seen - clean, axis=1)
    hit = distances > 0.0
    np.testing.assert_allclose(distances[hit], 0.7)
    np.testing.assert_allclose((seen - clean)[hit] @ B, 0.7 * np.sign(clean[hit, 0]))


def test_rows_corrupted_at_a_lower_probability_are_a_subset():
    (low, clean), (high, _), (none, _), (every, _) = (
        pair(nt.Uniform(), 500, scale=0.5, probability=p) for p in (0.2, 0.6, 0.0, 1.0)
    )
    few, many = ((x != clean).any(axis=1) for x in (low, high))
    assert 0 < few.sum() < many.sum() < 500
    np.testing.assert_array_equal(low[few], high[few])
    np.testing.assert_array_equal(none, clean)
    assert (every != clean).all()


@pytest.mark.parametrize("law", [nt.Normal(scale=2.0), CORRELATED, ROWS], ids=repr)
@pytest.mark.parametrize(
    "ways", [{"scale": 0.9}, {"size": 0.9, "reads": A + B, "moves": B - A}], ids=["noise", "moved"]
)
def test_the_moments_that_trainers_see_are_those_of_samples(law, ways):
    ways = {"probability": 0.4, **ways}
    seen, clean = pair(law, 200_000, **ways)
    both, mixed = Corrupted(law, true_weights=ZERO, **ways).seen_moments(NETWORK)
    scale = np.abs(both).max()
    np.testing.assert_allclose(seen.T @ seen / len(seen), both, atol=0.02 * scale)
    np.testing.assert_allclose(seen.T @ clean / len(seen), mixed, atol=0.02 * scale)


@pytest.mark.parametrize(
    "data",
    [
        Corrupted(nt.Normal(scale=2.0), scale=0.5),
        Corrupted(CORRELATED, scale=3.0, probability=0.2),
        Corrupted(nt.ScipyLaw(stats.expon()), scale=0.5, probability=0.5),
        Corrupted(nt.StudentT(3), scale=0.5),
    ],
    ids=repr,
)
def test_the_law_of_noisy_inputs_conforms(data):
    nt.check_law(data.law)


def test_quartic_moments_are_those_of_the_inputs_seen():
    root = np.random.default_rng(0).standard_normal((3, 4))
    law, network = nt.Correlated(nt.Uniform(), root), nt.networks.linear(3)
    data = Corrupted(law, true_weights=ZERO, scale=1.5, probability=0.6)
    gram = np.cov(np.random.default_rng(2).standard_normal((3, 9)))
    x = drawn(data, 200_000, network).inputs
    terms = np.einsum("bi,ij,bj->b", x, gram, x)[:, None, None] * x[:, :, None] * x[:, None, :]
    gap = np.abs(terms.mean(axis=0) - data.law.even_moments(3).quartic(gram))
    assert (gap <= 5 * terms.std(axis=0) / math.sqrt(len(x))).all()
    assert data.law.even_moments(3, "inverse-norm").quartic is None


# ---- where Neuro-Tron is drawn to ----------------------------------------------------------------


@pytest.mark.parametrize("law", [nt.Normal(), CORRELATED], ids=["normal", "correlated"])
def test_an_adversary_chooses_the_directions_that_do_most_harm(law):
    """No other direction of hundreds moves the limit farther, for a small size."""
    gate, truth = NETWORK.mean_gate, nt.Problem.draw(NETWORK, law, seed=1).true_weights

    def harm(**directions):
        data = Corrupted(law, size=1e-4, probability=0.5, **directions)
        problem = nt.Problem.draw(NETWORK, data, true_weights=truth)
        return np.linalg.norm(biased_weights(problem, problem.sensing_matrix("optimal")) - truth)

    worst, draw = harm(), np.random.default_rng(0)
    values, vectors = np.linalg.eigh(gate @ law.covariance(8) @ gate.T)
    best = [one / np.linalg.norm(one) for one in (gate.T @ vectors[:, 0], gate.T @ truth)]
    for near in (1e-3, 0.1, 100.0):
        for _ in range(100):
            reads, moves = (one + near * draw.standard_normal(8) for one in best)
            assert harm(reads=reads, moves=moves) <= worst * (1.0 + 1e-3)
    first_order = 0.5e-4 * np.sqrt(2.0 / np.pi / values[0]) * np.linalg.norm(gate.T @ truth)
    assert worst == pytest.approx(first_order, rel=1e-3)


@both_ways
def test_neuro_tron_ends_where_its_mean_update_is_zero(ways):
    problem = nt.Problem.draw(NETWORK, Corrupted(nt.Normal(), **ways), seed=1)
    arm = nt.Arm(nt.NeuroTron(0.02, averaging=True))
    run = nt.simulate(problem, arm, steps=6000, batch_size=16)
    limit = biased_weights(problem, problem.sensing_matrix("optimal"))
    bias = np.linalg.norm(limit - problem.true_weights)
    assert np.linalg.norm(run.weights[0] - limit) < 0.1 * bias
    if "scale" in ways:  # errors in variables: w*/(1 + p s²)
        np.testing.assert_allclose(limit, problem.true_weights / (1.0 + 0.5 * 0.8**2))


def test_a_minority_of_moved_inputs_does_not_stop_the_defence():
    moved = Corrupted(nt.Normal(), size=2.0, probability=0.1)
    problem = nt.Problem.draw(nt.networks.symmetric(20, 4, 4, seed=1), moved, seed=1)
    run = nt.simulate(problem, [nt.NeuroTron(), nt.RefinedTron()], steps=6000, batch_size=16)
    assert run.final_errors[0] > 0.1
    assert run.final_errors[1] < 1e-12


# ---- nothing is guaranteed, and what cannot be is refused ----------------------------------------


@both_ways
def test_no_theorem_covers_corrupted_inputs_but_they_can_be_measured(ways):
    problem = nt.Problem.draw(nt.networks.relu_gate(3), Corrupted(nt.Normal(), **ways))
    arm, asked = nt.Arm(nt.NeuroTron(0.1)), {"batch_size": 4, "steps": 9}
    for method in ("sharp", "theorem1"):
        found = nt.certify(problem, arm, **asked, method=method)
        assert (found.holds, found.radius) == (False, math.inf)
        assert says(str(found), "no theorem covers the labels of Corrupted", "measured")
    with pytest.raises(nt.guarantees.NotAchievable, match="no theorem covers"):
        nt.plan(problem, None, radius=0.1, batch_size=4)
    measured = nt.certify(problem, arm, **asked, confidence=0.8, method="measured")
    assert 0.0 < measured.radius < math.inf
    assert measured.prediction_error <= math.sqrt(risk_constant(problem)) * measured.radius + 1e-12


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Corrupted(nt.Normal()), r"one of two ways.*`scale`.*`size`"),
        (lambda: Corrupted(nt.Normal(), scale=1.0, size=1.0), "one of two ways"),
        (lambda: Corrupted(nt.Normal(), scale=-1.0), r"`scale` .*\[1e-70, 1e70\], got -1"),
        (lambda: Corrupted(nt.Normal(), size=0.0), "`size`"),
        (lambda: Corrupted(nt.Normal(), size=1.0, probability=1.5), r"`probability`.*1\.5"),
        (lambda: Corrupted(nt.Normal(), size=1.0, reads=np.zeros(3)), "`reads`.*zero"),
        (lambda: pair(nt.Normal(), size=1.0, reads=np.ones(3)), r"`reads`.*8.*3"),
        (lambda: drawn(Corrupted(nt.Normal(), size=1.0)), "no labels to train on"),
        (lambda: Corrupted("normal", scale=1.0), "`clean` must be a Law, got 'normal'"),
        (lambda: Corrupted(Corrupted(nt.Normal(), size=1.0), size=1.0), "`clean` must be a Law"),
        (lambda: Corrupted(nt.Empirical(np.eye(2), sample_weight=[1.0, 2.0]), scale=1.0),
         "`sample_weight` belong to rows"),
        (lambda: biased_weights(nt.Problem.draw(NETWORK, nt.Normal()), NETWORK.mean_gate),
         "not corrupted"),
        (lambda: biased_weights(nt.Problem.draw(NETWORK, Corrupted(nt.Laplace(), size=0.5)),
                                NETWORK.mean_gate), r"not known.*Empirical"),
        (lambda: biased_weights(nt.Problem.draw(NETWORK, Corrupted(nt.Normal(), size=0.5)),
                                np.zeros((3, 8))), r"sensing.*more than one limit.*optimal"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_one_sentence(make, words):
    with pytest.raises(nt.InputError, match=words):
        make()


# ---- by name -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("corrupted:scale=0.5,law=student-t:dof=4;scale=2,probability=0.1",
         "Corrupted(StudentT(scale=2.0, dof=4.0), scale=0.5, probability=0.1)"),
        ("moved:size=0.5,probability=0.1,law=laplace:scale=2",
         "Corrupted(Laplace(scale=2.0), size=0.5, probability=0.1)"),
    ],
)  # fmt: skip
def test_corrupted_inputs_have_a_name(text, shown):
    data = nt.data.BY_NAME.build(text, n_inputs=8)
    assert repr(nt.Problem.draw(NETWORK, data, seed=1).data) == shown


def test_a_corrupted_law_inside_another_one_is_unknown():
    with pytest.raises(nt.InputError, match="unknown law 'corrupted'"):
        nt.data.BY_NAME.build("corrupted:scale=1,law=corrupted:scale=1")
