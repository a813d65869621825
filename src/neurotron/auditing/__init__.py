"""Audits of any regressor: what an attacker can do to it."""
