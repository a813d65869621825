"""Uses a running Dask cluster as an executor."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Iterator
from concurrent.futures import Executor
from typing import Any

from neurotron._check import InputError
from neurotron._extras import require

SECONDS_TO_ANSWER = 10
SECONDS_ALONE = 60
"""How long to wait when all workers are gone, as they may be restarting."""


@contextlib.contextmanager
def connected(address: str) -> Iterator[tuple[Executor, int]]:
    """Connect to the cluster of a scheduler; yield its executor and how many workers it has."""
    distributed = require("distributed")
    for name in ("distributed", "distributed.client"):  # the runner reports errors itself
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = distributed.Client(address, timeout=SECONDS_TO_ANSWER)
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"no Dask scheduler answers at {address!r}: {error}") from None
    with client:
        workers = sum(client.nthreads().values())
        if not workers:
            raise InputError(f"the Dask cluster at {address!r} has no workers: start some")
        executor = client.get_executor(pure=False)  # else a retry would return the first error
        over = threading.Event()
        watch = threading.Thread(target=_watch, args=(client, executor, over), daemon=True)
        watch.start()
        try:
            yield executor, workers
        finally:
            over.set()
            watch.join(SECONDS_TO_ANSWER)


def _watch(client: Any, executor: Executor, over: threading.Event) -> None:
    """Shut the executor down after a minute without workers; Dask itself would wait for ever."""
    seconds = 0
    with contextlib.suppress(Exception):  # if the scheduler is gone, its futures fail anyway
        while not over.wait(1.0):
            seconds = 0 if client.nthreads() else seconds + 1
            if seconds >= SECONDS_ALONE:
                executor.shutdown(wait=False)
                return
