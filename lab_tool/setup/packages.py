# SPDX-License-Identifier: MIT
"""Packages of apt-get, and those of PyPI in the folder .venv, where lab keeps what it takes from there."""

import os
import shlex
import shutil
import sys
from typing import NamedTuple

from engine.command.errors import CommandError
from engine.command.output import remark
from engine.command.processes import output_of, run_installation
from lab_tool.paths import VENV
from lab_tool.setup.requirements import (
    OPTIONAL,
    REQUIREMENTS,
    dotted,
    installs_with_apt,
    makes_virtual_environments,
    meson_is_too_old,
    numbers,
    operating_system,
)

BACKPORTS_FILE = "/etc/apt/sources.list.d/bookworm-backports.sources"
DPKGS_UPDATES = "/var/lib/dpkg/updates"
DEBIANS_KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"


class Source(NamedTuple):
    """One suite and component that apt takes packages from."""

    uri: str
    suite: str
    component: str


def sources():
    """Every Source of binary packages that apt is configured with; it knows its files' formats."""
    # Without the release information, because a new container has not downloaded any yet.
    command = ["apt-get", "indextargets", "--no-release-info", "--format"]
    answer = output_of([*command, "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages"])
    rows = [line.split() for line in (answer or "").splitlines()]
    return list(dict.fromkeys(Source(*row) for row in rows if len(row) == 3))


def backports_commands(known, as_root):
    """The command that adds Debian 12's backports to apt's sources, unless they are there.

    They come from the mirror that apt already uses: that of bookworm among the known Sources.
    """
    if any((item.suite, item.component) == ("bookworm-backports", "main") for item in known):
        return []
    mirror = next(
        (item.uri for item in known if (item.suite, item.component) == ("bookworm", "main")), None
    )
    if mirror is None:
        raise CommandError(
            "apt's sources name no mirror of Debian's bookworm from which lab could derive its "
            "backports; add bookworm-backports to them and run lab again."
        )
    lines = ["Types: deb", f"URIs: {mirror}", "Suites: bookworm-backports", "Components: main"]
    if os.path.exists(DEBIANS_KEYS):
        lines.append(f"Signed-By: {DEBIANS_KEYS}")
    return [f"printf '%s\\n' {shlex.join(lines)} | {as_root}tee {BACKPORTS_FILE}"]


def repair_after(failed):
    """What to do about a dpkg that was ended in the middle of its work, if this command has failed by it."""
    try:
        names = os.listdir(DPKGS_UPDATES)  # where apt itself looks
    except OSError:
        return None
    if "apt-get" not in failed or not any(map(str.isdigit, names)):
        return None
    as_root = "sudo " if failed.startswith("sudo ") else ""
    return f"dpkg was interrupted earlier: run `{as_root}dpkg --configure -a`"


def removal_of_backports(commands, failed):
    """The command that takes the new source away again if the mirror turned out not to have it.

    commands are those of apt_commands(), of which `failed` did. None if there is nothing to undo.
    """
    if commands[0].endswith(BACKPORTS_FILE) and failed == commands[1]:
        return commands[0].rsplit("| ", 1)[1].replace("tee", "rm")
    return None


def prefix_for_root():
    """What a command that only root may run is to begin with; None if we may not run it at all."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        return ""
    may = shutil.which("sudo") and output_of(["sudo", "-n", "true"]) is not None
    return "sudo " if may else None


def install_command(packages, as_root):
    return (
        f"{as_root}env DEBIAN_FRONTEND=noninteractive "
        f"apt-get install -y --no-install-recommends {' '.join(packages)}"
    )


def apt_commands(missing, system, as_root):
    """The shell commands that install the missing requirements on Debian or Ubuntu."""
    packages = [
        item.package
        for item in REQUIREMENTS + OPTIONAL
        if item.name in missing and not (item.name == "Meson" and meson_is_too_old(system))
    ]
    commands = []
    if system["ID"] == "debian" and system.get("VERSION_ID") == "12":
        suite = "bookworm-backports"
        packages = [f"{name}/{suite}" if name in ("meson", "catch2") else name for name in packages]
        if any("/" in name for name in packages):
            commands += backports_commands(sources(), as_root)
    if "Meson" in missing and meson_is_too_old(system) and not makes_virtual_environments():
        packages.append("python3-venv")
    if packages:
        commands.append(f"{as_root}apt-get update")
        commands.append(install_command(packages, as_root))
    return commands


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
    # Without a trace of pip another tool may have made it, one that needs none: pip is added. Else
    # making it was interrupted, or the Python that it was made with has gone.
    starts = output_of([VENV_PYTHON, "-c", ""]) is not None
    if starts and not any(VENV.glob("lib/python*/site-packages/pip*")):
        return [create]
    return [[*create[:-1], "--clear", create[-1]]]


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
