"""``python -m research.pages``: write the numbers of README and docs from docs/evidence.

A number has no mark on its page: the words around it are its mark. The modules of this package
yield, page by page, words with {} for each number, and the numbers. A number keeps its decimals;
words that a page does not say exactly once are an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
from research.verdicts import STORE as EVIDENCE
from research.verdicts import read

ROOT = Path(__file__).parents[2]
NUMBER = r"([−-]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?)"
Told = Iterator[tuple[Any, ...]]
"""Words, and as many numbers (or texts) as they have places."""


# ---- writing -------------------------------------------------------------------------------------


def places(text: str, words: str, numbers: Sequence[float | str]) -> re.Match[str]:
    """Return where a page says these words, which must be once."""
    kinds = iter([r"([^|]*?)" if isinstance(one, str) else NUMBER for one in numbers])
    pattern = re.sub(r"\\{\\}", lambda _: next(kinds), re.escape(words)).replace(r"\ ", r"\s+")
    found = [*re.finditer(pattern, text)]
    if len(found) != 1:
        raise ValueError(f"a page says this {len(found)} times and not once: {words}")
    return found[0]


def half_a_unit(printed: str) -> float:
    """Return how far a number with these digits may be from what is printed."""
    mantissa, _, exponent = printed.partition("e")
    return 0.5 * 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def value(printed: str) -> float:
    """Return a printed number."""
    return float(printed.replace(",", "").replace("−", "-"))


def rounds_to(number: float, printed: str) -> bool:
    """Return whether a number has the digits that are printed."""
    return abs(value(printed) - number) <= half_a_unit(printed) * (1.0 + 1e-9)


def written(number: float | str, printed: str) -> str:
    """Return a number with as many decimals as were printed, or a text."""
    if isinstance(number, str) or rounds_to(number, printed):
        return number if isinstance(number, str) else printed
    mantissa, exponent, _ = printed.partition("e")
    decimals = len(mantissa.partition(".")[2])
    text = f"{number:.{decimals}e}" if exponent else f"{number:,.{decimals}f}"
    return re.sub(r"e([-+])0", r"e\1", text)


def filled(text: str, told: Told) -> str:
    """Return the text of a page with these numbers in it."""
    for words, *numbers in told:
        match = places(text, words, numbers)
        for place in range(len(numbers), 0, -1):
            start, end = match.span(place)
            text = text[:start] + written(numbers[place - 1], match[place]) + text[end:]
    return text


def with_blocks(text: str, blocks: Mapping[str, str]) -> str:
    """Return the text of a page with these tables between their marks."""
    for name, block in blocks.items():
        before, mark, rest = text.partition(f"<!-- {name} -->\n")
        _, end, after = rest.partition("<!-- end -->")
        if not end:
            raise ValueError(f"a page has no marks <!-- {name} --> and <!-- end -->")
        text = f"{before}{mark}\n{block}\n\n{end}{after}"
    return text


def markdown(lines: Sequence[Sequence[str]]) -> str:
    """Return lines, the first with the names of columns, as a Markdown table."""
    head, *rest = lines
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ("---",) * len(head), *rest))


# ---- reading -------------------------------------------------------------------------------------


@cache
def table(study: str) -> pl.DataFrame:
    """Return docs/evidence/<study>.csv."""
    file = EVIDENCE / f"{study}.csv"
    return pl.read_csv(file, infer_schema_length=None, comment_prefix="#")


def rows(study: str, **fields: Any) -> pl.DataFrame:
    """Return the rows of a table whose columns have this value, or one of these."""
    wanted = {name: [it] if isinstance(it, (str, float)) else it for name, it in fields.items()}
    return table(study).filter(*(pl.col(name).is_in(values) for name, values in wanted.items()))


def cell(study: str, column: str, **fields: Any) -> Any:
    """Return the column of the one row with these values."""
    return rows(study, **fields)[column].item()


def percent(found: pl.DataFrame, column: str) -> float:
    """Return the percentage of all runs of these rows that a column counts."""
    return 100.0 * float((found[column] * found["runs"]).round().sum() / found["runs"].sum())


def origin(name: str) -> str:
    """Return by which code a table was computed, as its first line says."""
    return (EVIDENCE / f"{name}.csv").read_text().partition("\n")[0].removeprefix("# ")


verdicts = cache(read)


def findings(study: str, claim: str, case: str = "") -> pl.DataFrame:
    """Return the comparisons of a claim whose case has these words in it."""
    every = verdicts()[study]["claims"][claim]["findings"]
    return pl.DataFrame([one for one in every if case in one["case"]], infer_schema_length=None)


def ends(found: pl.Series) -> tuple[float, float]:
    """Return the least and the largest of some numbers."""
    return float(found.min()), float(found.max())  # type: ignore[arg-type]


def estimates(study: str, claim: str, case: str = "") -> tuple[float, float]:
    """Return the least and the largest estimate of a claim."""
    return ends(findings(study, claim, case)["estimate"])
