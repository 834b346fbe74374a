"""(Case, Sample) -> Scores."""
