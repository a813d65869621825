"""The loop over steps, compiled or in NumPy. It contains no formulas of trainers or attacks."""
