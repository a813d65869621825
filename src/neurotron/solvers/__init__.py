"""Solvers: filters from stored rows, and what the rows prove about them."""
