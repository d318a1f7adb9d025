"""Getting a browser for the tests: every way, with nothing installed or fetched for real."""

import subprocess

import get_browser
import pytest


class Machine:
    """A pretended machine: programs that are there, and what its commands do."""

    def __init__(self, monkeypatch, *, programs=(), root=True, works=lambda command: True):
        self.programs, self.ran, self.works = set(programs), [], works
        monkeypatch.setattr(get_browser.shutil, "which", lambda name: name if name in self.programs else None)
        monkeypatch.setattr(get_browser.os, "geteuid", lambda: 0 if root else 1000, raising=False)
        monkeypatch.setattr(get_browser.subprocess, "run", self.run)

    def run(self, command, **_):
        self.ran.append(command)
        good = self.works(command)
        if good and "install" in command and command[0] == "apt-get":
            self.programs.add("chromium")
        return subprocess.CompletedProcess(command, 0 if good else 1)


def said(capsys):
    get_browser.main()
    return capsys.readouterr().out.strip()


@pytest.mark.parametrize("name", get_browser.NAMES)
def test_what_is_there_is_taken(monkeypatch, capsys, name):
    machine = Machine(monkeypatch, programs={name, "apt-get"})
    assert said(capsys) == "a browser for the report's tests is installed"
    assert machine.ran == [], "nothing is fetched"


def test_packages_are_installed_by_root_only(monkeypatch, capsys):
    machine = Machine(monkeypatch, programs={"apt-get"})
    assert said(capsys) == "a browser for the report's tests was fetched"
    assert [command[:2] for command in machine.ran] == [("apt-get", "install")]
    machine = Machine(monkeypatch, programs={"apt-get"}, root=False)
    assert said(capsys) == "a browser for the report's tests was fetched"
    assert [command[1:] for command in machine.ran] == [("-m", "playwright", "install", "chromium")]


def test_old_lists_of_packages_are_renewed(monkeypatch, capsys):
    tries = iter([False, True, True])
    machine = Machine(monkeypatch, programs={"apt-get"}, works=lambda command: next(tries))
    assert said(capsys) == "a browser for the report's tests was fetched"
    assert [command[1] for command in machine.ran] == ["install", "update", "install"]


def test_offline_it_says_so_and_is_no_error(monkeypatch, capsys):
    machine = Machine(monkeypatch, programs={"apt-get"}, works=lambda command: False)
    assert said(capsys) == "no browser could be had: the report's tests in a browser will be skipped"
    assert [command[0] for command in machine.ran[:2]] == ["apt-get", "apt-get"]
    assert "playwright" in machine.ran[-1]


@pytest.mark.parametrize("trouble", [OSError("no such program"), subprocess.TimeoutExpired("x", 1)])
def test_programs_that_hang_or_are_missing_are_no_error(monkeypatch, capsys, trouble):
    machine = Machine(monkeypatch, works=lambda command: True)

    def fail(command, **_):
        raise trouble

    monkeypatch.setattr(get_browser.subprocess, "run", fail)
    assert said(capsys).startswith("no browser could be had")
    assert machine.ran == []


def test_a_package_that_brings_no_browser_is_not_trusted(monkeypatch, capsys):
    machine = Machine(monkeypatch, programs={"apt-get"})
    monkeypatch.setattr(get_browser, "from_packages", lambda: True)
    machine.works = lambda command: "playwright" not in command
    assert said(capsys).startswith("no browser could be had")
