# SPDX-License-Identifier: MIT
"""Straight-line programs of threads in blocks, and the words of PTX ISA section 8 about them."""

import dataclasses
import enum
import itertools


class MemoryOrder(enum.Enum):
    """The orders of cuda::memory_order, and `weak` for a plain access.

    A sequentially consistent load or atomic is a `seq_cst` fence, then the access with acquire
    order; a store is that fence and a relaxed store. So only fences are `seq_cst` here.
    """

    weak = "weak"
    relaxed = "relaxed"
    acquire = "acquire"
    release = "release"
    acq_rel = "acq_rel"
    seq_cst = "seq_cst"


class ThreadScope(enum.Enum):
    """The scopes of cuda::thread_scope: PTX's .cta, .gpu and .sys. All programs use one device."""

    block = "block"
    device = "device"
    system = "system"


class Kind(enum.Enum):
    read = "read"
    write = "write"
    read_modify_write = "read-modify-write"
    compare_and_swap = "compare-and-swap"
    fence = "fence"
    barrier = "barrier"


# What a read returns where no write of the program came before it (section 8.2.6).
INITIAL = "initial value"

ORDERS = {
    Kind.read: {MemoryOrder.weak, MemoryOrder.relaxed, MemoryOrder.acquire},
    Kind.write: {MemoryOrder.weak, MemoryOrder.relaxed, MemoryOrder.release},
    Kind.read_modify_write: {
        MemoryOrder.relaxed,
        MemoryOrder.acquire,
        MemoryOrder.release,
        MemoryOrder.acq_rel,
    },
    Kind.compare_and_swap: {
        MemoryOrder.relaxed,
        MemoryOrder.acquire,
        MemoryOrder.release,
        MemoryOrder.acq_rel,
    },
    Kind.fence: {MemoryOrder.acq_rel, MemoryOrder.seq_cst},
    Kind.barrier: {None},
}


@dataclasses.dataclass(frozen=True, eq=False)
class Operation:
    """One operation of one thread: its `position`-th. Two of them are equal only if identical."""

    name: str
    kind: Kind
    thread: "Thread"
    position: int
    location: str | None = None
    order: MemoryOrder | None = None
    scope: ThreadScope | None = None
    group: str | None = None  # of a barrier: who takes part

    def __repr__(self):
        return self.name

    @property
    def reads(self):
        return self.kind in (Kind.read, Kind.read_modify_write, Kind.compare_and_swap)

    @property
    def writes(self):
        """A compare-and-swap may."""
        return self.kind in (Kind.write, Kind.read_modify_write, Kind.compare_and_swap)

    @property
    def strong(self):
        """Section 8.4: a fence, or a memory operation that is not weak."""
        return self.order not in (None, MemoryOrder.weak)

    @property
    def acquires(self):
        """Whether this is an acquire operation (section 8.4); a fence is none."""
        return self.reads and self.order in (MemoryOrder.acquire, MemoryOrder.acq_rel)

    @property
    def releases(self):
        """Whether this is a release operation (section 8.4); a fence is none."""
        return self.writes and self.order in (MemoryOrder.release, MemoryOrder.acq_rel)

    def includes(self, thread):
        """Whether the scope of this operation includes `thread`, or no thread (section 8.5)."""
        if self.scope is not ThreadScope.block or thread is None:
            return True
        return self.thread.block_id == thread.block_id


class Thread:
    """Builds the operations of one thread, in program order. program.thread() makes one."""

    def __init__(self, name, block, kernel):
        self.name = name
        self.block = block
        self.kernel = kernel
        self.operations = []

    def __repr__(self):
        return self.name

    @property
    def block_id(self):
        """Block 0 of the next kernel is another block."""
        return self.kernel, self.block

    def read(self, location, order=MemoryOrder.weak, scope=ThreadScope.system):
        return self.append(Kind.read, location, order, scope)

    def write(self, location, order=MemoryOrder.weak, scope=ThreadScope.system):
        return self.append(Kind.write, location, order, scope)

    def read_modify_write(self, location, order=MemoryOrder.relaxed, scope=ThreadScope.device):
        """An atomic whose result is used: PTX's `atom`."""
        return self.append(Kind.read_modify_write, location, order, scope)

    def compare_and_swap(self, location, order=MemoryOrder.relaxed, scope=ThreadScope.device):
        """PTX's `atom.cas`. Program.expected says which write's value it compares with."""
        return self.append(Kind.compare_and_swap, location, order, scope)

    def fence(self, order=MemoryOrder.seq_cst, scope=ThreadScope.device):
        """`seq_cst` is fence.sc, as __threadfence() is; `acq_rel` is fence.acq_rel."""
        return self.append(Kind.fence, None, order, scope)

    def barrier(self, group="block"):
        """The n-th barrier of a group meets the n-th one of the other threads of the block.

        `group` "block" is __syncthreads(); any other name is a __syncwarp() of those who use it.
        A thread with fewer barriers than the others has exited, and is not waited for.
        """
        return self.append(Kind.barrier, None, None, None, group)

    def append(self, kind, location, order, scope, group=None):
        if order not in ORDERS[kind]:
            raise ValueError(f"a {kind.value} can't be {order.value if order else 'unordered'}.")
        words = [kind.value, location, order and order.value, scope and scope.value, group]
        if order is MemoryOrder.weak:
            words[3] = None  # A weak access has no scope.
        position = len(self.operations)
        name = f"{self.name}[{position}]: {' '.join(filter(None, words))}"
        self.operations.append(Operation(name, kind, self, position, location, order, scope, group))
        return self.operations[-1]


