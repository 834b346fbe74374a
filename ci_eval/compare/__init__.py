"""Two runs -> Comparison -> Verdict. Pure arithmetic."""
