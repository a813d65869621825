"""Whether a message tells its reader what is wrong, and what to do, in whatever words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from neurotron._check import InputError


def missing(text: str, *parts: str) -> list[str]:
    """Return the parts that `text` does not say, each as a whole word and at a place of its own.

    The parts are the name of what is wrong, its value, and the remedy. The longest is looked for
    first, so that the 1 of "[0, 1], got 1" has to be there twice.
    """
    lost = []
    for part in sorted(parts, key=len, reverse=True):
        word = rf"(?<![\w.-]){re.escape(part)}(?!\.?\w)"
        text, found = re.subn(word, "\0", text, count=1)
        if not found:
            lost.append(part)
    return lost


def says(error: object, *parts: str) -> bool:
    """Whether an error, or its text, has all the parts; if not, the message shows what is lost."""
    lost = missing(str(error), *parts)
    assert not lost, f"{str(error)!r} does not say {', '.join(map(repr, lost))}"
    return True


@contextmanager
def refused(*parts: str) -> Iterator[None]:
    """Expect an `InputError` of one line that has all the parts."""
    with pytest.raises(InputError) as caught:
        yield
    assert says(caught.value, *parts)
    assert "\n" not in str(caught.value)
