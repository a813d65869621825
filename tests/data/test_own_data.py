"""Data of a user's own: what is wrong with them is said in one sentence."""

from __future__ import annotations

import numpy as np
import pytest

import neurotron as nt
from neurotron.data import Batch


def own(**members) -> nt.data.Data:
    """Return data whose members are those given; batches of ones unless said otherwise."""

    def batch(self, network, stream, step, batch_size):
        return Batch(np.ones((batch_size, network.n_inputs)), np.ones(batch_size))

    return type("Own", (nt.data.Data,), {"law": nt.Normal(), "batch": batch} | members)()


def returning(value):
    return lambda self, network, stream, step, batch_size: value


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (lambda: own(law=None), r"`Own\.law` must be a Law, got None"),
        (lambda: own(law="normal"), r"`Own\.law` must be a Law, got 'normal'"),
        (lambda: own(law=nt.Normal), r"`Own\.law` must be a Law"),
        (lambda: own(noise="a"), r"`Own\.noise`"),
        (lambda: own(noise=-1.0), r"`Own\.noise` must be in \[0"),
        (lambda: own(true_weights=[1.0]), r"`true_weights` must have shape \(2,\)"),
        (lambda: own(batch=returning(None)), "the batch of Own` must be a Batch"),
        (lambda: own(batch=returning(([[1.0, 1.0]], [1.0]))), "the batch of Own` must be a Batch"),
        (lambda: own(batch=returning(Batch(np.ones((4, 3)), np.ones(4)))), r"shape \(4, 2\)"),
        (
            lambda: own(batch=returning(Batch(np.ones((4, 2)), np.ones(4), np.ones(3)))),
            r"the counts of Own must have shape \(4,\)",
        ),
        (lambda: np.ones((4, 2)), r"`data` must be Data.*from_rows"),
    ],
)
def test_what_is_wrong_with_data_is_said_in_one_sentence(data, message):
    with pytest.raises(nt.InputError, match=message):
        nt.simulate(
            nt.Problem(nt.networks.linear(2), data()), [nt.Arm(nt.SGD(0.1))], steps=1, batch_size=4
        )


@pytest.mark.parametrize("engine", ["compiled", "numpy"])
def test_true_weights_of_ones_own_data_may_be_a_list(engine):
    problem = nt.Problem(nt.networks.linear(2), own(true_weights=[0.5, 0.5]))
    run = nt.simulate(problem, [nt.Arm(nt.SGD(0.1))], steps=50, batch_size=4, engine=engine)
    assert run.errors[0, -1] < run.errors[0, 0]
