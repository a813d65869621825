"""Small tables for notebooks: what `_repr_html_` methods return."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

__all__ = ["card"]


def card(
    title: str,
    facts: Mapping[str, str] | None = None,
    *,
    columns: Sequence[str] = (),
    rows: Iterable[Sequence[str]] = (),
    note: str = "",
) -> str:
    """Return a title, facts as name and value, a table and a closing note, as HTML.

    Every text is escaped. The card has no colours and no scripts of its own, so it takes the
    colours of the notebook, light or dark. Cells are aligned to the left, because most hold words.

    >>> card("Problem", note="8 & 1")
    '<div><strong>Problem</strong><p>8 &amp; 1</p></div>'
    """
    parts = [f"<strong>{escape(title)}</strong>"]
    if facts:
        lines = (_line("th", name) + _line("td", value) for name, value in facts.items())
        parts.append(_table(lines))
    if columns:
        head = "".join(_line("th", column) for column in columns)
        body = ("".join(_line("td", cell) for cell in row) for row in rows)
        parts.append(_table([head, *body]))
    if note:
        parts.append(f"<p>{escape(note)}</p>")
    return f"<div>{''.join(parts)}</div>"


def _table(lines: Iterable[str]) -> str:
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def _line(kind: str, text: str) -> str:
    return f'<{kind} style="text-align: left">{escape(text)}</{kind}>'
