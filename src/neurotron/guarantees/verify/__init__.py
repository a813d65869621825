"""Verification: how far a filter is from the true one, read off fresh rows after training."""

from neurotron.guarantees.verify.verification import Verification
from neurotron.guarantees.verify.verifier import verify

__all__ = ["Verification", "verify"]
