# SPDX-License-Identifier: MIT
"""What of the requirements is here already: on PATH, in .venv, or as a wrap in subprojects/."""

import configparser
import os
import re
import shlex
import shutil

from engine.command.processes import on_path, output_of
from lab_tool.paths import ROOT, VENV
from lab_tool.setup.requirements import Found, minimum_of, numbers

SYSTEM_COMPILER = "/usr/bin/c++"
COMPILERS = ("c++", "g++", "clang++")  # in the order in which Meson looks for them

FAMILY = """
#ifdef __clang__
lab_probe clang __clang_major__ __clang_minor__ __clang_patchlevel__
#else
lab_probe gcc __GNUC__ __GNUC_MINOR__ __GNUC_PATCHLEVEL__
#endif
"""
# One run of the preprocessor answers for the compiler and for all libraries.
PROBE = f"""{FAMILY}
#if __has_include(<catch2/catch_version_macros.hpp>)
#include <catch2/catch_version_macros.hpp>
lab_probe Catch2 CATCH_VERSION_MAJOR CATCH_VERSION_MINOR CATCH_VERSION_PATCH
#endif
#if __has_include(<png.h>)
#include <png.h>
lab_probe libpng PNG_LIBPNG_VER_MAJOR PNG_LIBPNG_VER_MINOR PNG_LIBPNG_VER_RELEASE
#endif
#if __has_include(<CLI/Version.hpp>)
#include <CLI/Version.hpp>
lab_probe CLI11 CLI11_VERSION_MAJOR CLI11_VERSION_MINOR CLI11_VERSION_PATCH
#endif
#if __has_include(<nlohmann/detail/abi_macros.hpp>)
#include <nlohmann/detail/abi_macros.hpp>
#elif __has_include(<nlohmann/json.hpp>)
#include <nlohmann/json.hpp>
#endif
#ifdef NLOHMANN_JSON_VERSION_MAJOR
lab_probe nlohmann_json NLOHMANN_JSON_VERSION_MAJOR NLOHMANN_JSON_VERSION_MINOR NLOHMANN_JSON_VERSION_PATCH
#endif
"""

# The header by which each library is known, as a pattern for the probe's line markers.
HEADERS = {
    "Catch2": r"catch2/catch_version_macros\.hpp",
    "CLI11": r"CLI/Version\.hpp",
    "libpng": r"png\.h",
    "nlohmann_json": r"nlohmann/(?:detail/abi_macros|json)\.hpp",
}


def first_tool(names, minimum=()):
    """The first of these programs that is new enough, else the first there is, else None."""
    too_old = []
    for path in on_path(*names):
        text = output_of([path, "--version"])
        if not text:
            continue
        found = Found(numbers(text.splitlines()[0])[:3], path)
        if found.version >= minimum:
            # That .venv has a newer one than the system is as it should be.
            is_shadowed = too_old and not path.startswith(str(VENV))
            return found._replace(shadow=too_old[0].path if is_shadowed else "")
        too_old.append(found)
    return too_old[0] if too_old else None


def cxx_command():
    """The C++ compiler to build with, as a list of words; empty if there is none.

    The one that Meson would take, but for one that is too old and hides another.
    """
    if os.environ.get("CXX"):
        return shlex.split(os.environ["CXX"])
    programs = on_path(*COMPILERS)
    if not programs:
        return []
    path = next(filter(_is_new_enough, programs), programs[0])
    name = os.path.basename(path)
    return [name if shutil.which(name) == path else path]


def _is_new_enough(compiler):
    """Whether that C++ compiler is, whatever libraries there are."""
    printed = output_of([compiler, "-E", "-P", "-x", "c++", "-"], FAMILY) or ""
    _, _, answer = printed.partition("lab_probe ")
    family, _, version = answer.partition(" ")
    return numbers(version) >= minimum_of("C++ compiler", {"compiler family": family})


