# SPDX-License-Identifier: MIT
"""Where the tests find the checkout and the build that they are about: Meson says, when it runs them.

By hand, as in `pytest tests/cli`, it is the build folder that `./lab test` uses without a GPU.
"""

import os
import pathlib

from lab_tool.paths import ROOT

BUILD = pathlib.Path(os.environ.get("LAB_BUILD_FOLDER", ROOT / "build-cpu"))
