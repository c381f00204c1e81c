# SPDX-License-Identifier: MIT
"""Which files of the checkout differ from a commit, committed or not."""

import os
import subprocess
from typing import NamedTuple

from engine.command.errors import WRONG_USE, CommandError
from lab_tool.paths import ROOT

MAIN_BRANCHES = ("origin/HEAD", "origin/main", "main", "origin/master", "master")


class Changes(NamedTuple):
    """Paths from the root."""

    commit: str  # what the files are compared with, as `git` takes it
    edited: set[str]
    come_or_gone: set[str]  # added or deleted

    @property
    def files(self):
        return self.edited | self.come_or_gone


def changes_since(commit, root=ROOT):
    """How the files of the checkout, untracked ones too, differ from a commit. Raises CommandError."""
    _require_checkout(root)
    if (
        _printed(root, "rev-parse", "--verify", "--quiet", "--end-of-options", commit + "^{commit}")
        is None
    ):
        raise CommandError(
            f"git knows no commit {commit!r}; git log --oneline lists them.", WRONG_USE
        )
    listed = _printed(
        root, "diff", "--name-status", "--no-renames", "--relative", "-z", commit, "--"
    )
    words = _names(listed)
    edited, come_or_gone = set(), set()
    for status, path in zip(words[::2], words[1::2]):
        (come_or_gone if status in "AD" else edited).add(path)
    come_or_gone.update(_names(_printed(root, "ls-files", "--others", "--exclude-standard", "-z")))
    return Changes(commit, edited, come_or_gone)


def changes_of_branch(root=ROOT):
    """How the files differ from where this branch left the main one. Raises CommandError."""
    _require_checkout(root)
    for branch in MAIN_BRANCHES:
        base = _printed(root, "merge-base", "HEAD", branch)
        if base:
            return changes_since(base.strip()[:12], root)
    raise CommandError(
        f"git knows none of the branches {', '.join(MAIN_BRANCHES)}: name the commit to compare with "
        "by --since COMMIT."
    )


def files_of_checkout(root=ROOT):
    """Tracked files that are there, and untracked ones that git does not ignore."""
    listed = _names(_printed(root, "ls-files", "--cached", "--others", "--exclude-standard", "-z"))
    return {path for path in listed if os.path.isfile(os.path.join(root, path))}


def _require_checkout(root):
    if _printed(root, "rev-parse", "--git-dir") is None:
        raise CommandError(
            "what was changed is known to git alone, and this is no git checkout or git is not "
            "installed; ./lab test all runs every test."
        )


def _names(listed):
    return (listed or "").split("\0")[:-1]


def _printed(root, *words):
    try:
        result = subprocess.run(
            ["git", *words], cwd=root, capture_output=True, text=True, check=False,
            errors="surrogateescape",
        )  # fmt: skip
    except OSError:
        return None
    return result.stdout if result.returncode == 0 else None
