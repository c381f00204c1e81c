# SPDX-License-Identifier: MIT
"""Where the tests find the sources and the build that they are about: Meson says, when it runs them.

By hand, as in `pytest tests/cli`, it is the build folder build-cpu beside the engine.
"""

import json
import os
import pathlib

from engine.command.paths import ENGINE

ROOT = pathlib.Path(os.environ.get("LAB_SOURCE_ROOT", ENGINE.parent))
BUILD = pathlib.Path(os.environ.get("LAB_BUILD_FOLDER", ROOT / "build-cpu"))


def is_by_clang():
    """Whether this build's .cu files are compiled by clang."""
    settings = json.loads((BUILD / "single_file.json").read_text(encoding="utf-8"))
    return "clang" in settings["compiler"]
