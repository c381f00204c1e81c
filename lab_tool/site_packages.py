# SPDX-License-Identifier: MIT
"""The Python packages that build the site, and why an installation of them fails."""

import json
import os
import re
import shutil
import sys

from engine.command.errors import CommandError
from engine.command.output import Progress, is_verbose, remark, remark_lines, say_command
from engine.command.paths import shown
from engine.command.processes import output_of, watch
from lab_tool.paths import ROOT, VENV
from lab_tool.setup.packages import VENV_PYTHON, commands_for
from lab_tool.setup.requirements import dotted, makes_virtual_environments, numbers

REQUIREMENTS = ROOT / "docs/site/requirements.txt"
OLDEST_PYTHON = (3, 11)  # of Sphinx 9.0

# Prints the installed version of each name that is asked for.
ASK = """\
import importlib.metadata, json, sys
def version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
print(json.dumps({name: version(name) for name in sys.argv[1:]}))
"""


def pinned(text):
    """{name: version} of a file of requirements."""
    return dict(re.findall(r"^([\w.-]+)==(\S+)$", text, re.M))


def python_with_packages():
    """A Python that has the packages in exactly the pinned versions; they are installed if need be."""
    wanted = pinned(REQUIREMENTS.read_text(encoding="utf-8"))
    for python in (VENV_PYTHON, sys.executable):
        if _missing(python, wanted) == []:
            return python
    _refuse_old_python()
    _install()
    missing = _missing(VENV_PYTHON, wanted)
    if missing != []:
        raise CommandError(
            "what builds the site was installed and can't be found: delete the folder .venv, and run "
            "./lab site again."
        )
    return VENV_PYTHON


def _missing(python, wanted):
    """The packages that this Python lacks, or has in another version; None if it doesn't start."""
    text = output_of([python, "-c", ASK, *wanted])
    if text is None:
        return None
    here = json.loads(text)
    return [name for name, version in wanted.items() if here[name] != version]


def _refuse_old_python():
    """.venv is made with the Python that runs lab, unless there is one."""
    version = numbers(output_of([VENV_PYTHON, "--version"]) or "") or sys.version_info[:3]
    if tuple(version[:2]) < OLDEST_PYTHON:
        remedy = "delete the folder .venv, and run" if VENV.exists() else "run"
        raise CommandError(
            f"the site takes Python {dotted(OLDEST_PYTHON)} or newer, and this is Python "
            f"{dotted(version)}: {remedy} `python3.11 lab site` with a newer one."
        )


def _install():
    """Installs all packages, or leaves nothing behind that wasn't there."""
    if not os.access(VENV if VENV.exists() else VENV.parent, os.W_OK):
        raise CommandError(
            f"what builds the site goes into {shown(VENV)}, and nothing can be written there; copy the "
            "course to a folder of your own."
        )
    is_new = not VENV.exists()
    commands = commands_for(["--retries", "1", "-r", str(REQUIREMENTS)])
    if len(commands) > 1 and not makes_virtual_environments():
        raise CommandError(
            "the site is built by Sphinx, which goes into a virtual environment, and this Python can't make "
            "one: on Debian and Ubuntu `sudo apt-get install python3-venv` helps."
        )
    remark("The site is built by Sphinx, which is not here. These commands install it:")
    printed = []
    try:
        for command in commands:
            say_command(command)
            with Progress("Installing", stays=False):
                code = watch(command, remark if is_verbose() else printed.append)
            if code != 0:
                _say_why(printed)
    except BaseException:
        if is_new:
            shutil.rmtree(VENV, ignore_errors=True)
        raise


def _say_why(printed):
    cause = cause_of(printed)
    if cause is None:
        remark_lines(printed)
        cause = "the message is above"
    raise CommandError(f"what builds the site could not be installed: {cause}.")


# In this order: pip reports a full disk in the middle of other messages.
CAUSES = [
    (
        r"No space left on device|Errno 28|Disk quota exceeded",
        "the disk is full; make room, and run the command again",
    ),
    (
        r"Read-only file system|Errno 30",
        "the folder of the course can't be written; copy the course to one that can",
    ),
    (
        r"Permission denied|Errno 13",
        "you have no right to write into the folder .venv of the course",
    ),
    (
        r"ensurepip is not|No module named venv|No module named ensurepip",
        "Python's venv is not here; on Debian and Ubuntu the package python3-venv has it",
    ),
    (
        r"ProxyError|Cannot connect to proxy|Tunnel connection failed|Proxy Authentication",
        "the proxy refused the connection; the variables HTTPS_PROXY and https_proxy name it",
    ),
    (
        r"CERTIFICATE_VERIFY_FAILED|SSLError|SSLCertVerification",
        "the certificate of the package index is not trusted here; if a proxy has one of its own, "
        "the variable PIP_CERT names the file",
    ),
    (
        r"name resolution|Name or service not known|NewConnectionError|Network is unreachable|"
        r"Connection refused|Connection reset|ConnectTimeout|ReadTimeout|timed out|nodename nor servname",
        "there is no connection to the package index; with a network, or with the wheels in a folder "
        "that the variable PIP_FIND_LINKS names, run the command again",
    ),
    (
        r"requires a different Python|Requires-Python|No matching distribution|"
        r"Could not find a version",
        "the package index has no version that fits this Python",
    ),
]


def cause_of(lines):
    """The cause and what to do, in words; None if the lines name none that is known."""
    text = "\n".join(lines)
    return next((words for pattern, words in CAUSES if re.search(pattern, text, re.I)), None)
