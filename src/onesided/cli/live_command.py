"""The command `live`."""

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

import onesided
from onesided.base.interrupt import EXIT_INTERRUPTED
from onesided.cli.exits import clear_errors
from onesided.cli.given import load_model
from onesided.cli.options import Change, File

LOOK = 0.05  # seconds between looks for Ctrl-C

lives = typer.Typer()


@lives.command()
def live(
    file: File,
    change: Change = None,
    folder: Annotated[
        Path | None, typer.Option(help="Where the page may save; default: the folder of the file.")
    ] = None,
    port: Annotated[int, typer.Option(help="Port of the address; default: any that is free.")] = 0,
    token: Annotated[
        str | None, typer.Option(help="Secret of the address; default: a new one. With the port: pages come back.")
    ] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page.")] = True,
) -> None:
    """Move a model by hand in the browser: p is a handle, parameters are sliders; it jumps as the real one would."""
    with clear_errors() as interrupt:
        system = load_model(file, change).system
        name, here = (file.name, file.parent) if file.exists() else (f"{file}.toml", Path())
        served = onesided.live(system, folder=folder or here, port=port, token=token, name=name, browser=browser)
        with served as server:
            interrupt.pressed()  # from here on Ctrl-C is looked for, also before the address has been read
            sys.stdout.write(f"{server.url}\n")
            sys.stdout.flush()
            while not interrupt.pressed():
                time.sleep(LOOK)
        sys.stderr.write("stopped\n")
        raise typer.Exit(EXIT_INTERRUPTED)
