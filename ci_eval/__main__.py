"""python -m ci_eval, and the program `ci-eval`: Ctrl-C is quiet from the first moment, also while modules are loaded."""

import sys


def main() -> int:
    """Run the command line; 130 when it was stopped."""
    try:
        from ci_eval.cli.main import main as command_line

        return command_line()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
