# SPDX-License-Identifier: MIT
"""Which operating system this is, and what its packages can do."""

import importlib.util
import pathlib
import platform
import shlex
import shutil

from lab_tool.setup.requirements import numbers


def operating_system(file="/etc/os-release"):
    """The fields of os-release, such as ID, VERSION_ID and PRETTY_NAME."""
    try:
        lines = pathlib.Path(file).read_text(encoding="utf-8").splitlines()
    except OSError:
        return {"ID": platform.system(), "PRETTY_NAME": f"{platform.system()} {platform.release()}"}
    pairs = (line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    return {key: " ".join(shlex.split(value)) for key, value in pairs}


def has_new_packages(system):
    """Whether this is a Debian or Ubuntu whose packages are new enough."""
    oldest = {"debian": (12,), "ubuntu": (24, 4)}.get(system["ID"])
    version = numbers(system.get("VERSION_ID", ""))
    return oldest is not None and (not version or version >= oldest)


def installs_with_apt(system):
    """Whether it is one, and its apt-get is on PATH."""
    return has_new_packages(system) and bool(shutil.which("apt-get"))


def is_other_linux(system):
    """Whether this is a Linux whose packages lab does not install."""
    return system["ID"] not in ("Darwin", "Windows") and not installs_with_apt(system)


def meson_is_too_old(system):
    """Whether the system's packages have no Meson that is new enough, as in Ubuntu 24.04."""
    return system["ID"] == "ubuntu" and (0,) < numbers(system.get("VERSION_ID", "")) < (24, 10)


def makes_virtual_environments():
    """Debian's Python can't without its package python3-venv."""
    return importlib.util.find_spec("ensurepip") is not None
