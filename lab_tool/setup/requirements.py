# SPDX-License-Identifier: MIT
"""What the course needs, in which versions, and what the packages of this operating system can do."""

import importlib.util
import pathlib
import platform
import re
import shlex
import shutil
from typing import NamedTuple


def numbers(text):
    """'1.3.2' -> (1, 3, 2)."""
    return tuple(int(number) for number in re.findall(r"\d+", text))


def dotted(version):
    return ".".join(map(str, version))


class Requirement(NamedTuple):
    name: str
    minimum: tuple[int, ...]  # the oldest version that the course is tested with or needs
    package: str  # of Debian and Ubuntu


class Found(NamedTuple):
    """What is here, for a requirement."""

    version: tuple[int, ...]
    path: str
    shadow: str = ""  # a program that PATH leads to before this one, and that is too old


REQUIREMENTS = [
    Requirement("C++ compiler", (12,), "g++"),
    Requirement("Meson", (1, 4, 0), "meson"),
    Requirement("Ninja", (1, 8, 2), "ninja-build"),
    Requirement("pkg-config", (0, 29), "pkg-config"),
    Requirement("Catch2", (3, 4, 0), "catch2"),
    Requirement("CLI11", (2, 1, 0), "libcli11-dev"),
    Requirement("nlohmann_json", (3, 10, 0), "nlohmann-json3-dev"),
]
# In the cuda backend a program without nlohmann_json refuses --json and --trace, and that is all.
CPU_BACKEND_ONLY = ("nlohmann_json",)
# The CPU backend switches between stacks by itself, and knows how on these machines.
CPU_BACKEND_MACHINES = ("x86_64", "AMD64", "aarch64", "arm64")
CLANG_MINIMUM = (14,)

# What a program can do without, by saying so: libpng writes the pictures of chapters 05 and 06.
# Installed along with the others, and never the reason to install or to stop.
OPTIONAL = [Requirement("libpng", (1, 6, 0), "libpng-dev")]


def minimum_of(name, here=()):
    """The oldest version of this requirement that is enough with the compiler that is here."""
    if name == "C++ compiler" and "compiler family" in here and here["compiler family"] == "clang":
        return CLANG_MINIMUM
    return next(item.minimum for item in REQUIREMENTS + OPTIONAL if item.name == name)


def needed_by(backend):
    """All requirements, less what that backend has no use for."""
    unneeded = () if backend == "cpu" else CPU_BACKEND_ONLY
    return [item for item in REQUIREMENTS if item.name not in unneeded]


def why_no_cpu_backend():
    """A sentence if this processor is not one that the CPU backend runs on, else nothing."""
    if platform.machine() in CPU_BACKEND_MACHINES:
        return ""
    return f"the CPU backend runs on x86-64 and AArch64 processors, and this one is {platform.machine()}"


def missing_from(here, backend):
    """The names of what is not here or too old."""
    return [
        item.name
        for item in needed_by(backend)
        if item.name not in here or here[item.name].version < minimum_of(item.name, here)
    ]


def described(name, here):
    """'Meson 1.4.0 (1.0.1 is here)', for a list of what is missing."""
    if name == "C++ compiler":
        text = (
            f"a C++20 compiler (g++ {dotted(minimum_of(name))} or clang++ {dotted(CLANG_MINIMUM)})"
        )
    else:
        text = f"{name} {dotted(minimum_of(name))}"
    return f"{text} ({dotted(here[name].version)} is here)" if name in here else text


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
