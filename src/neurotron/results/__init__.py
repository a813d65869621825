"""What happened: shards, folders, tables and summaries."""

from neurotron.results.folder import Folder, StorageError
from neurotron.results.frames import Results, load
from neurotron.results.summary import Interval, bootstrap, rate

__all__ = ["Folder", "Interval", "Results", "StorageError", "bootstrap", "load", "rate"]
