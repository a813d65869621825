"""Write the numbers of all pages."""

from research.pages import ROOT, defence, filled, paper, solver, theory

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

if __name__ == "__main__":
    for name, told in PAGES.items():
        page = ROOT / name
        page.write_text(filled(page.read_text(), told()))
