"""What happened: shards, folders, tables and summaries."""

from neurotron._extras import require

require("polars")

from neurotron.lab.results.damages import Damages, load_damages  # noqa: E402
from neurotron.lab.results.fits import Fits, load_fits  # noqa: E402
from neurotron.lab.results.folder import Folder, StorageError  # noqa: E402
from neurotron.lab.results.summary import Interval, bootstrap, rate  # noqa: E402
from neurotron.lab.results.tables import Results, load_results, load_table  # noqa: E402

__all__ = [
    "Damages",
    "Fits",
    "Folder",
    "Interval",
    "Results",
    "StorageError",
    "bootstrap",
    "load_damages",
    "load_fits",
    "load_results",
    "load_table",
    "rate",
]
