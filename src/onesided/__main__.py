"""`onesided` and `python -m onesided`: the command line, with Ctrl-C heard before anything large is imported."""

from onesided.base.interrupt import INTERRUPT


def main() -> None:
    """Run the command line."""
    INTERRUPT.listen()
    from onesided.cli.app import main as run

    try:
        run()
    finally:
        INTERRUPT.rest()


if __name__ == "__main__":
    main()
