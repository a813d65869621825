"""What several parts of a report compute from the same results is computed once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

if TYPE_CHECKING:
    from neurotron.results.tables import Results

__all__ = ["once"]

P = ParamSpec("P")
T = TypeVar("T")


def once(function: Callable[Concatenate[Results, P], T]) -> Callable[Concatenate[Results, P], T]:
    """Make a function of results compute its value once for each `Results`, which never change.

    The results keep the value, so it is shared by all callers and must not be changed by them.
    """

    @wraps(function)
    def shared(results: Results, /, *given: P.args, **named: P.kwargs) -> T:
        kept, key = results._shared, (function, given, *sorted(named.items()))
        if key not in kept:
            kept[key] = function(results, *given, **named)
        value: T = kept[key]
        return value

    return shared
