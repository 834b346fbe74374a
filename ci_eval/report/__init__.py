"""Comparison and Verdict -> finished texts."""
