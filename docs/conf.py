# SPDX-License-Identifier: MIT
"""Sphinx's settings of the course's web site. `./lab site` runs Sphinx with them.

The pages are the repository's own Markdown files, as GitHub shows them. What the site adds to them
is in docs/site/course_site/, a Sphinx extension.
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "site"), str(HERE.parent), str(HERE.parent / "tests")]
sys.path.append(str(HERE.parent / "common/benchmark"))

from lab_tool.site import PAGES  # noqa: E402

project = "Inter-block communication in CUDA C++"
html_title = "Inter-block communication"
language = "en"
extensions = ["myst_parser", "course_site"]

root_doc = "README"
include_patterns = [
    *PAGES,
    "docs/*.md",
    "docs/**/*.md",
    "chapters/*/*.md",
    "chapters/*/exercises/*/README.md",
]
# What is not searched for pages at all.
exclude_patterns = [
    "build*",
    "work",
    ".venv",
    ".lab",
    ".git",
    "common",
    "engine",
    "grader",
    "lab_tool",
    "tests",
]
nitpicky = True

myst_heading_anchors = 4
myst_links_external_new_tab = False

# What a page says is what its Markdown says: `--json` and a straight apostrophe stay.
smartquotes = False

html_theme = "furo"
html_static_path = ["site/static"]
templates_path = ["site/templates"]
html_css_files = ["course.css"]
html_js_files = [("course.js", {"defer": "defer"})]
html_favicon = "site/static/icon.svg"
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_use_index = False
# The summaries of search results are fetched, which a browser refuses to do from file://.
html_show_search_summary = False
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
