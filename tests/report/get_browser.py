"""Get a Chromium for the tests of the report, where there is none: best effort, never an error.

Tried in turn: what is installed, the system's packages (as root), Playwright's own download.
"""

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PATIENCE = 420  # seconds for each attempt


def attempt(*command):
    """Run a command quietly; tell whether it went well."""
    try:
        done = subprocess.run(command, timeout=PATIENCE, check=False, capture_output=True)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def have():
    """Whether a browser is there already."""
    return any(shutil.which(name) for name in NAMES)


def from_packages():
    """Debian and its relatives, where we may install."""
    if not shutil.which("apt-get") or not hasattr(os, "geteuid") or os.geteuid() != 0:
        return False
    install = ("apt-get", "install", "-y", "--no-install-recommends", "chromium")
    return attempt(*install) or (attempt("apt-get", "update") and attempt(*install))


def main():
    """Say in one line how it went."""
    if have():
        answer = "a browser for the report's tests is installed"
    elif (from_packages() and have()) or attempt(sys.executable, "-m", "playwright", "install", "chromium"):
        answer = "a browser for the report's tests was fetched"
    else:
        answer = "no browser could be had: the report's tests in a browser will be skipped"
    sys.stdout.write(answer + "\n")


if __name__ == "__main__":
    main()
