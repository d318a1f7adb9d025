"""For tests of the command line: one command, run in this process."""

from typer.testing import CliRunner

from onesided.cli.app import app


def run(*arguments):
    """Exit code and output of a command."""
    return CliRunner().invoke(app, list(arguments))
