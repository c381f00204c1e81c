# SPDX-License-Identifier: MIT
"""The README's commands, typed as they stand there, in the build folder that this test is in."""

import re

import pytest
from quotations import assert_quoted, typed

from this_build import ROOT

# Elsewhere: this test is part of the first one, the second one is for a machine with a GPU, and the
# third one for a terminal, which learn_test has; the last one serves until it is interrupted, and
# site_command_test has it.
NOT_HERE = {"./lab test", "./lab bench", "./lab learn", "./lab site --serve"}
README = (ROOT / "README.md").read_text(encoding="utf-8")


def commands():
    """Every command of the README that could be typed as it stands, once."""
    named = re.findall(r"^(?:\$ )?(\./lab [^\n#]*)", README, re.M) + re.findall(
        r"`(\./lab [^`]*)`", README
    )
    whole = [command.strip() for command in named if not re.search(r"[A-Z]{2,}|\[", command)]
    return [command for command in dict.fromkeys(whole) if command not in NOT_HERE]


def test_there_are_some():
    assert "./lab run" in commands()
    assert any("racecheck chapters/" in command for command in commands())


@pytest.mark.parametrize("command", commands())
def test_does_what_the_readme_says(command):
    result = typed(command)
    # What the README shows as a mistake is reported as one.
    assert result.returncode == (1 if "naive" in command else 0), result.stdout + result.stderr
    assert_quoted(command, result.stdout)
