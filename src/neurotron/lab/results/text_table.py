"""A table for readers, which the page and the terminal show alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class TextTable(NamedTuple):
    """A table of text and numbers, which a function of the `tables` of a study returns."""

    name: str
    """A word for links, as in "outcomes"."""
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    """Text, numbers or None, one for each column; a row of one text is a heading."""
    note: str = ""
    """What the columns mean."""
    on_terminal: bool = True
    """Whether `neurotron run` prints it, too."""
