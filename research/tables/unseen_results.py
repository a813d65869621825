"""The results of the studies of unseen tables: damages, comparisons, and what is said of labels."""

from __future__ import annotations

import polars as pl
from table_results import CASE, Damages, percent

from neurotron.lab import Results

APART = 0.02
"""Two methods differ in a cell if their median damages differ by more than this."""
HURT = 0.1
"""The damage from which on a fit is hurt."""


class Unseen:
    """Damages of all fits, and the medians over the splits of each table and attack."""

    def __init__(self, results: Results) -> None:
        self.results = results
        self.lead = next(iter(Damages(results).leads.values()))
        self.texts = Damages(results).texts
        self.fits = Damages(results).damages
        self.mine = self.fits.filter(method=self.lead)
        """The fits of the first method, which the claims are about."""
        self.cells = self.fits.group_by(*CASE, "method", maintain_order=True).agg(
            pl.len().alias("splits"), pl.col("damage").median()
        )

    def standings(self, rival: str) -> pl.DataFrame:
        """Return in how many cells of each table the first method is better than a rival, or worse.

        Medians of both are over the splits to which the rival is fitted.
        """
        keys = [*CASE, "replicate"]
        splits = self.fits.filter(method=rival).select(*keys, rival="damage")
        cells = (
            self.mine.join(splits, on=keys, maintain_order="left")
            .group_by(CASE, maintain_order=True)
            .agg(pl.col("damage").median() - pl.col("rival").median())
        )
        return cells.group_by("setting", maintain_order=True).agg(
            better=(pl.col("damage") < -APART).sum().cast(pl.Int64),
            worse=(pl.col("damage") > APART).sum().cast(pl.Int64),
            cells=pl.len().cast(pl.Int64),
        )


def compact_csv(results: Results) -> str:
    """Return one line for each table and attack, in per cent.

    There are the median damage of each method, and of the first method the `largest` damage, the
    shares of tampered labels that are `found` and of suspects that are `right`, and the shares of
    splits `with_suspects`, in which the interval of the fraction `holds` the true one, and in which
    the fit is `distrusted`.
    """
    unseen = Unseen(results)
    medians = unseen.cells.pivot("method", index=list(CASE), values="damage", maintain_order=True)
    truth = pl.col("tampered") / pl.col("rows")
    said = unseen.mine.group_by(CASE, maintain_order=True).agg(
        largest=pl.col("damage").max(),
        found=pl.col("found").sum() / pl.col("tampered").sum(),
        right=pl.col("found").sum() / pl.col("suspects").sum(),
        with_suspects=(pl.col("suspects") > 0).mean(),
        holds=((pl.col("low") <= truth) & (truth <= pl.col("high"))).mean(),
        distrusted=pl.col("distrusted").mean(),
    )
    table = medians.join(said, on=list(CASE), maintain_order="left")
    shown = [
        {name: f"{value:g}" if isinstance(value, float) else value for name, value in row.items()}
        | {
            name: None if value is None or value != value else percent(float(f"{value:.2g}"))
            for name, value in row.items()
            if name not in CASE
        }
        for row in table.to_dicts()
    ]
    return pl.DataFrame(shown, schema=dict.fromkeys(table.columns, pl.String)).write_csv()
