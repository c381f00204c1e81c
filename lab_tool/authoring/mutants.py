# SPDX-License-Identifier: MIT
"""Mutants: patches that make one documented mistake. Their heads, and how they are applied."""

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
