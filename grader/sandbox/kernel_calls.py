# SPDX-License-Identifier: MIT
"""The kernel's calls for which Python has no functions, by way of the C library."""

import contextlib
import ctypes
import os

ASK_FOR_PERSONALITY, ADDR_NO_RANDOMIZE = 0xFFFFFFFF, 0x0040000

LIBC = ctypes.CDLL(None, use_errno=True)


def checked(result, what):
    """The result of a call. Raises OSError, which says what failed, if that is less than 0."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


@contextlib.contextmanager
def same_addresses():
    """What this thread starts meanwhile gets the same addresses in each run, so that a program that
    prints one, or sorts by them, does the same each time. Some containers refuse that: then it does not.
    """
    before = LIBC.personality(ctypes.c_ulong(ASK_FOR_PERSONALITY))
    if before >= 0:
        LIBC.personality(ctypes.c_ulong(before | ADDR_NO_RANDOMIZE))
    try:
        yield
    finally:
        if before >= 0:
            LIBC.personality(ctypes.c_ulong(before))
