"""``python -m tools.tables``: how much label poisoning damages regressions on real tables.

Six public tables are split 20 times into three quarters to fit and one quarter to test. Labels of
the first part are attacked. The damage to a method is its error on the honest test labels over that
of least squares on the honest training labels, minus one.

The tables are files of plotnine, scikit-learn and statsmodels: ``pip install -e '.[lab,tables]'``.
A run that was stopped goes on where it stopped, and what the code did not change is not computed
again. Results are in out/tables, and their medians with intervals in docs/evidence.
"""
