# SPDX-License-Identifier: MIT
"""Where the engine is, and how paths are shown to the user."""

import os
import pathlib

ENGINE = pathlib.Path(__file__).resolve().parent.parent


def shown(path):
    """The path as it is typed in the current directory."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("../..") else relative
