"""Finished texts -> GitHub. Synchronous; never changes the verdict."""
