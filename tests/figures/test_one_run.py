from __future__ import annotations

import numpy as np

import neurotron as nt
from neurotron.figures.one_run import run_lines


def test_a_diverged_arms_line_ends_and_the_others_are_whole(small_problem):
    arms = [nt.Arm(nt.SGD(5.0), name="wild"), nt.Arm(nt.SGD(0.02), name="calm")]
    run = nt.simulate(small_problem, arms, steps=100, batch_size=4, record="all")
    wild, calm = run_lines(run)
    assert (wild.name, calm.name) == ("wild", "calm")
    assert len(wild.x) == run.stopped_at[0] - 1
    np.testing.assert_array_equal(calm.x, np.arange(1, 101))
    np.testing.assert_array_equal(calm.y, run.errors[1, 1:])


def test_a_picture_is_saved_in_the_format_of_its_name(small_problem, tmp_path):
    run = nt.simulate(small_problem, [nt.Arm(nt.SGD(0.02))], steps=50, batch_size=4)
    for name, head in [("p.png", b"\x89PNG"), ("p.pdf", b"%PDF")]:
        run.plot(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(head)
