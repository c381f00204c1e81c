# SPDX-License-Identifier: MIT
"""What the web site adds to the course's Markdown: a Sphinx extension, made of one module for each.

Each of PARTS has a connect(app). None of them changes what the Markdown says; without them the pages
are still complete, as they are on GitHub.
"""

import importlib

PARTS = ("pages", "links", "stepper_figures", "quiz", "plots")


def setup(app):
    # Imported here: the stepper's states are tested without Sphinx.
    for name in PARTS:
        importlib.import_module(f"course_site.{name}").connect(app)
    return {"parallel_read_safe": False, "parallel_write_safe": False}
