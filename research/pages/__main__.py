"""Write the numbers and tables of all pages."""

from research import signals, suspects
from research.pages import ROOT, defence, filled, paper, solver, theory, with_blocks
from research.tables import guide

PAGES = {
    "README.md": paper.readme,
    "docs/activations.md": paper.activations,
    "docs/defence.md": defence.defence,
    "docs/errata.md": paper.errata,
    "docs/paper.md": paper.paper,
    "docs/rows.md": solver.rows_page,
    "docs/signals.md": solver.signals,
    "docs/tables.md": solver.tables,
    "docs/theory.md": theory.theory,
}
"""The numbers of sentences."""
BLOCKS = {
    "docs/poisoned-labels.md": suspects.blocks,
    "docs/signals.md": signals.blocks,
    "docs/tables.md": guide.blocks,
}
"""Whole tables."""


def written(name: str) -> str:
    """Return the text of a page with its tables and numbers as they are stored."""
    text = (ROOT / name).read_text()
    text = with_blocks(text, BLOCKS[name]()) if name in BLOCKS else text
    return filled(text, PAGES[name]()) if name in PAGES else text


if __name__ == "__main__":
    for name in PAGES | BLOCKS:
        (ROOT / name).write_text(written(name))
