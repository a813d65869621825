"""One self-contained page that says what a folder of results holds."""

from neurotron.lab.pages.page import build, write, write_figures

__all__ = ["build", "write", "write_figures"]
