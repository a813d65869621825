"""Text for people: paragraphs and tables for terminals, cards for notebooks, lists in words."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from html import escape

WIDTH = 80
"""Columns of printed text, if nobody asks for another width."""
UNITS = "%×"
"""What no line begins with: it belongs to the number before it."""


def wrap(text: str, width: int = WIDTH, hang: str = "") -> str:
    r"""Return text in lines of at most `width`, each with the indentation of its paragraph.

    No word is cut, however long it is, and a line of two words, such as a label and a path, stays
    whole. From its second line on, a paragraph is indented by `hang` more.

    >>> print(wrap("One\n  two three of 10 % and four", 14, "  "))
    One
      two three of
        10 % and
        four
    """
    lines = []
    for line in text.split("\n"):
        own = line[: len(line) - len(line.lstrip())]
        if len(line) > width and len(line.split()) > 2:
            for unit in UNITS:
                line = line.replace(f" {unit}", f"\u00a0{unit}")
            line = textwrap.fill(
                line.lstrip(), width, initial_indent=own, subsequent_indent=own + hang,
                break_long_words=False, break_on_hyphens=False,
            ).replace("\u00a0", " ")  # fmt: skip
        lines.append(line)
    return "\n".join(lines)


def narrow(text: str, width: int) -> list[str]:
    """Return words in lines of at most `width`; no word is cut, and empty text is one line.

    >>> narrow("first-sample SGD", 10), narrow("", 10)
    (['first-sample', 'SGD'], [''])
    """
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]


def table(rows: Iterable[Sequence[str]], *, right: bool = False) -> str:
    """Return cells in columns; all but the first are aligned to the left, or to the right.

    >>> print(table([("attack", "labels"), ("none", "5")], right=True))
    attack  labels
    none         5
    """
    columns = []
    for place, column in enumerate(zip(*rows, strict=True)):
        side, width = ">" if right and place else "<", max(map(len, column))
        columns.append([f"{cell:{side}{width}}" for cell in column])
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))


def shorten(text: str, most: int) -> str:
    """Return text of at most `most` characters, the last of which says that more was cut.

    >>> shorten("Neuro-Tron", 6), shorten("SGD", 6)
    ('Neuro…', 'SGD')
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def either(parts: Sequence[str]) -> str:
    """Return what there is to choose from, in words.

    >>> either(["a"]), either(["a", "b", "c"])
    ('a', 'a, b or c')
    """
    *others, last = parts
    return f"{', '.join(others)} or {last}" if others else last


def card(
    title: str,
    facts: Mapping[str, str] | None = None,
    *,
    columns: Sequence[str] = (),
    rows: Iterable[Sequence[str]] = (),
    note: str = "",
) -> str:
    """Return a title, facts as name and value, a table and a closing note, as HTML.

    It is what `_repr_html_` methods return. Every text is escaped. The card has no colours and no
    scripts of its own, so it takes the colours of the notebook, light or dark. Cells are aligned to
    the left, because most hold words.

    >>> card("Problem", note="8 & 1")
    '<div><strong>Problem</strong><p>8 &amp; 1</p></div>'
    """
    parts = [f"<strong>{escape(title)}</strong>"]
    if facts:
        parts.append(_lines([[_cell("th", n), _cell("td", fact)] for n, fact in facts.items()]))
    if columns:
        body = ([_cell("td", text) for text in row] for row in rows)
        parts.append(_lines([[_cell("th", text) for text in columns], *body]))
    if note:
        parts.append(f"<p>{escape(note)}</p>")
    return f"<div>{''.join(parts)}</div>"


def _lines(rows: Iterable[Iterable[str]]) -> str:
    return f"<table>{''.join('<tr>' + ''.join(row) + '</tr>' for row in rows)}</table>"


def _cell(kind: str, text: str) -> str:
    return f'<{kind} style="text-align: left">{escape(text)}</{kind}>'
