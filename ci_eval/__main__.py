"""python -m ci_eval"""

import sys

from ci_eval.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
