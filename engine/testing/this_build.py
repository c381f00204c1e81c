# SPDX-License-Identifier: MIT
"""Where the tests find the sources and the build that they are about: Meson says, when it runs them.

By hand, as in `pytest tests/cli`, it is the build folder build-cpu beside the engine.
"""

import os
import pathlib

from engine.command.paths import ENGINE

ROOT = pathlib.Path(os.environ.get("LAB_SOURCE_ROOT", ENGINE.parent))
BUILD = pathlib.Path(os.environ.get("LAB_BUILD_FOLDER", ROOT / "build-cpu"))
