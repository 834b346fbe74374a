"""The nouns that pass through every doorway. Frozen, pure."""
