"""The built-in study: trainers that meet attacks, in replicates."""
