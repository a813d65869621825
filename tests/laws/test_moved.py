"""An adversary who moves inputs: what trainers see, where they are drawn to, and no guarantee."""

from __future__ import annotations

import numpy as np
import pytest

import neurotron as nt
from neurotron._streams import Purpose, Stream
from neurotron.guarantees import biased_weights
from neurotron.laws import Corrupted, Moved

NETWORK = nt.networks.symmetric(8, 3, 4, seed=2)
A, B = np.eye(8)[0], np.eye(8)[1]
CORRELATED = nt.laws.Correlated.from_covariance(np.where(np.eye(8, dtype=bool), 1.0, 0.4))


def drawn(law, batch=4000, n=8):
    u, v = Stream.of(5, 0).pairs(Purpose.INPUTS, 3, law.pairs(batch, n))
    return law.inputs(u, v, batch, n)


def test_a_share_of_the_inputs_is_moved_by_exactly_the_size():
    law = Moved(nt.Laplace(), 0.7, 0.3, reads=A, moves=2.0 * B)
    seen, clean = drawn(law), drawn(law.clean)
    distances = np.linalg.norm(seen - clean, axis=1)
    hit = distances > 0.0
    np.testing.assert_allclose(distances[hit], 0.7)
    assert hit.mean() == pytest.approx(0.3, abs=0.03)
    np.testing.assert_allclose((seen - clean)[hit] @ B, 0.7 * np.sign(clean[hit, 0]))


@pytest.mark.parametrize(
    "inner",
    [
        nt.Normal(scale=2.0),
        CORRELATED,
        nt.Empirical(np.random.default_rng(1).exponential(size=(50, 8)), symmetrized=True),
    ],
    ids=["normal", "correlated", "rows"],
)
def test_the_moments_that_trainers_see_are_those_of_samples(inner):
    law = Moved(inner, 0.9, 0.4, reads=A + B, moves=B - A)
    seen, clean = drawn(law, 200_000), drawn(law.clean, 200_000)
    both, mixed = law.seen_moments(8)
    scale = np.abs(both).max()
    np.testing.assert_allclose(seen.T @ seen / len(seen), both, atol=0.02 * scale)
    np.testing.assert_allclose(seen.T @ clean / len(seen), mixed, atol=0.02 * scale)


def test_moments_of_other_laws_are_not_known():
    problem = nt.Problem.draw(NETWORK, Moved(nt.Laplace(), 0.5))
    assert problem.law.seen_moments(8) is None
    with pytest.raises(nt.InputError, match=r"not known.*Empirical"):
        biased_weights(problem, NETWORK.mean_gate)


@pytest.mark.parametrize("inner", [nt.Normal(), CORRELATED], ids=["normal", "correlated"])
def test_a_problem_chooses_the_directions_that_do_most_harm(inner):
    """No other direction of hundreds moves the limit farther, for a small size."""
    problem = nt.Problem.draw(NETWORK, Moved(inner, 1e-4, 0.5), seed=1)
    m = problem.sensing_matrix("optimal")

    def harm(**directions):
        law = Moved(inner, 1e-4, 0.5, **directions)
        other = nt.Problem.draw(NETWORK, law, true_weights=problem.true_weights)
        return np.linalg.norm(biased_weights(other, m) - problem.true_weights)

    worst = harm()
    draw = np.random.default_rng(0)
    best = problem.law.reads, problem.law.moves
    for near in (1e-3, 0.1, 100.0):
        for _ in range(100):
            reads, moves = (one + near * draw.standard_normal(8) for one in best)
            assert harm(reads=reads, moves=moves) <= worst * (1.0 + 1e-3)
    truth, u = problem.true_weights, np.linalg.eigvalsh(NETWORK.mean_gate @ inner.covariance(8)
                                                        @ NETWORK.mean_gate.T)[0]  # fmt: skip
    first_order = 0.5e-4 * np.sqrt(2.0 / np.pi / u) * np.linalg.norm(NETWORK.mean_gate.T @ truth)
    assert worst == pytest.approx(first_order, rel=1e-3)


@pytest.mark.parametrize(
    "law", [Moved(nt.Normal(), 1.0, 0.3), Corrupted(nt.Normal(), 0.8, 0.5)], ids=["moved", "noise"]
)
def test_neuro_tron_ends_where_its_mean_update_is_zero(law):
    problem = nt.Problem.draw(NETWORK, law, seed=1)
    matrix = problem.sensing_matrix("optimal")
    arm = nt.Arm(nt.NeuroTron(0.02, averaging=True))
    run = nt.simulate(problem, arm, steps=6000, batch_size=16)
    limit = biased_weights(problem, matrix)
    bias = np.linalg.norm(limit - problem.true_weights)
    assert np.linalg.norm(run.weights[0] - limit) < 0.1 * bias


def test_a_sensing_matrix_with_many_limits_is_refused():
    problem = nt.Problem.draw(NETWORK, Moved(nt.Normal(), 0.5), seed=1)
    with pytest.raises(nt.InputError, match=r"sensing.*more than one limit.*optimal"):
        biased_weights(problem, np.zeros((3, 8)))


def test_honest_inputs_have_no_bias_to_ask_for():
    problem = nt.Problem.draw(NETWORK, nt.Normal())
    with pytest.raises(nt.InputError, match="not corrupted"):
        biased_weights(problem, NETWORK.mean_gate)


def test_no_guarantee_is_claimed_for_moved_inputs():
    problem = nt.Problem.draw(NETWORK, Moved(nt.Normal(), 0.5, 0.1), seed=1)
    with pytest.raises(nt.InputError, match="corrupt"):
        nt.certify(problem, nt.Arm(nt.NeuroTron()), batch_size=16, steps=100)


def test_a_minority_of_moved_inputs_does_not_stop_the_defence():
    problem = nt.Problem.draw(
        nt.networks.symmetric(20, 4, 4, seed=1), Moved(nt.Normal(), 2.0, 0.1), seed=1
    )
    run = nt.simulate(problem, [nt.NeuroTron(), nt.RefinedTron()], steps=6000, batch_size=16)
    assert run.final_errors[0] > 0.1
    assert run.final_errors[1] < 1e-12


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Moved(nt.Normal(), 0.0), "size"),
        (lambda: Moved(nt.Normal(), 1.0, 1.5), "probability"),
        (lambda: Moved(nt.Normal(), 1.0, reads=np.zeros(3)), "reads.*zero"),
        (lambda: Moved(Corrupted(nt.Normal(), 1.0), 1.0), "corrupted already"),
        (lambda: drawn(Moved(nt.Normal(), 1.0)), "no directions yet.*Problem.draw"),
    ],
    ids=["size", "probability", "direction", "twice", "directions"],
)
def test_what_cannot_be_is_refused_in_one_sentence(make, words):
    with pytest.raises(nt.InputError, match=words):
        make()


def test_moved_inputs_have_a_name():
    law = nt.laws.BY_NAME.build("moved:size=0.5,probability=0.1,law=laplace:scale=2", n_inputs=8)
    assert (law.size, law.probability, law.law) == (0.5, 0.1, nt.Laplace(scale=2.0))
    problem = nt.Problem.draw(NETWORK, law, seed=1)
    assert problem.law.n_inputs == 8
    assert problem.law.reads @ problem.law.reads == pytest.approx(1.0)
