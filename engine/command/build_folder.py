# SPDX-License-Identifier: MIT
"""A build folder, and what Meson wrote about it."""

import json
import os
import pathlib
import shutil
from typing import NamedTuple

from engine.command.paths import shown

CALLERS_PATH = os.environ.get("PATH", os.defpath)


class BuildFolder(NamedTuple):
    folder: pathlib.Path
    tools: dict  # what it is built with: {name: something with a `version` and a `path`}


def word_for(tool):
    """How somebody would type this program: its name alone if PATH leads to it."""
    name = os.path.basename(tool.path)
    return name if shutil.which(name, path=CALLERS_PATH) == tool.path else shown(tool.path)


def settings_of(folder):
    """What Meson wrote about this build folder; None if it is not (or no longer) configured."""
    try:
        settings = json.loads((folder / "single_file.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return settings if (folder / "build.ninja").is_file() else None


def lines_of(settings, name):
    """A list out of the settings: Meson writes only strings, so it is one item per line."""
    return settings[name].split("\n") if settings.get(name) else []


def introspection(folder, what):
    """One of the lists that Meson keeps about a build folder: tests, targets or dependencies."""
    path = folder / "meson-info" / f"intro-{what}.json"
    return json.loads(path.read_text(encoding="utf-8"))
