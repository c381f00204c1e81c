# SPDX-License-Identifier: MIT
"""Libraries that Meson downloads and builds in this folder, where nobody may install packages.

A wrap is a small file in subprojects/ that says where a library's sources are. Meson takes one only
if the system has no such library.
"""

import configparser
import shlex

from lab_tool.paths import ROOT
from lab_tool.setup.requirements import Found, numbers

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