def look_around():
    """What is here: {name of requirement: Found}, and the 'compiler family', gcc or clang."""
    here = {
        "Meson": first_tool(["meson", str(VENV / "bin/meson")], minimum_of("Meson")),
        "Ninja": first_tool(["ninja", "ninja-build", str(VENV / "bin/ninja")], minimum_of("Ninja")),
        "pkg-config": first_tool(["pkg-config", "pkgconf"], minimum_of("pkg-config")),
    }
    cxx = cxx_command()
    probe = output_of([*cxx, "-std=c++20", "-E", "-x", "c++", "-"], PROBE) if cxx else None
    if probe:
        here.update(_compiler_and_libraries(probe, cxx))
        # Meson prefers what the system has, if that is new enough.
        here.update(
            (name, wrap)
            for name, wrap in found_wraps().items()
            if name not in here or here[name].version < minimum_of(name)
        )
    return {name: what for name, what in here.items() if what}


def seen_by_the_system_alone(missing, here):
    """Those of the missing libraries that the system's compiler finds, and the one that is taken does not.

    An environment such as conda's brings a compiler that looks only into that environment.
    """
    compiler = here.get("C++ compiler")
    if not compiler or not os.path.exists(SYSTEM_COMPILER):
        return []
    if os.path.samefile(compiler.path, SYSTEM_COMPILER):
        return []
    probe = output_of([SYSTEM_COMPILER, "-std=c++20", "-E", "-x", "c++", "-"], PROBE) or ""
    return [name for name in missing if f"lab_probe {name} " in probe]


def _found_compiler(version, cxx):
    first = "" if os.environ.get("CXX") else on_path(*COMPILERS)[0]
    path = shutil.which(cxx[0])
    is_shadowed = first and not os.path.samefile(first, path)
    return Found(version, path, first if is_shadowed else "")


def _compiler_and_libraries(probe, cxx):
    version = {}
    for words in re.sub(r"^#.*$", "", probe, flags=re.M).split("lab_probe")[1:]:
        name, *rest = words.split()
        version[name] = numbers(" ".join(rest))[:3]
    family = "gcc" if "gcc" in version else "clang"
    here = {"compiler family": family, "C++ compiler": _found_compiler(version[family], cxx)}
    for library, header in HEADERS.items():
        if library in version:
            path = re.search(rf'^# \d+ "(.*/{header})"', probe, re.M)
            here[library] = Found(version[library], path.group(1))
    return here


# Libraries that Meson downloads and builds in this folder, where no packages may be installed. A wrap is a
# small file that says where a library's sources are; Meson takes one only if the system has none.
FOLDER = ROOT / "subprojects"
WRAPS = {"Catch2": "catch2", "CLI11": "cli11", "nlohmann_json": "nlohmann_json"}


def found_wraps():
    """{name of a requirement: Found}, for each wrap that is here."""
    found = {}
    for library, name in WRAPS.items():
        version = _version_of(FOLDER / f"{name}.wrap")
        if version:
            found[library] = Found(version, str(FOLDER / f"{name}.wrap"))
    return found


def _version_of(wrap):
    """That of a wrap's sources, such as (3, 7, 1) if they unpack to Catch2-3.7.1; () if it says none."""
    content = configparser.ConfigParser(interpolation=None)
    try:
        content.read_string(wrap.read_text(encoding="utf-8"))
        return numbers(content["wrap-file"]["directory"].rpartition("-")[2])[:3]
    except (OSError, KeyError, ValueError, configparser.Error):
        return ()


def wrap_commands(missing, meson):
    """The shell commands that get the wraps of these requirements; `meson` is the path of Meson."""
    names = [WRAPS[name] for name in missing if name in WRAPS]
    # One that is here already is too old.
    return [f"mkdir -p {shlex.quote(str(FOLDER))}"] * bool(names) + [
        f"cd {shlex.quote(str(ROOT))} && {shlex.quote(meson)} wrap "
        + ("update" if (FOLDER / f"{name}.wrap").exists() else "install")
        + f" {name}"
        for name in names
    ]
