"""Options that several commands have, each stated once."""

from pathlib import Path
from typing import Annotated

import typer

File = Annotated[Path, typer.Argument(metavar="FILE", help="Model file (TOML), or the name of a bundled model.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON lines for machines.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Folder for the results.")]
Care = Annotated[str, typer.Option(help="How closely steps are looked into: fast, normal or thorough.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
Report = Annotated[bool, typer.Option("--report", help="Write report.html into the folder as well.")]
Low = Annotated[float | None, typer.Option("--p-min", help="Lower bound of p; default: the file's range.")]
High = Annotated[float | None, typer.Option("--p-max", help="Upper bound of p; default: the file's range.")]
Change = Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a parameter.")]
