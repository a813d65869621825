"""The workers that compute units: threads of this process, or a given executor."""

from __future__ import annotations

import contextlib
import inspect
import platform
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from importlib.metadata import version
from typing import Any, NamedTuple, cast

from neurotron import _check
from neurotron._check import InputError
from neurotron._environment import environment
from neurotron._references import code_allowed, reference_of, resolve
from neurotron._registry import own_names
from neurotron._sources import source_hash
from neurotron._threads import one_blas_thread, processors
from neurotron.work.columns import Row, plain_rows
from neurotron.work.study import Study, Unit

MOST_WORKERS = 1024
"""More threads would be a mistake."""


def in_one_line(error: BaseException) -> str:
    """Return the type and message of an error as one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:500] if text else type(error).__name__


class Computed(NamedTuple):
    """What a worker returns: a computed unit, and where and how fast it was computed."""

    unit: Unit
    rows: list[Row]
    environment: dict[str, str]
    machine: str
    seconds: float


class Task(NamedTuple):
    """What a worker needs of a study to compute any of its units."""

    unit: Callable[..., Any] | str
    """The function, or its name if it is imported by the worker."""
    columns: Mapping[str, str]
    data: Mapping[str, Any]
    code: str | None
    """The folder whose modules may be imported; "" if they are found without one."""
    names: tuple[str, ...]
    """The names of code in the settings, such as an attack's."""

    def compute(
        self,
        setting: Mapping[str, Any],
        unit: Unit,
        seed: int,
        progress: Callable[[int, int], None] | None = None,
    ) -> Computed:
        """Compute a unit, and note where and how fast it was computed."""
        began = time.perf_counter()
        with one_blas_thread(), allowing(self.code):
            function = self.function()
            more = dict(self.data)
            if "progress" in inspect.signature(function).parameters:
                more["progress"] = progress or _ignored
            result = function(dict(setting), unit.replicate, seed, **more)
            rows = plain_rows(result, self.columns)
            where = self.fingerprint()
        return Computed(unit, rows, where, platform.node(), time.perf_counter() - began)

    def function(self) -> Callable[..., Any]:
        """Return the function that computes a unit."""
        if isinstance(self.unit, str):
            return cast(Callable[..., Any], resolve(self.unit))
        return self.unit

    def fingerprint(self) -> dict[str, str]:
        """Return what the bits of results depend on, where this is called."""
        with allowing(self.code):
            return fingerprint(self.function(), *_classes(self.names))


def _task(study: Study, unit: Callable[..., Any] | str, code: str | None) -> Task:
    names = tuple(dict.fromkeys(own_names(study.settings)))
    return Task(unit, study.columns, study.data, code, names)


def _ignored(step: int, steps: int) -> None:
    """Take the progress of a unit that nobody watches."""


def allowing(code: str | None) -> contextlib.AbstractContextManager[Any]:
    """Return a context in which the modules of a folder may be imported, if one is given."""
    return contextlib.nullcontext() if code is None else code_allowed(code or None)


def _classes(names: tuple[str, ...]) -> Iterator[Any]:
    """Yield the code that names in settings mean; text may look like a name and mean nothing."""
    for name in names:
        with contextlib.suppress(InputError):
            found = resolve(name, object)
            if inspect.isclass(found) or inspect.isfunction(found):
                yield found


def fingerprint(function: Callable[..., Any], *classes: Any) -> dict[str, str]:
    """Return what the bits of results depend on: versions, processor, and the code.

    The code is that of a function and of classes that it uses by name. The module of the function
    may list `PACKAGES` whose versions matter as well.
    """
    module = inspect.unwrap(getattr(function, "func", function)).__module__
    packages = getattr(sys.modules[module], "PACKAGES", ())
    versions = {name: version(name) for name in packages}
    return environment() | versions | {"code": source_hash(function, *classes)[:16]}


