# SPDX-License-Identifier: MIT
"""Mutants: patches that make one documented mistake. Their heads, how they are made and applied."""

import difflib
import itertools
import subprocess


def fields_of(path, required):
    """What the head of the patch says, {name: value}: lines `Name: value` before the first file.

    Raises AssertionError if one of the required names is missing.
    """
    head = path.read_text(encoding="utf-8").split("\n--- ", 1)[0]
    fields = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
    missing = [name for name in required if name not in fields]
    if missing:
        raise AssertionError(f"{path}: its head lacks {', '.join(missing)}")
    return fields


def difference(old, new, file):
    """The patch that makes the lines `new` of the lines `old`, with as little context as leaves each of
    its parts one place: whoever changes a line must change each patch that repeats it."""
    for context in itertools.count(1):
        patch = list(
            difflib.unified_diff(old, new, f"a/{file}", f"b/{file}", lineterm="", n=context)
        )
        if all(_is_at_one_place(part, old) for part in _parts_of(patch)):
            return patch


def _parts_of(patch):
    """What each part of a patch finds in the old file."""
    parts = []
    for line in patch[2:]:
        if line.startswith("@@"):
            parts.append([])
        elif line[0] in " -":
            parts[-1].append(line[1:])
    return parts


def _is_at_one_place(part, lines):
    starts = range(len(lines) - len(part) + 1)
    return sum(lines[start : start + len(part)] == part for start in starts) == 1


def apply_patch(path, folder=None, file=None):
    """Applies the patch to the tree in the folder, or to one file, whatever its name is.

    Raises AssertionError if it does not fit exactly.
    """
    where = [str(file), str(path)] if file else ["-p1", f"--directory={folder}", f"--input={path}"]
    result = subprocess.run(
        ["patch", "--silent", "--fuzz=0", *where],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        raise AssertionError(f"{path}: {result.stdout}")
