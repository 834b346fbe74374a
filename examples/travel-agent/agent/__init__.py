"""A small travel agent without a model: rules read the request, a planner picks the next tool, the tools work on a tiny world."""

from agent.loop import answer

__all__ = ["answer"]
