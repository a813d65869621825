"""What the maintainers run: the evidence that docs rest on (``python -m tools.evidence``)."""
