"""What README and docs say: the numbers of a sentence or of a row of a table."""

from __future__ import annotations

from pathlib import Path

from research.pages import ROOT, filled, places

ERRATA, PROOFS, DEFENCE = (ROOT / "docs" / f"{name}.md" for name in ("errata", "theory", "defence"))


def stated(document: Path, words: str) -> tuple[str, ...]:
    """Return the numbers of a document at these words, {} for each, which must be there once."""
    return places(document.read_text(), words, [0.0] * words.count("{}")).groups()


def assert_says(document: Path, words: str, *numbers: float) -> None:
    """Check that the numbers at these words are those given, to every printed digit."""
    text = document.read_text()
    assert filled(text, iter([(words, *numbers)])) == text, f"{words}: computed is {numbers}"
