"""ci-eval: did this change make the agent better or worse?

Public names for people who write their own evaluators or targets in Python.
"""

from ci_eval.domain.case import Case
from ci_eval.domain.sample import Sample
from ci_eval.domain.score import Score

__version__ = "0.1.0"
__all__ = ["Case", "Sample", "Score", "__version__"]
