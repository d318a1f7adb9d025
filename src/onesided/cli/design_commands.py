"""Commands above paths: all stable states."""

from pathlib import Path
from typing import Annotated, Any, cast

import typer
from rich.markup import escape

import onesided
from onesided.cli import listing
from onesided.cli.exits import EXIT_FAILED, EXIT_INTERRUPTED, clear_errors
from onesided.cli.requests import High, Low, File, Change, Output, Report, Json, Quiet, bounds_of, folder_of, loaded, progress_of, saved
from onesided.results import Transitions
