"""Solvers: the filter from stored rows of data, although some labels are tampered with."""

from neurotron.solvers.proof import Proof
from neurotron.solvers.solution import Solution
from neurotron.solvers.solver import solve

__all__ = ["Proof", "Solution", "solve"]
