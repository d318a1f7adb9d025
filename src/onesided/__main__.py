"""`python -m onesided` is the command line."""

from onesided.cli import main

main()
