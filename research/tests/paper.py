"""Problems with the laws and dimensions of the paper's study."""

from __future__ import annotations

from benchmarks.workloads import PAPER

import neurotron as nt


def problem(setting: str, seed: int, noise: float = 0.0) -> nt.Problem:
    """Return the problem of a setting of the paper on the network of a seed."""
    chosen = PAPER[setting]
    network = nt.networks.BY_NAME.build(
        chosen.network, n_inputs=chosen.n_inputs, filter_size=chosen.filter_size, seed=seed
    )
    return nt.Problem.draw(network, nt.laws.BY_NAME.build(chosen.law), seed=seed, noise=noise)
