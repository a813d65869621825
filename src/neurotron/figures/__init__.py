"""Results → plain series → picture."""

from neurotron.figures.trajectory import Series, plot, series

__all__ = ["Series", "plot", "series"]