@contextlib.contextmanager
def workers_for(study: Study, count: int | None, executor: Executor | None) -> Iterator[Workers]:
    """Check a study, and yield what computes its units: threads, or the workers of an executor."""
    _check.instance("study", study, Study)
    if count is not None:
        count = _check.integer("workers", count, 1, MOST_WORKERS)
    if executor is not None:
        _check.instance("executor", executor, Executor)
    _require_parameters(study)
    with one_blas_thread(), allowing(study.code):
        if study.validate is not None:
            study.validate()
        if executor is None:
            yield Threads(study, count)
        else:
            yield Workers(study, executor, count)


def _require_parameters(study: Study) -> None:
    """Refuse a function that cannot be called with a setting, a replicate, a seed and the data."""
    try:
        signature = inspect.signature(study.unit)
    except ValueError:  # some functions that are not written in Python have none
        return
    more = {"progress"} & {*signature.parameters}
    try:
        signature.bind({}, 0, 0, **dict.fromkeys([*study.data, *more]))
    except TypeError as error:
        called = ", ".join(("setting", "replicate", "seed", *study.data))
        raise InputError(f"the `unit` of a study is called with ({called}): {error}") from None


class Workers:
    """The workers of a given executor, such as a pool of processes or a cluster."""

    def __init__(self, study: Study, executor: Executor, count: int | None) -> None:
        self.study, self.executor = study, executor
        unit = study.unit if isinstance(study.unit, partial) else reference_of(study.unit)
        if isinstance(unit, str) and unit.startswith("__main__:"):
            raise InputError(
                f"{unit.partition(':')[2]} is defined in a notebook or at a prompt, where other "
                "processes cannot import it: put it into a file, or use threads"
            )
        self.task = _task(study, unit, study.code or "")
        self.count = count if count is not None else int(getattr(executor, "_max_workers", 1))

    def prepare(self) -> None:
        """Do nothing: each worker compiles on first use."""

    def fingerprint(self) -> dict[str, str]:
        """Return the environment of a worker, because units are computed there."""
        try:
            return self.executor.submit(self.task.fingerprint).result()
        except Exception as error:
            raise InputError(f"the workers cannot be used ({in_one_line(error)})") from error

    def submit(self, unit: Unit) -> Future[Computed]:
        """Start a unit."""
        setting, seed = self.study.setting(unit.setting), self.study.seed_of(unit)
        return self.executor.submit(self.task.compute, setting, unit, seed)

    def share_of(self, unit: Unit) -> float:
        """Return 0, because these workers report only finished units."""
        return 0.0

    def stop(self, futures: list[Future[Computed]]) -> None:
        """Cancel the units that have not started."""
        for future in futures:
            future.cancel()


class Threads(Workers):
    """Threads of this process, which run units in parallel and can stop between slices."""

    def __init__(self, study: Study, count: int | None) -> None:
        self.study = study
        self.task = _task(study, study.unit, study.code)
        self.count = count or processors()
        self.executor = ThreadPoolExecutor(self.count, thread_name_prefix="neurotron")
        self.asked_to_stop = threading.Event()
        self.shares: dict[Unit, float] = {}

    def prepare(self) -> None:
        """Prepare the study in the main thread, which receives Ctrl-C."""
        if self.study.prepare is not None:
            self.study.prepare()

    def fingerprint(self) -> dict[str, str]:
        """Return the environment of this process."""
        return self.task.fingerprint()

    def submit(self, unit: Unit) -> Future[Computed]:
        """Start a unit, which may import what whoever starts it may import."""
        setting, seed = self.study.setting(unit.setting), self.study.seed_of(unit)
        compute = partial(self.task.compute, setting, unit, seed, partial(self._look, unit))
        return self.executor.submit(copy_context().run, compute)

    def _look(self, unit: Unit, step: int, steps: int) -> None:
        self.shares[unit] = min(step / steps, 1.0) if steps > 0 else 1.0
        if self.asked_to_stop.is_set():
            raise KeyboardInterrupt

    def share_of(self, unit: Unit) -> float:
        """Return how much of a unit is done."""
        return self.shares.get(unit, 0.0)

    def stop(self, futures: list[Future[Computed]]) -> None:
        """Cancel the waiting units, and stop the running ones when their slice ends."""
        self.asked_to_stop.set()
        self.executor.shutdown(wait=True, cancel_futures=True)
