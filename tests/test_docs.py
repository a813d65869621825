"""What the documents link to is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import neurotron as nt

ROOT = Path(__file__).parent.parent
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_has_a_target(document):
    for link in LINK.findall(document.read_text()):
        place, _, anchor = link.partition("#")
        if place.startswith(("http:", "https:")):
            continue
        target = document.parent / place if place else document
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


def anchors(document: Path) -> set[str]:
    """Return the places of a document: those with an id, and its headings."""
    text = document.read_text()
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    slugs = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return slugs | set(re.findall(r'<a id="([^"]+)">', text))


def test_the_study_in_the_guide_can_be_run(tmp_path):
    (study,) = re.findall(r"```toml\n(.*?)```", (ROOT / "docs" / "studies.md").read_text(), re.S)
    (tmp_path / "mine.toml").write_text(study)
    first, second = nt.lab.read(tmp_path / "mine.toml").settings
    assert first["sweeps"] == second["sweeps"]


ELSEWHERE = re.compile(r"\b(?:THEORY2?|DESIGN|REFEREE)\b|theory notes")
WRITTEN = [
    path
    for folder in (
        "src",
        "docs",
        "tests",
        "research",
        "benchmarks",
        *ROOT.glob("[RC]*.md"),
    )
    for path in (ROOT / folder, *(ROOT / folder).rglob("*"))
    if path.suffix in {".py", ".md", ".toml", ".html"} and path != Path(__file__)
]


def test_nothing_refers_to_documents_that_do_not_ship():
    assert len(WRITTEN) > 100
    assert [path.name for path in WRITTEN if ELSEWHERE.search(path.read_text())] == []
