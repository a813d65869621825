"""The folder of results: the sink of a run in the laboratory."""
