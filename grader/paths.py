# SPDX-License-Identifier: MIT
"""Where the grader stands: the folder that holds it and the course's other folders."""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
