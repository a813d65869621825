"""What README and docs say: the numbers of a sentence or of a row of a table."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ERRATA, PROOFS, DEFENCE = (ROOT / "docs" / f"{name}.md" for name in ("errata", "theory", "defence"))
NUMBER = r"([−-]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?)"


def stated(document: Path, words: str) -> list[str]:
    """Return the numbers of a document at these words, {} for each, which must be there once."""
    text = " ".join(document.read_text().split())
    found = re.findall(re.escape(words).replace(r"\{\}", NUMBER), text)
    assert len(found) == 1, f"{document} says this {len(found)} times and not once: {words}"
    return [found[0]] if isinstance(found[0], str) else list(found[0])


def value(printed: str) -> float:
    """Return a printed number."""
    return float(printed.replace(",", "").replace("−", "-"))


def rounding(printed: str) -> float:
    """Return how far a number with these digits may be from what is printed: half a unit."""
    mantissa, _, exponent = printed.partition("e")
    return 0.5 * 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def rounds_to(number: float, printed: str) -> bool:
    """Return whether a number has the digits that are printed."""
    return abs(value(printed) - number) <= rounding(printed) * (1.0 + 1e-9)


def assert_says(document: Path, words: str, *numbers: float) -> None:
    """Check that the numbers at these words are those given, to every printed digit."""
    for printed, number in zip(stated(document, words), numbers, strict=True):
        assert rounds_to(number, printed), f"{words}: says {printed}, computed is {number:.6g}"