class Program:
    """Threads that run side by side, kernel after kernel, in memory that is initialised before.

    No two writes of a location have the same value, and none has the initial one.
    """

    def __init__(self, title=""):
        self.title = title
        self.threads = []
        # Of each compare-and-swap: the write whose value it expects, or INITIAL. In a program that
        # `case` has made: of the update or the read that it has turned out to be.
        self.expected = {}

    def thread(self, name, block, kernel=0):
        """A new thread. Those of kernel n start when all threads of kernel n - 1 have ended."""
        if any(other.name == name for other in self.threads):
            raise ValueError(f"there is a thread {name} already.")
        self.threads.append(Thread(name, block, kernel))
        return self.threads[-1]

    @property
    def operations(self):
        return [one for each in self.threads for one in each.operations]

    @property
    def comparisons(self):
        return [one for one in self.operations if one.kind is Kind.compare_and_swap]

    def case(self, succeeding):
        """The program if these compare-and-swaps succeed and the others fail, and {operation: its copy}.

        One that succeeds is a read-modify-write; one that fails is a read, which does not release.
        """
        made, copies = Program(self.title), {}
        for thread in self.threads:
            copy = made.thread(thread.name, thread.block, thread.kernel)
            for one in thread.operations:
                kind, order = one.kind, one.order
                if kind is Kind.compare_and_swap:
                    kind = Kind.read_modify_write if one in succeeding else Kind.read
                if kind is not one.kind and kind is Kind.read:
                    order = MemoryOrder.acquire if one.acquires else MemoryOrder.relaxed
                copies[one] = copy.append(kind, one.location, order, one.scope, one.group)
        for one, write in self.expected.items():
            made.expected[copies[one]] = INITIAL if write == INITIAL else copies[write]
        return made, copies

    def meetings(self):
        """Which barriers meet: lists of operations, each of one instance of a barrier."""
        meetings = {}
        for each in self.threads:
            counts = {}
            for one in each.operations:
                if one.kind is Kind.barrier:
                    count = counts[one.group] = counts.get(one.group, 0) + 1
                    meetings.setdefault((each.block_id, one.group, count), []).append(one)
        return list(meetings.values())

    def check_barriers(self):
        """Raises ValueError where some threads wait for ever, each group at another barrier."""
        left = {
            each: [one for one in each.operations if one.kind is Kind.barrier]
            for each in self.threads
        }
        meetings = self.meetings()
        while meetings:
            met = [
                all_of for all_of in meetings if all(left[one.thread][0] is one for one in all_of)
            ]
            if not met:
                waiting = [barriers[0] for barriers in left.values() if barriers]
                raise ValueError(f"these barriers never meet: {', '.join(map(repr, waiting))}.")
            for one in itertools.chain(*met):
                left[one.thread].remove(one)
            meetings = [all_of for all_of in meetings if all_of not in met]

    def check_given(self, given):
        """Raises ValueError unless `given` says of reads which write of their location they saw."""
        operations = self.operations
        for read, write in given.items():
            if read not in operations or not read.reads:
                raise ValueError(f"{read} is no read of this program.")
            if write != INITIAL and not (
                write in operations
                and write is not read
                and write.writes
                and write.location == read.location
            ):
                raise ValueError(f"{write} is no write that {read} could see.")


def morally_strong(one, other):
    """Section 8.7, for operations of one size and one proxy. A barrier is never morally strong."""
    if Kind.barrier in (one.kind, other.kind):
        return False
    if one.thread is not other.thread:
        if not (one.strong and other.strong):
            return False
        if not (one.includes(other.thread) and other.includes(one.thread)):
            return False
    return Kind.fence in (one.kind, other.kind) or one.location == other.location


def conflict(one, other):
    """Section 8.7.1: they overlap, and at least one of them writes."""
    return (
        one.location is not None and one.location == other.location and (one.writes or other.writes)
    )


def may_race(one, other):
    """Whether the two race unless causality order relates them (section 8.7.1)."""
    return (
        one.thread is not other.thread and conflict(one, other) and not morally_strong(one, other)
    )


@dataclasses.dataclass
class Verdict:
    """What was found in `executions` executions of a program.

    No execution, no race: ask for `executions` where that can't be ruled out.
    """

    executions: int = 0
    races: set = dataclasses.field(default_factory=set)  # of frozensets of two operations
    sources: dict = dataclasses.field(default_factory=dict)  # of each read: writes, or INITIAL

    def add(self, races, sources):
        """Adds one execution: its races, and which write each read saw."""
        self.executions += 1
        self.races |= races
        for read, write in sources.items():
            self.sources.setdefault(read, set()).add(write)

    def racing_locations(self):
        return {one.location for pair in self.races for one in pair}

    def stale_reads(self):
        """The reads that may return the initial value."""
        return {read for read, writes in self.sources.items() if INITIAL in writes}
