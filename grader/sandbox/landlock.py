# SPDX-License-Identifier: MIT
"""Landlock and the kernel's other calls for which Python has no functions, by way of the C library."""

import contextlib
import ctypes
import os
import struct

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


LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT, RULE_PATH = 444, 445, 446, 1
READ = (1 << 0) | (1 << 2) | (1 << 3)  # execute, read a file, list a folder
OVERWRITE = (1 << 1) | (1 << 14)  # write, and truncate, what is there
# What each version of Landlock can refuse, as the number of rights that it knows.
RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
MOST_RIGHTS = 16  # from version 5 on
OF_A_FILE = (1 << 0) | (1 << 1) | (1 << 2) | (1 << 14) | (1 << 15)
NETWORK = 0b11  # binding and connecting, from version 4 on
SCOPES = 0b11  # abstract sockets and signals, from version 6 on
SYSTEM = "/usr /bin /sbin /lib /lib32 /lib64 /etc/alternatives /etc/ld.so.cache".split()
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/urandom", "/dev/random")


def landlock_version():
    """The kernel's version of Landlock; less than 1 if it has none."""
    return LIBC.syscall(LANDLOCK_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))


def restrict_files(facts):
    """From now on this process may open nothing but the system's files, those that facts["readable"] names,
    and facts["work"], which alone may be written. Raises OSError."""
    version = landlock_version()
    rights = (1 << RIGHTS.get(version, MOST_RIGHTS)) - 1
    attributes = struct.pack(
        "=QQQ", rights, NETWORK if version >= 4 else 0, SCOPES if version >= 6 else 0
    )
    size = 8 if version < 4 else 16 if version < 6 else 24
    rules = checked(
        LIBC.syscall(LANDLOCK_CREATE, attributes, ctypes.c_size_t(size), ctypes.c_uint32(0)),
        "Landlock",
    )

    def allow(path, allowed):
        with contextlib.suppress(FileNotFoundError):
            opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
            if not os.path.isdir(path):
                allowed &= OF_A_FILE
            rule = struct.pack("=Qi", allowed & rights, opened)
            checked(
                LIBC.syscall(LANDLOCK_ADD, rules, RULE_PATH, rule, ctypes.c_uint32(0)),
                f"Landlock, {path}",
            )
            os.close(opened)

    for path in (*SYSTEM, *facts["readable"]):
        allow(path, READ)
    allow("/proc/self", READ)
    for path in DEVICES:
        allow(path, rights)
    allow(facts["work"], rights)
    if facts["gpu"]:
        for name in os.listdir("/dev"):
            if name.startswith("nvidia"):
                allow(f"/dev/{name}", rights)
        for path in ("/sys", "/proc"):
            allow(path, READ)
        allow("/proc/self/task", READ | OVERWRITE)  # CUDA's driver gives its threads names
    checked(LIBC.syscall(LANDLOCK_RESTRICT, rules, ctypes.c_uint32(0)), "Landlock")
