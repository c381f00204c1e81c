# SPDX-License-Identifier: MIT
"""The system calls that a sandbox's filter refuses, by their numbers, and the filter itself."""

import platform
import struct

# Each with its number on x86_64 and on aarch64; None where there is no such call.
# Other processes, networks, mounts, users and rights; memory and queues that processes share by name; keys,
# which outlive the process in the user's session; files in memory, which nobody sees that has no map of them.
REFUSED = {
    "add_key": (248, 217), "bpf": (321, 280), "chroot": (161, 51), "connect": (42, 203),
    "delete_module": (176, 106),
    "finit_module": (313, 273), "fsconfig": (431, 431), "fsmount": (432, 432), "fsopen": (430, 430),
    "fspick": (433, 433), "init_module": (175, 105), "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427), "io_uring_setup": (425, 425), "ioprio_set": (251, 30),
    "kcmp": (312, 272), "kexec_file_load": (320, 294), "kexec_load": (246, 104), "keyctl": (250, 219),
    "memfd_create": (319, 279), "memfd_secret": (447, 447),
    "migrate_pages": (256, 238), "mount": (165, 40), "move_mount": (429, 429), "move_pages": (279, 239),
    "mq_open": (240, 180), "mq_unlink": (241, 181), "msgctl": (71, 187), "msgget": (68, 186),
    "msgrcv": (70, 188), "msgsnd": (69, 189), "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265), "open_tree": (428, 428), "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438), "pidfd_send_signal": (424, 424), "pivot_root": (155, 41),
    "process_madvise": (440, 440), "process_mrelease": (448, 448), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "ptrace": (101, 117), "reboot": (169, 142),
    "request_key": (249, 218), "sched_setaffinity": (203, 122), "sched_setattr": (314, 274),
    "sched_setparam": (142, 118), "sched_setscheduler": (144, 119), "semctl": (66, 191),
    "semget": (64, 190), "semop": (65, 193), "semtimedop": (220, 192), "setns": (308, 268),
    "setpriority": (141, 140), "shmat": (30, 196), "shmctl": (31, 195), "shmget": (29, 194),
    "socketpair": (53, 199), "tkill": (200, 130), "truncate": (76, 45),
    "umount2": (166, 39), "unshare": (272, 97), "userfaultfd": (323, 282),
}  # fmt: skip
# What Landlock has no right for: whose a file is, who may use it, its times and its attributes. The linker
# makes programs executable with the first two.
CHANGES_OF_MODE = {
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
}  # fmt: skip
OTHER_CHANGES = {
    "chown": (92, None), "fchown": (93, 55), "fchownat": (260, 54), "file_setattr": (469, 469),
    "fremovexattr": (199, 16), "fsetxattr": (190, 7), "futimesat": (261, None), "lchown": (94, None),
    "lremovexattr": (198, 15), "lsetxattr": (189, 6), "removexattr": (197, 14),
    "removexattrat": (466, 466), "setxattr": (188, 5), "setxattrat": (463, 463), "utime": (132, None),
    "utimensat": (280, 88), "utimes": (235, None),
}  # fmt: skip
# Allowed if their first argument is the number of the process that is confined.
OF_ITSELF = {
    "kill": (62, 129), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
    "tgkill": (234, 131),
}  # fmt: skip
LIMITS_OF_A_PROCESS = {"prlimit64": (302, 261)}  # the same, or 0, which means itself
# Said not to be there, because what they ask for can't be read by a filter.
ABSENT = {"clone3": (435, 435), "openat2": (437, 437)}
# CUDA's driver takes connections from other processes by a local socket, and gives up if it can't have
# one: with a GPU that one kind is allowed. It may wait for others, and connect to none.
SOCKET = {"socket": (41, 198)}
CLONE = {"clone": (56, 220)}  # refused into a namespace
OPEN = {"open": (2, None), "openat": (257, 56)}  # refused if they empty what may only be read

