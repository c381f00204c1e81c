# SPDX-License-Identifier: MIT
"""Python packages that a verb needs beside the standard library."""

import sys
from typing import NamedTuple

from engine.command.errors import CommandError
from engine.command.output import remark
from engine.command.processes import output_of, run_installation
from lab_tool.setup.apt import install_command, prefix_for_root, repair_after
from lab_tool.setup.operating_system import installs_with_apt, operating_system
from lab_tool.setup.requirements import dotted, numbers
from lab_tool.setup.virtual_environment import VENV_PYTHON, commands_for


class PythonPackage(NamedTuple):
    name: str  # as it is imported, and on PyPI
    minimum: tuple[int, ...]
    purpose: str  # the beginning of a sentence that ends in "which is not here"
    from_apt: bool  # if we may; else from PyPI, into .venv


PYTEST = PythonPackage("pytest", (7, 2), "The tests of Python code are run by pytest", True)
JSONSCHEMA = PythonPackage("jsonschema", (4, 10), "Recorded runs are checked by jsonschema", True)

SYSTEM_PYTHON = "/usr/bin/python3"  # the one that apt installs for


def python_with(*packages):
    """One Python that can import all the packages and is here already, or None."""
    for python in (sys.executable, VENV_PYTHON, SYSTEM_PYTHON):
        if all(_can_import(python, package) for package in packages):
            return python
    return None


def _can_import(python, package):
    statement = (
        f"import {package.name}, importlib.metadata as m; print(m.version('{package.name}'))"
    )
    text = output_of([python, "-c", statement])
    return text is not None and numbers(text)[: len(package.minimum)] >= package.minimum


def python_with_installed(*packages):
    """One Python that can import all the packages, which are installed if need be."""
    python = python_with(*packages)
    if python:
        return python
    for package in packages:
        if not python_with(package):
            remark(f"{package.purpose}, which is not here.")
    remark("These commands install what is missing:")
    names = " and ".join(package.name for package in packages)
    for command in installation(*packages):
        if run_installation(command) != 0:
            of_debian = ", ".join(f"python3-{package.name}" for package in packages)
            remedy = repair_after(command) or (
                f"on Debian and Ubuntu the packages {of_debian}, or python3-venv for .venv, help"
            )
            raise CommandError(
                f"{names} could not be installed, and the message is above; {remedy}."
            )
    python = python_with(*packages)
    if not python:
        raise CommandError(
            f"{names} can't be imported by one Python here, although the installation succeeded: "
            "delete the folder .venv, and run lab again."
        )
    return python


def installation(*packages):
    """The shell commands that install the packages, all for the same Python."""
    as_root = prefix_for_root()
    may_use_apt = as_root is not None and installs_with_apt(operating_system())
    if may_use_apt and all(package.from_apt for package in packages):
        names = [f"python3-{package.name}" for package in packages]
        return [f"{as_root}apt-get update", install_command(names, as_root)]
    return commands_for([f"{package.name}>={dotted(package.minimum)}" for package in packages])
