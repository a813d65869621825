"""How much CPU time the suite takes, in all its processes."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

AT_MOST = 400
"""Seconds that all tests but the long ones may take together, children included."""

SLOW = 2.0
"""Tests that take more seconds are listed with the argument of their marker `slow`, if any."""

BY_TEST = "NEUROTRON_CPU_BY_TEST"
"""The environment's name of a file that gets a line for each test: its seconds and its name."""


def seconds() -> float:
    """CPU seconds of this process and of the children it waited for, so far."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


class CpuMeter:
    """A plugin of pytest: the sum is printed at the end, with or without workers."""

    def __init__(self) -> None:
        self.workers: list[float] = []
        self.slow: list[str] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        file, before = os.environ.get(BY_TEST), seconds()
        try:
            return (yield)
        finally:
            taken = seconds() - before
            if file:
                with Path(file).open("a") as lines:
                    lines.write(f"{taken:.3f} {item.nodeid}\n")
            if taken > SLOW:
                argued = item.get_closest_marker("slow")
                why = str(argued.args[0]) if argued else "not argued"
                self.slow.append(f"{taken:.1f} s {item.nodeid}: {why}")

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput.update(cpu=seconds(), slow=self.slow)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        output = getattr(node, "workeroutput", {})
        self.workers.append(output.get("cpu", 0.0))
        self.slow.extend(output.get("slow", ()))

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter, config: pytest.Config
    ) -> None:
        if self.slow and config.option.markexpr == "not long":
            terminalreporter.write_line(f"Tests of more than {SLOW:g} s of CPU:")
            for line in sorted(self.slow, key=lambda line: -float(line.split()[0])):
                terminalreporter.write_line(f"  {line}")
        terminalreporter.write_line(summary(self.total(), config.option.markexpr))

    def total(self) -> float:
        if not self.workers:
            return seconds()
        own = resource.getrusage(resource.RUSAGE_SELF)  # its children are the workers
        return own.ru_utime + own.ru_stime + sum(self.workers)


def summary(total: float, markers: str) -> str:
    """Say the sum, and what it may be where the long tests were left out."""
    limit = f" of at most {AT_MOST} s" if markers == "not long" else ""
    return f"CPU: {total:.0f} s{limit}"
