"""The one model of residuals: honest noise, groups of tampered rows, and what the rest shows."""
