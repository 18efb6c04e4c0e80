"""`python -m voirdire` is the `voirdire` command."""

import sys

from voirdire.cli import main

if __name__ == "__main__":
    sys.exit(main())
