"""The streams that a command prints to: it finishes its work even if printing fails."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["Outlet", "outlets"]


class Outlet:
    """A stream of text. If it cannot be written to, the text is dropped and the command continues.

    It is not an error if the reader stops early (``| head -1``). Any other reason is kept in
    `failure`, for the end of the command.
    """

    def __init__(self, stream: Any) -> None:
        self.failure: OSError | None = None
        self._stream = io.StringIO() if stream is None else stream  # None if it was closed (>&-)
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without θ shows ? and goes on

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write the text, if that is possible."""
        self._attempt(self._stream.write, text)
        return len(text)

    def flush(self) -> None:
        """Write what is in the buffer, if that is possible."""
        self._attempt(self._stream.flush)

    def _attempt(self, action: Callable[..., object], *given: str) -> None:
        try:
            action(*given)
        except BrokenPipeError:
            self._give_up()
        except OSError as error:
            self.failure = error
            self._give_up()

    def _give_up(self) -> None:
        """Discard everything from now on, including what Python would write when it ends."""
        with contextlib.suppress(OSError, ValueError):  # a stream of a test is no file
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)


@contextlib.contextmanager
def outlets() -> Iterator[Outlet]:
    """Replace the standard streams by outlets; yield the outlet of standard output."""
    output: Any = Outlet(sys.stdout)
    errors: Any = Outlet(sys.stderr)
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        yield output
