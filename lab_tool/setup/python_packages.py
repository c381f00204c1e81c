# SPDX-License-Identifier: MIT
"""Python packages that a verb needs beside the standard library."""

import sys
from typing import NamedTuple

from engine.driver.errors import LabError
from engine.driver.output import remark
from engine.driver.processes import output_of, run_installation
from lab_tool.setup.apt import install_command, prefix_for_root
from lab_tool.setup.operating_system import installs_with_apt, operating_system
from lab_tool.setup.versions import dotted, numbers
from lab_tool.setup.virtual_environment import VENV_PYTHON, commands_for


class PythonPackage(NamedTuple):
    name: str  # as it is imported, and on PyPI
    minimum: tuple[int, ...]
    purpose: str  # the beginning of a sentence that ends in "which is not here"
    from_apt: bool  # if we may; else from PyPI, into .venv


PYTEST = PythonPackage("pytest", (7, 2), "The tests of Python code are run by pytest", True)

SYSTEM_PYTHON = "/usr/bin/python3"  # the one that apt installs for


def python_with(package):
    """A Python that can import the package and is here already, or None."""
    statement = f"import {package.name}; print({package.name}.__version__)"
    for python in (sys.executable, VENV_PYTHON, SYSTEM_PYTHON):
        text = output_of([python, "-c", statement])
        if text is not None and numbers(text)[: len(package.minimum)] >= package.minimum:
            return python
    return None


def python_with_installed(package):
    """A Python that can import the package, which is installed if need be."""
    python = python_with(package)
    if python:
        return python
    remark(f"{package.purpose}, which is not here. These commands install it:")
    for command in installation(package):
        if run_installation(command) != 0:
            raise LabError(
                f"{package.name} could not be installed; the message is above. On Debian and "
                f"Ubuntu the packages python3-{package.name}, or python3-venv for .venv, help."
            )
    python = python_with(package)
    if not python:
        raise LabError(
            f"{package.name} was installed, and no Python here can import it: "
            "delete the folder .venv, and run lab again."
        )
    return python


def installation(package):
    """The shell commands that install the package."""
    as_root = prefix_for_root()
    if package.from_apt and as_root is not None and installs_with_apt(operating_system()):
        return [
            f"{as_root}apt-get update",
            install_command([f"python3-{package.name}"], as_root),
        ]
    return commands_for([f"{package.name}>={dotted(package.minimum)}"])
