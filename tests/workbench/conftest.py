"""What several tests of the workbench need: the command line, run in this process."""

import sys

import pytest

from argscichat import cli


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command and return its exit code, stdout and stderr."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["argscichat", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        captured = capsys.readouterr()
        return stopped.value.code or 0, captured.out, captured.err

    return call
