# SPDX-License-Identifier: MIT
"""What the kernel lets a confined program do: Landlock's rights to files, and a filter of system calls.

Python has no functions for these calls: they go by way of the C library.
"""

import contextlib
import ctypes
import os
import platform
import struct
from typing import NamedTuple

LIBC = ctypes.CDLL(None, use_errno=True)
ASK_FOR_PERSONALITY, ADDR_NO_RANDOMIZE = 0xFFFFFFFF, 0x0040000

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

# Each system call that is named below, with its number on x86_64 and on aarch64; None where there is none.
NUMBERS = {
    "add_key": (248, 217), "bpf": (321, 280), "chmod": (90, None), "chown": (92, None),
    "chroot": (161, 51), "clone": (56, 220), "clone3": (435, 435), "connect": (42, 203),
    "delete_module": (176, 106), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "fchown": (93, 55), "fchownat": (260, 54), "file_setattr": (469, 469), "finit_module": (313, 273),
    "fremovexattr": (199, 16), "fsconfig": (431, 431), "fsetxattr": (190, 7), "fsmount": (432, 432),
    "fsopen": (430, 430), "fspick": (433, 433), "futimesat": (261, None), "init_module": (175, 105),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "io_uring_setup": (425, 425),
    "ioprio_set": (251, 30), "kcmp": (312, 272), "kexec_file_load": (320, 294),
    "kexec_load": (246, 104), "keyctl": (250, 219), "kill": (62, 129), "lchown": (94, None),
    "lremovexattr": (198, 15), "lsetxattr": (189, 6), "memfd_create": (319, 279),
    "memfd_secret": (447, 447), "migrate_pages": (256, 238), "mount": (165, 40),
    "move_mount": (429, 429), "move_pages": (279, 239), "mq_open": (240, 180), "mq_unlink": (241, 181),
    "msgctl": (71, 187), "msgget": (68, 186), "msgrcv": (70, 188), "msgsnd": (69, 189),
    "name_to_handle_at": (303, 264), "open": (2, None), "open_by_handle_at": (304, 265),
    "open_tree": (428, 428), "openat": (257, 56), "openat2": (437, 437), "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438), "pidfd_send_signal": (424, 424), "pivot_root": (155, 41),
    "prlimit64": (302, 261), "process_madvise": (440, 440), "process_mrelease": (448, 448),
    "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "ptrace": (101, 117),
    "reboot": (169, 142), "removexattr": (197, 14), "removexattrat": (466, 466),
    "request_key": (249, 218), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
    "sched_setaffinity": (203, 122), "sched_setattr": (314, 274), "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119), "semctl": (66, 191), "semget": (64, 190), "semop": (65, 193),
    "semtimedop": (220, 192), "setns": (308, 268), "setpriority": (141, 140), "setxattr": (188, 5),
    "setxattrat": (463, 463), "shmat": (30, 196), "shmctl": (31, 195), "shmget": (29, 194),
    "socket": (41, 198), "socketpair": (53, 199), "tgkill": (234, 131), "tkill": (200, 130),
    "truncate": (76, 45), "umount2": (166, 39), "unshare": (272, 97), "userfaultfd": (323, 282),
    "utime": (132, None), "utimensat": (280, 88), "utimes": (235, None),
}  # fmt: skip
COLUMNS = {"x86_64": 0, "aarch64": 1}
AUDIT_NAMES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # the kernel's, of the same machines
X32_BIT = 0x40000000  # of calls from programs with pointers of 32 bits

# Other processes, networks, mounts, users and rights; memory and queues that processes share by name; keys,
# which outlive the process in the user's session; files in memory, which no map shows. And what Landlock has
# no right for: whose a file is, its times and its attributes.
REFUSED = """
    add_key bpf chown chroot connect delete_module fchown fchownat file_setattr finit_module
    fremovexattr fsconfig fsetxattr fsmount fsopen fspick futimesat init_module io_uring_enter
    io_uring_register io_uring_setup ioprio_set kcmp kexec_file_load kexec_load keyctl lchown
    lremovexattr lsetxattr memfd_create memfd_secret migrate_pages mount move_mount move_pages mq_open
    mq_unlink msgctl msgget msgrcv msgsnd name_to_handle_at open_by_handle_at open_tree perf_event_open
    pidfd_getfd pidfd_send_signal pivot_root process_madvise process_mrelease process_vm_readv
    process_vm_writev ptrace reboot removexattr removexattrat request_key sched_setaffinity
    sched_setattr sched_setparam sched_setscheduler semctl semget semop semtimedop setns setpriority
    setxattr setxattrat shmat shmctl shmget socketpair tkill truncate umount2 unshare userfaultfd utime
    utimensat utimes
""".split()
# Who may use a file. The linker makes programs executable with the first two.
CHANGES_OF_MODE = "chmod fchmod fchmodat fchmodat2".split()
# Said not to be there, because what they ask for can't be read by a filter.
ABSENT = "clone3 openat2".split()
# Allowed if their first argument is the number of the process that is confined.
OF_ITSELF = "kill rt_sigqueueinfo rt_tgsigqueueinfo tgkill".split()

