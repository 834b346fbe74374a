"""Case -> Reply: the agent under test, in each of its arms."""
