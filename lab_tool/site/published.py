# SPDX-License-Identifier: MIT
"""What the site may publish: the course's own files, and none of those that its user keeps next to them."""

import functools
import os
import pathlib

from engine.command.processes import output_of
from lab_tool.paths import ROOT

FOLDERS = {
    ".ci", ".devcontainer", ".github", ".vscode", "chapters", "common", "docs", "engine", "grader",
    "lab_tool", "tests",
}  # fmt: skip
FILES = {
    ".clang-format", ".clangd", ".pre-commit-config.yaml", "CITATION.cff", "Dockerfile", "LICENSE",
    "lab", "meson.build", "meson.options", "pyproject.toml",
}  # fmt: skip
# Pages in the root; a user's own notes may lie there, too.
PAGES = ["README.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md"]


def is_published(path, root=ROOT):
    """Whether a file or a folder is the course's: in one of its folders, reached by no link that leads
    elsewhere, and known to git if the checkout is a clone."""
    resolved = pathlib.Path(path).resolve()
    if not resolved.is_relative_to(root):
        return False
    name = resolved.relative_to(root).as_posix()
    is_of_course = name.partition("/")[0] in FOLDERS or name in FILES or name in PAGES
    tracked = _tracked(root)
    return is_of_course and (tracked is None or resolved.is_dir() or name in tracked)


@functools.lru_cache
def _tracked(root):
    """The files that git knows; None if this is no clone, or git isn't here."""
    if not os.path.exists(root / ".git"):
        return None
    names = output_of(["git", "-C", str(root), "ls-files", "-z"])
    return set(names.split("\0")) if names else None
