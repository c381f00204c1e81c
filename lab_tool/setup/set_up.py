# SPDX-License-Identifier: MIT
"""Makes sure, once, that all that a backend needs is here; remembers it in .lab/setup.json."""

import contextlib
import importlib
import json
import os
import shlex

from engine.command.errors import CommandError, listed
from engine.command.output import remark
from engine.command.paths import shown
from lab_tool.paths import ROOT, VENV
from lab_tool.setup import installing, probe, requirements
from lab_tool.setup.requirements import Found, described, missing_from, needed_by
from lab_tool.setup.virtual_environment import VENV_PYTHON

CALLERS_CXX = os.environ.get("CXX", "")
STAMP = ROOT / ".lab" / "setup.json"


def set_up(backend):
    """Installs what is missing for the backend; returns {name of requirement: Found}."""
    tools = remembered_set_up(backend) or _found_or_installed(backend)
    tell_meson_of(tools)
    return tools


def _found_or_installed(backend):
    here = probe.look_around()
    missing = missing_from(here, backend)
    if missing:
        hidden = probe.seen_by_the_system_alone(missing, here)
        if hidden:
            raise CommandError(
                f"the compiler {here['C++ compiler'].path} does not find {listed(hidden)}, which "
                f"{probe.SYSTEM_COMPILER} does: leave the environment that it belongs to, such as conda's, "
                f"or set CXX={probe.SYSTEM_COMPILER}."
            )
        installing.install(missing, here)
        importlib.invalidate_caches()
        here = probe.look_around()
        missing = missing_from(here, backend)
        if missing:
            raise CommandError(
                "still missing after the installation: "
                + ", ".join(described(name, here) for name in missing)
                + (
                    f"; delete the folder {shown(VENV)}, and run lab again."
                    if VENV.exists()
                    else "."
                )
            )
    tools = {item.name: here[item.name] for item in needed_by(backend)}
    for name, tool in tools.items():
        if tool.shadow:
            remark(
                f"{tool.shadow} comes first on PATH and is too old: {name} is taken from {tool.path}."
            )
    paths = [probe.__file__, requirements.__file__, *(tool.path for tool in tools.values())]
    if any(path.startswith(str(VENV)) for path in paths):
        paths.append(VENV_PYTHON)  # without it nothing in .venv starts
    stamp = {
        "backend": backend,
        "surroundings": surroundings(),
        "marks": {path: mark_of(path) for path in paths},
        "tools": tools,
    }
    with contextlib.suppress(OSError):  # then the next run looks again
        STAMP.parent.mkdir(exist_ok=True)
        STAMP.write_text(json.dumps(stamp), encoding="utf-8")
    return tools


def remembered_set_up(backend):
    """The finished set-up of an earlier run, or None if anything that it rests on has changed."""
    try:
        stamp = json.loads(STAMP.read_text(encoding="utf-8"))
        if stamp["surroundings"] != surroundings() or stamp["backend"] not in (backend, "cpu"):
            return None
        if any(mark_of(path) != mark for path, mark in stamp["marks"].items()):
            return None
        return {name: Found(tuple(found), *rest) for name, (found, *rest) in stamp["tools"].items()}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def mark_of(path):
    """Changes when the file does; None if there is no file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return [status.st_mtime_ns, status.st_size]


def surroundings():
    names = ("PATH", "BOOST_ROOT", "BOOST_LIBRARYDIR")
    return [CALLERS_CXX, *(os.environ.get(name, "") for name in names)]


def tell_meson_of(tools):
    """Meson looks for these by itself, on PATH, where an old one may hide what was found."""
    for variable, name in (("CXX", "C++ compiler"), ("NINJA", "Ninja")):
        if tools[name].shadow:
            os.environ[variable] = (
                shlex.quote(tools[name].path) if variable == "CXX" else tools[name].path
            )