CLONE_NEW = 0x7E020000  # every namespace
# Of open's flags: to write, to read and write, to empty the file.
WRITING, BOTH, EMPTYING = 1, 2, 0x200
AF_UNIX, SOCK_SEQPACKET, TYPE_OF_SOCKET = 1, 5, 0xF
EPERM, ENOSYS = 1, 38

# Instructions of the kernel's filters (BPF), what a filter returns, and where the kernel puts the call.
LOAD, EQUAL, AT_LEAST, AND, RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
ALLOW, FAIL = 0x7FFF0000, 0x00050000  # the second one with the number of an error
PLACE_OF_NUMBER, PLACE_OF_MACHINE, PLACE_OF_ARGUMENTS = 0, 4, 16


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


class Needs(NamedTuple):
    """A call is allowed only if this argument has one of these values in the bits of the mask."""

    argument: int
    values: tuple
    mask: int = 0xFFFFFFFF


NEVER = [Needs(0, ())]


def filter_is_known():
    """Whether this machine's calls have numbers in the table."""
    return platform.machine() in COLUMNS


def filter_program(itself, may_change_modes, gpu):
    """The filter's instructions, as the kernel reads them, for the process with the number `itself`, which
    may signal itself alone; None if it sees no other processes than its own.

    With `gpu` it lets CUDA's driver begin.

    Raises OSError on a machine whose calls have other numbers.
    """
    machine = platform.machine()
    if not filter_is_known():
        raise OSError(0, f"no filter of system calls is known for {machine}")
    program = [
        (LOAD, 0, 0, PLACE_OF_MACHINE),
        (EQUAL, 1, 0, AUDIT_NAMES[machine]),
        (RETURN, 0, 0, FAIL | EPERM),
        (LOAD, 0, 0, PLACE_OF_NUMBER),
        (AT_LEAST, 0, 1, X32_BIT),
        (RETURN, 0, 0, FAIL | EPERM),
    ]
    for name, needs in _needs_of_calls(itself, may_change_modes, gpu).items():
        number = NUMBERS[name][COLUMNS[machine]]
        if number is not None:
            body = _instructions(needs, ENOSYS if name in ABSENT else EPERM)
            program += [(EQUAL, 0, len(body), number), *body]
    program.append((RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)


def _needs_of_calls(itself, may_change_modes, gpu):
    """{a call: what it needs to be allowed}; all others are allowed."""
    needs = dict.fromkeys([*ABSENT, *REFUSED], NEVER)
    if not may_change_modes:
        needs.update(dict.fromkeys(CHANGES_OF_MODE, NEVER))
    if itself is not None:
        needs.update({name: [Needs(0, (itself,))] for name in OF_ITSELF})
        needs["prlimit64"] = [Needs(0, (0, itself))]  # 0 means itself
    # CUDA's driver takes connections from other processes by a local socket, and gives up if it can't have
    # one: with a GPU that one kind is allowed. It may wait for others, and connect to none.
    local_packets = [Needs(0, (AF_UNIX,)), Needs(1, (SOCK_SEQPACKET,), TYPE_OF_SOCKET)]
    needs["socket"] = local_packets if gpu else NEVER
    # Not to empty what may only be read.
    how_opened = (0, WRITING, BOTH, WRITING | BOTH)
    flags = (*how_opened, *(how | EMPTYING for how in how_opened[1:]))
    needs["open"] = [Needs(1, flags, WRITING | BOTH | EMPTYING)]
    needs["openat"] = [Needs(2, flags, WRITING | BOTH | EMPTYING)]
    needs["clone"] = [Needs(0, (0,), CLONE_NEW)]
    return needs


def _instructions(needs, error):
    """What follows if a call is this one: it returns the error unless all needs are met, and then goes on."""
    found = []
    for argument, values, mask in needs:
        # The lower half of the argument, which is all that these calls look at.
        found += [(LOAD, 0, 0, PLACE_OF_ARGUMENTS + 8 * argument), (AND, 0, 0, mask)]
        # From each value to behind the refusal.
        found += [(EQUAL, len(values) - place, 0, value) for place, value in enumerate(values)]
        found.append((RETURN, 0, 0, FAIL | error))
    return [*found, (LOAD, 0, 0, PLACE_OF_NUMBER)]
