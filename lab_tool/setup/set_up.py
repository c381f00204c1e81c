# SPDX-License-Identifier: MIT
"""Makes sure, once, that all that a backend needs is here, and remembers it in .lab/setup.json."""

import contextlib
import importlib
import json
import os
import shlex
import shutil

from engine.command.errors import CommandError, listed
from engine.command.output import remark
from engine.command.paths import shown
from engine.command.processes import run_installation
from lab_tool.paths import ROOT, VENV
from lab_tool.setup import probe, requirements
from lab_tool.setup.packages import (
    VENV_PYTHON,
    apt_commands,
    commands_for,
    prefix_for_root,
    removal_of_backports,
    repair_after,
)
from lab_tool.setup.probe import WRAPS, wrap_commands
from lab_tool.setup.requirements import (
    OPTIONAL,
    Found,
    described,
    dotted,
    has_new_packages,
    installs_with_apt,
    is_other_linux,
    makes_virtual_environments,
    meson_is_too_old,
    minimum_of,
    missing_from,
    needed_by,
    operating_system,
    why_no_cpu_backend,
)

CALLERS_CXX = os.environ.get("CXX", "")
STAMP = ROOT / ".lab" / "setup.json"


def set_up(backend):
    """Installs what is missing for the backend; returns {name of requirement: Found}."""
    tools = remembered_set_up(backend) or _found_or_installed(backend)
    tell_meson_of(tools)
    return tools


def _found_or_installed(backend):
    if backend == "cpu" and (why_not := why_no_cpu_backend()):
        raise CommandError(f"{why_not}.")
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
        install(missing, here)
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
    return [CALLERS_CXX, os.environ.get("PATH", "")]


def tell_meson_of(tools):
    """Meson looks for these by itself, on PATH, where an old one may hide what was found."""
    for variable, name in (("CXX", "C++ compiler"), ("NINJA", "Ninja")):
        if tools[name].shadow:
            os.environ[variable] = (
                shlex.quote(tools[name].path) if variable == "CXX" else tools[name].path
            )


PROXIES = ("http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")


def pypi_commands(missing):
    """The shell commands that install these requirements into .venv."""
    packages = {"Meson": f"meson>={dotted(minimum_of('Meson'))},<2", "Ninja": "ninja"}
    wanted = [packages[name] for name in missing if name in packages]
    return commands_for(wanted) if wanted else []


def _commands_for_this_folder(missing, here):
    """The shell commands that need no rights; none if they can't install all that is missing."""
    from_pypi = {"Meson", "Ninja"} & set(missing)
    if not set(missing) <= {"Meson", "Ninja", *WRAPS}:
        return []
    if from_pypi and not makes_virtual_environments():
        return []
    meson = str(VENV / "bin/meson") if "Meson" in missing else here["Meson"].path
    return pypi_commands(missing) + wrap_commands(missing, meson)


def install(missing, here):
    """Installs the missing requirements; `here` is what look_around() has found."""
    wanted = ", ".join(described(name, here) for name in missing)
    commands = _commands(missing, here, wanted)
    remark(f"Missing: {wanted}. These commands install it:")
    for command in commands:
        remark(f"  {command}")
    had_venv = VENV.exists()
    for command in commands:
        if run_installation(command) != 0:
            undo = removal_of_backports(commands, command)
            if undo:
                run_installation(undo)
            if not had_venv:  # half a .venv is of no use
                shutil.rmtree(VENV, ignore_errors=True)
            raise CommandError(
                f"this command failed, and its own message is above: {command}; "
                f"{repair_after(command) or _about_network()}, and run lab again."
            )


def _lines_of_shell(commands):
    """The commands as lines to copy together; each runs only if the one before has succeeded."""
    *first, last = commands
    return [*(f"  {command} &&" for command in first), f"  {last}"]


def _about_network():
    """What to do if the network is the reason. A proxy's value may hold a password: its name is enough."""
    names = [name for name in PROXIES if os.environ.get(name)]
    if names:
        return f"the proxy in {listed(names)} may be what does not answer: set another one there, or none"
    return "if there is no network, connect this machine, or behind a proxy set http_proxy and https_proxy"


def _commands(missing, here, wanted):
    """The shell commands that do it, if we may run them."""
    system = operating_system()
    with_optional = missing + [item.name for item in OPTIONAL if item.name not in here]
    as_root = prefix_for_root()

    if installs_with_apt(system) and as_root is not None:
        commands = apt_commands(with_optional, system, as_root)
        if "Meson" in missing and meson_is_too_old(system):
            commands += pypi_commands(["Meson"])
        return commands
    for_this_folder = _commands_for_this_folder(missing, here)
    if for_this_folder and (set(missing) <= {"Meson", "Ninja"} or is_other_linux(system)):
        return for_this_folder
    if installs_with_apt(system):
        sudo = "sudo " if shutil.which("sudo") else ""
        further = _lines_of_shell(apt_commands(with_optional, system, sudo))
        if for_this_folder:
            further.append("Or, if nobody here may, install it into this folder alone:")
            further += _lines_of_shell(for_this_folder)
        raise CommandError(
            f"missing: {wanted}. Installing needs rights that you don't have here without a "
            f"password. Run this{'' if sudo else ' as root'}, then run lab again:",
            further=further,
        )
    if has_new_packages(system):
        raise CommandError(
            f"missing: {wanted}. lab installs with apt-get, which is not on PATH: its folder is "
            "/usr/bin as a rule; add it to PATH, then run lab again."
        )
    raise CommandError(
        f"missing: {wanted}. lab installs by itself only on Debian 12 and newer and on Ubuntu "
        f"24.04 and newer, and this is {system['PRETTY_NAME']}: install them, then run lab again."
    )
