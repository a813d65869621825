"""One self-contained page that says what a folder of results holds."""

from neurotron.report.page import build, write

__all__ = ["build", "write"]
