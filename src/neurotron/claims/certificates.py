"""What certificates promise, as a check of the results of any study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurotron.claims.model import Finding
from neurotron.results.summary import certified, rate

if TYPE_CHECKING:
    from neurotron.results.tables import Results

__all__ = ["certificate_holds"]


def certificate_holds(results: Results) -> list[Finding]:
    """Count runs that end outside of their radius, where one is below the initial error."""
    findings, runs = [], certified(results)
    for (setting, trainer), group in runs.group_by("setting", "trainer", maintain_order=True):
        worst = group.select("replicate", "part").group_by("replicate").max()["part"].to_numpy()
        findings.append(
            Finding.of(f"{results.titles[str(setting)]}, {trainer}",
                       "share of replicates with a run outside its radius (0; the worst of "
                       f"{len(group)} runs is at {worst.max():.2g} of it)",
                       rate(int((worst > 1.0).sum()), len(worst)), len(worst),
                       holds=worst.max() <= 1.0)
        )  # fmt: skip
    return findings
