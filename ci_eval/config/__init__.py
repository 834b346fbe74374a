"""What was asked: `ci-eval.yaml` and overrides, checked."""