MACHINES = {
    "x86_64": (0, 0xC000003E),
    "aarch64": (1, 0xC00000B7),
}  # the column, and the kernel's name
X32_BIT = 0x40000000
CLONE_NEW = 0x7E020000  # every namespace
WRITING_OR_EMPTYING, EMPTYING = 0x203, 0x200  # of open's flags
AF_UNIX, SOCK_SEQPACKET, TYPE_OF_SOCKET = 1, 5, 0xF
EPERM, ENOSYS = 1, 38

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _GIVE = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOWED, _REFUSED, _ABSENT = 0x7FFF0000, 0x00050000 | EPERM, 0x00050000 | ENOSYS
_NUMBER, _MACHINE = 0, 4  # where the kernel puts them


def _argument(place):
    return 16 + 8 * place  # the lower half, which is all that the calls below look at


def filter_is_known():
    """Whether this machine's calls have the numbers of one of the columns above."""
    return platform.machine() in MACHINES


def filter_program(itself, may_change_modes, gpu):
    """The filter's instructions, as the kernel reads them, for the process with the number `itself`, which
    may signal itself alone; None if it sees no other processes than its own.

    With `gpu` it lets CUDA's driver begin.

    Raises OSError on a machine whose calls have other numbers.
    """
    if not filter_is_known():
        raise OSError(0, f"no filter of system calls is known for {platform.machine()}")
    column, machine = MACHINES[platform.machine()]
    program = [
        (_LOAD, 0, 0, _MACHINE),
        (_EQUAL, 1, 0, machine),
        (_GIVE, 0, 0, _REFUSED),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, X32_BIT),
        (_GIVE, 0, 0, _REFUSED),
    ]

    def numbers(*tables):
        found = [call[column] for table in tables for call in table.values()]
        return [number for number in found if number is not None]

    def judge(number, *instructions):
        """What these say of the call with that number; they may jump to their end."""
        program.append((_EQUAL, 0, len(instructions), number))
        program.extend([*instructions, (_LOAD, 0, 0, _NUMBER)])

    for number in numbers(ABSENT):
        judge(number, (_GIVE, 0, 0, _ABSENT))
    changes = [OTHER_CHANGES] if may_change_modes else [CHANGES_OF_MODE, OTHER_CHANGES]
    for number in numbers(REFUSED, *changes):
        judge(number, (_GIVE, 0, 0, _REFUSED))
    for number in numbers(*([] if itself is None else [OF_ITSELF])):
        judge(number, (_LOAD, 0, 0, _argument(0)), (_EQUAL, 1, 0, itself), (_GIVE, 0, 0, _REFUSED))
    for number in numbers(*([] if itself is None else [LIMITS_OF_A_PROCESS])):
        judge(
            number,
            (_LOAD, 0, 0, _argument(0)),
            (_EQUAL, 2, 0, 0),
            (_EQUAL, 1, 0, itself),
            (_GIVE, 0, 0, _REFUSED),
        )
    for number in numbers(SOCKET):
        local_packets = [
            (_LOAD, 0, 0, _argument(0)),
            (_EQUAL, 0, 3, AF_UNIX),
            (_LOAD, 0, 0, _argument(1)),
            (_AND, 0, 0, TYPE_OF_SOCKET),
            (_EQUAL, 1, 0, SOCK_SEQPACKET),
        ]
        judge(number, *(local_packets if gpu else ()), (_GIVE, 0, 0, _REFUSED))
    for name, call in OPEN.items():
        if call[column] is not None:
            judge(
                call[column],
                (_LOAD, 0, 0, _argument(1 if name == "open" else 2)),
                (_AND, 0, 0, WRITING_OR_EMPTYING),
                (_EQUAL, 0, 1, EMPTYING),
                (_GIVE, 0, 0, _REFUSED),
            )
    for number in numbers(CLONE):
        judge(
            number,
            (_LOAD, 0, 0, _argument(0)),
            (_ANY_BIT, 0, 1, CLONE_NEW),
            (_GIVE, 0, 0, _REFUSED),
        )
    program.append((_GIVE, 0, 0, _ALLOWED))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)
