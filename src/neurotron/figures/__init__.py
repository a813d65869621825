"""Results → plain series → picture."""

from neurotron.figures.trajectory import Series, check_picture, plot, series

__all__ = ["Series", "check_picture", "plot", "series"]
