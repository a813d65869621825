"""`plan`: give three of bound, probability, radius and steps; the planner finds the fourth."""

from neurotron.guarantees.plan.planner import Plan, plan, planned
from neurotron.guarantees.plan.search import NotAchievable

__all__ = ["NotAchievable", "Plan", "plan", "planned"]
