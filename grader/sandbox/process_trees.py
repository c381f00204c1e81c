# SPDX-License-Identifier: MIT
"""All processes that one has started, directly or not, as the kernel lists them."""

import contextlib
import os
import pathlib
import signal
import time
from typing import NamedTuple

PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")  # per second


class Process(NamedTuple):
    number: int
    resident: int  # bytes, some of them shared with others
    threads: int
    seconds: float  # of processors, with those of its children that it has waited for


def tree_of(root):
    """The Process `root` and all below it; those that end meanwhile are left out."""
    found, waiting = [], [root]
    while waiting:
        number = waiting.pop()
        waiting += children_of(number)
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = _fields(number)
            seconds = sum(map(int, fields[11:15])) / TICKS
            found.append(Process(number, int(fields[21]) * PAGE, int(fields[17]), seconds))
    return found


def memory_of(tree):
    """Bytes of main memory that these have together: what several share counts once, where the kernel
    says how much that is."""
    return sum(map(_share_of, tree))


def _share_of(process):
    try:
        rollup = pathlib.Path(f"/proc/{process.number}/smaps_rollup").read_text(encoding="ascii")
    except PermissionError:
        return process.resident
    except OSError:  # It has ended.
        return 0
    return sum(
        int(line.split()[1]) << 10 for line in rollup.splitlines() if line.startswith("Pss:")
    )


def children_of(number):
    """Those that this process has started, and those that were left to it."""
    found = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{number}/task"):
            path = f"/proc/{number}/task/{thread}/children"
            with contextlib.suppress(OSError), open(path, encoding="ascii") as file:
                found += map(int, file.read().split())
    return found


def _fields(number):
    """Of /proc/N/stat, those after the name, which may have spaces and brackets in it."""
    with open(f"/proc/{number}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()


def kill_all(root, reap=lambda: None, seconds=5):
    """Kills all below `root`, and not itself, until none is left; True if that came about.

    `reap` waits for those that have ended and are the caller's to wait for.
    """
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        below = [each.number for each in tree_of(root) if each.number != root]
        if not below:
            return True
        for number in below:
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGSTOP)  # so that it starts no others meanwhile
        for number in below:
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        reap()
        time.sleep(0.005)
    return False
