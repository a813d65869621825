"""What is promised: the constants of the paper's theorem."""

from neurotron.theory.constants import floor_constant, lambda1, lambda2, lambda3

__all__ = ["floor_constant", "lambda1", "lambda2", "lambda3"]
