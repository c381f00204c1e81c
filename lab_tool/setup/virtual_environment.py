# SPDX-License-Identifier: MIT
"""The folder .venv, where lab keeps what it takes from PyPI, and how to fix a broken one."""

import shlex
import sys

from engine.command.processes import output_of
from lab_tool.paths import VENV

VENV_PYTHON = str(VENV / "bin/python")


def commands_for(requirements):
    """The shell commands that install these requirements of pip into .venv."""
    install = [VENV_PYTHON, "-m", "pip", "install", "--quiet", *requirements]
    return [shlex.join(command) for command in (*_creation(), install)]


def _creation():
    """The command that makes .venv, or makes it anew; none if its pip works."""
    create = [sys.executable, "-m", "venv", str(VENV)]
    if not VENV.exists():
        return [create]
    if output_of([VENV_PYTHON, "-m", "pip", "--version"]) is not None:
        return []
    # Without a trace of pip it may be somebody's own, made by a tool that needs none: pip is added.
    # Else somebody was interrupted, or the Python that it was made with has gone.
    starts = output_of([VENV_PYTHON, "-c", ""]) is not None
    if starts and not any(VENV.glob("lib/python*/site-packages/pip*")):
        return [create]
    return [[*create[:-1], "--clear", create[-1]]]
