"""How a trainer looks: one colour, marker and dash each, the same in every figure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Style(NamedTuple):
    """The look of a line.

    Colour-blind readers can tell the colours apart (those of Okabe and Ito come first). Markers and
    dashes can be told apart in a grey print.
    """

    colour: str
    marker: str
    dash: str = "solid"


OF_ALGORITHM = {
    "neuro-tron": Style("#0072B2", "circle", "solid"),
    "first-sample-sgd": Style("#D55E00", "square", "dashdot"),
    "sgd": Style("#009E73", "triangle-up", "dash"),
    "refined-tron": Style("#A6195A", "star", "solid"),
    "clipped-tron": Style("#3F93CF", "square", "dash"),
    "clipped-sgd": Style("#7A9A1E", "cross", "dot"),
    "huber-sgd": Style("#B88200", "diamond", "dashdot"),
    "trimmed-sgd": Style("#7F4A1E", "triangle-down", "dot"),
}
OTHERS = (
    Style("#CC79A7", "diamond", "solid"),
    Style("#E69F00", "triangle-down", "dash"),
    Style("#56B4E9", "cross", "dashdot"),
    Style("#8A6D3B", "star", "dot"),
    Style("#7A5195", "x", "dash"),
    Style("#1B7F79", "circle", "dot"),
    Style("#B23A48", "triangle-up", "dashdot"),
)
PLAIN = Style("#767676", "circle", "dot")
"""Of what is not a trainer: a limit, a reference."""

DASHES = ("solid", "dash", "dashdot", "dot")


def styles(trainers: Iterable[tuple[str, str]]) -> dict[str, Style]:
    """Return the style of each trainer of a list (label, algorithm).

    The first trainer of an algorithm has the style of the algorithm. Others have the next free one.

    >>> list(styles([("mine", "sgd"), ("again", "sgd")]).values())
    [Style(colour='#009E73', marker='triangle-up', dash='dash'),
     Style(colour='#CC79A7', marker='diamond', dash='solid')]
    """
    chosen: dict[str, Style] = {}
    used = 0
    for label, algorithm in trainers:
        own = OF_ALGORITHM.get(algorithm)
        if own is None or own in chosen.values():
            turn = used // len(OTHERS)  # the same colours again, in other dashes
            own = OTHERS[used % len(OTHERS)]
            own = own._replace(dash=DASHES[(DASHES.index(own.dash) + turn) % len(DASHES)])
            used += 1
        chosen.setdefault(label, own)
    return chosen


def shades(style: Style, count: int) -> list[Style]:
    """Return variants of a style from light to dark, for the levels of an attack on one trainer.

    >>> [shade.colour for shade in shades(Style("#0072B2", "circle"), 3)]
    ['#73b1d5', '#0072b2', '#003f62']
    """
    if count == 1:
        return [style]
    made = []
    for i in range(count):
        place = 2.0 * i / (count - 1) - 1.0  # −1 is light, +1 is dark
        end, part = (255, -0.45 * place) if place < 0.0 else (0, 0.45 * place)
        channels = (int(style.colour[j : j + 2], 16) for j in (1, 3, 5))
        mixed = (round(value + part * (end - value)) for value in channels)
        colour = "#" + "".join(f"{value:02x}" for value in mixed)
        made.append(style._replace(colour=colour, dash=DASHES[i % len(DASHES)]))
    return made
