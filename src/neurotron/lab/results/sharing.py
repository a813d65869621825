"""What several parts of a report compute from the same results is computed once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from neurotron.lab.results.stored import Stored

__all__ = ["once"]

P = ParamSpec("P")
R = TypeVar("R", bound=Stored)
T = TypeVar("T")


def once(function: Callable[Concatenate[R, P], T]) -> Callable[Concatenate[R, P], T]:
    """Make a function of results compute its value once for given results, which never change.

    The results keep the value, so it is shared by all callers and must not be changed by them.
    """

    @wraps(function)
    def shared(results: R, /, *given: P.args, **named: P.kwargs) -> T:
        kept, key = results._shared, (function, given, *sorted(named.items()))
        if key not in kept:
            kept[key] = function(results, *given, **named)
        value: T = kept[key]
        return value

    return shared
