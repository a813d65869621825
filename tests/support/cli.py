"""The command, as a user would call it, or without starting it anew."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

from neurotron.cli import main

COMMAND = Path(sys.executable).parent / "neurotron"


def installed(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the installed command."""
    words = [str(argument) for argument in (COMMAND, *arguments)]
    return subprocess.run(words, capture_output=True, text=True, cwd=cwd, timeout=120)


def in_this_process(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the command without starting it anew, which takes most of the time."""
    words, output, errors = [str(argument) for argument in arguments], io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["neurotron", *words]),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(errors),
        pytest.raises(SystemExit) as stopped,
    ):
        main()
    code = stopped.value.code or 0
    return subprocess.CompletedProcess(words, code, output.getvalue(), errors.getvalue())


def content(folder: Path) -> dict[str, bytes | None]:
    """Return what is in a folder."""
    return {
        path.name: None if path.is_symlink() or not path.is_file() else path.read_bytes()
        for path in folder.iterdir()
    }


def run(*arguments: object) -> str:
    """Run a command that succeeds; return what it prints."""
    done = in_this_process(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def refused(*arguments: object) -> str:
    """Run a command that is refused, and that writes nothing; return the sentence."""
    before = content(Path())
    done = in_this_process(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert content(Path()) == before
    return done.stderr
