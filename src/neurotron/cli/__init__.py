"""The command line: one file per command."""

from __future__ import annotations

import sys

from neurotron._extras import install, unloadable
from neurotron._waiting import say

__all__ = ["main"]


def main() -> None:
    """Run the `neurotron` command."""
    try:
        from neurotron.cli.app import run

        run()
    except KeyboardInterrupt:
        sys.exit(130)
    except ModuleNotFoundError as error:
        say(f"error: the command line needs {error.name}: {install('lab')}")
        sys.exit(2)
    except ImportError as error:  # with too little memory, also of what is always installed
        say(f"error: a package that is needed {unloadable(error)}")
        sys.exit(2)
