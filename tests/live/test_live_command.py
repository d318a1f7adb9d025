"""`onesided live` on the command line: the address on one line, Ctrl-C, errors."""

import signal
import subprocess
import sys
import urllib.request

from typer.testing import CliRunner

from onesided.cli.app import app


def test_it_prints_its_address_and_ends_with_ctrl_c(tmp_path):
    command = [sys.executable, "-m", "onesided", "live", "von-mises", "--no-browser"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        address = run.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(address, timeout=30) as page:
            assert b"onesided live" in page.read()
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=60)
    assert (run.returncode, out, err) == (130, "", "stopped\n")


def test_errors_are_told_on_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for arguments, words in (
        (["nothing.toml"], "there is no such file"),
        (["von-mises", "--token", "short"], "the token is not usable"),
        (["von-mises", "--port", "99999"], "this is not a port"),
        (["von-mises", "--folder", "missing"], "this is not a folder"),
    ):
        done = CliRunner().invoke(app, ["live", *arguments, "--no-browser"])
        assert done.exit_code == 2
        assert words in done.stderr
        assert done.stderr.count("\n") == 1
