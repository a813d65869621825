"""Studies of research import their own modules by name, as `--allow-code` lets them."""

import sys
from pathlib import Path

sys.path += [str(Path(__file__).parents[1] / name) for name in ("rows", "tables", "moved-inputs")]
