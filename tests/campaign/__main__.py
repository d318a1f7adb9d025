"""Judge a range of seeds of one family: `python -m tests.campaign one_coordinate 0 1000`."""

import sys
from importlib import import_module

from .verdicts import campaign


def main(family: str, first: int, last: int) -> None:
    """Print the counts, and every case that was not right."""
    module = import_module(f".{family}", __package__)
    sys.stdout.write(campaign(family, module.judge, range(first, last)).listing() + "\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
