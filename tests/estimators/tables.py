"""Tables of the tests of the regressor."""

from __future__ import annotations

import numpy as np

COEFFICIENTS = np.array([1.0, -2.0, 0.5])
INTERCEPT = 4.0


def table(rows=300, noise=0.1, attacked=0.0, shift=5.0, seed=0, draw_noise=None):
    """Return X, y and which labels are shifted; the noise is normal by default."""
    draw = np.random.default_rng(seed)
    X = draw.standard_normal((rows, len(COEFFICIENTS)))
    errors = draw.standard_normal(rows) if draw_noise is None else draw_noise(draw, rows)
    mask = np.arange(rows) < round(attacked * rows)
    return X, X @ COEFFICIENTS + INTERCEPT + noise * errors + shift * mask, mask
