"""What rows prove about a filter, if honest labels are exact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from neurotron._types import Array, Mask
from neurotron.networks import FilterNetwork

__all__ = ["Proof", "prove"]


@dataclass(frozen=True)
class Proof:
    """Up to how many tampered rows a filter is the true one."""

    tampered: int
    shared: int
    kind: Literal["proved", "measured", "none"]
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        return dict(vars(self))


def prove(
    network: FilterNetwork, X: Array, weights: Array, explained: Mask, *, intercept: bool = False
) -> Proof:
    """Return what the explained rows prove."""
    shared = network.filter_size - 1 + intercept if network.leak == 1.0 else network.filter_size
    informative = network.gradient(weights, X).any(axis=1) | intercept
    return Proof(max(int((explained & informative).sum()) - 1 - shared, 0), shared, "proved", "")
