"""Verification: how far a trained filter is from w*, read off fresh rows."""
