from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neurotron.engine.recording import recorded_steps

records = st.one_of(st.just("log"), st.just("all"), st.integers(1, 500))


@given(record=records, steps=st.integers(0, 3000))
def test_the_first_and_last_step_are_always_recorded_once_and_in_order(record, steps):
    chosen = recorded_steps(record, steps)
    assert chosen[0] == 0
    assert chosen[-1] == steps
    assert (np.diff(chosen) > 0).all()


@given(record=records, steps=st.integers(0, 3000), more=st.integers(0, 3000))
def test_a_longer_run_records_the_same_steps_before(record, steps, more):
    short, long = recorded_steps(record, steps), recorded_steps(record, steps + more)
    np.testing.assert_array_equal(short[short < steps], long[long < steps])


def test_log_records_are_few():
    assert len(recorded_steps("log", 40_000)) < 200
