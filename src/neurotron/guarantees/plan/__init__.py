"""`plan`: of bound, probability, accuracy and steps, give three and get the fourth."""

from neurotron.guarantees.plan.planner import Plan, plan
from neurotron.guarantees.plan.search import NotAchievable

__all__ = ["NotAchievable", "Plan", "plan"]
