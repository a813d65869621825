"""What it means that two runs are equal."""

from __future__ import annotations

import numpy as np

import neurotron as nt

ROUNDING = 1e-10
"""How far two engines may differ after a few hundred steps, over which rounding errors grow. We saw
1.7e-11 for SGD under random signs on a machine whose NumPy uses other vector instructions."""


def assert_equal_runs(
    one: nt.Trajectories, other: nt.Trajectories, relative: float = ROUNDING
) -> None:
    """Compare status, records, weights and the states of trainers, up to a relative difference."""
    assert one.status == other.status
    assert one.stopped_at == other.stopped_at
    np.testing.assert_array_equal(one.steps, other.steps)
    assert one.has_errors == other.has_errors
    for name in ("weights", "losses", "errors")[: 2 + one.has_errors]:
        a, b = getattr(one, name), getattr(other, name)
        scale = np.abs(b).max(axis=1, initial=0.0, where=np.isfinite(b))[:, None]
        finite = np.isfinite(b)
        np.testing.assert_array_equal(finite, np.isfinite(a))
        gap = np.abs(np.where(finite, a, 0.0) - np.where(finite, b, 0.0))
        assert (gap <= relative * scale).all(), f"{name}: {(gap / scale).max():.1e}"
    for a, b in zip(one.state.memory, other.state.memory, strict=True):
        np.testing.assert_allclose(a, b, rtol=relative, atol=0.0)
