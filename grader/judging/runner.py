# SPDX-License-Identifier: MIT
"""What the judge asks of whoever runs a student's programs: home_runner.py at home, and
sandbox_runner.py for what nobody has read."""

from typing import NamedTuple, Optional

TIME, MEMORY, PROCESSES, OUTPUT, FILES = "time", "memory", "processes", "output", "files"
MOST_REPORT = 16 << 20  # bytes of a report of the race checker


class Limits(NamedTuple):
    """What a program may use; any of these ends it. At home the time does, and nothing else."""

    seconds: float = 10  # of processors, all its processes together; at home by the clock
    memory: int = 2 << 30  # bytes that are resident, of all its processes together
    processes: int = 256  # and threads
    output: int = 1 << 20  # bytes; what it prints up to there is kept whole
    files: int = 64 << 20  # bytes in its folder, and in any one file

    def figure(self, limit):
        """What has to be passed to reach this limit, as in '10 s', '256' or '2 GiB'."""
        if limit == TIME:
            return f"{self.seconds} s"
        if limit == PROCESSES:
            return str(self.processes)
        size = getattr(self, limit)
        return f"{size >> 20} MiB" if size % (1 << 30) else f"{size >> 30} GiB"


class Run(NamedTuple):
    """How a program ended, and what it printed. What it left is in the folder that it was given."""

    code: Optional[int]  # negative: the signal that ended it; None: its time was over
    output: str
    limit: Optional[str] = None  # the one of its limits that ended it
    diagnostics: tuple = ()  # what the backend has recorded, if whoever runs it has read that
    report: bytes = b""  # what came as the race checker's report, MOST_REPORT and one byte at most


class OutOfTime(Exception):
    """The runs of a file have taken all the time that they may take together."""


class NotCompiled(Exception):
    """The student's file does not become a program; `lines` say why. It is refused if it uses what no
    solution needs, and may well compile then."""

    def __init__(self, lines, is_refused=False):
        super().__init__(lines[0] if lines else "")
        self.lines, self.is_refused = lines, is_refused


class Runner:
    """Compiles one student's file for one exercise, and runs what came of it."""

    goes_by_the_clock = True  # and tells a program, too, when its time is over
    results_form = None  # the Form in which results are judged
    can_observe = True  # whether it has the form that the race checker sees
    one_process_per_case = False
    may_lack_gpu = False  # whether a program can end with NOTHING_COULD_RUN by no fault of its own

    def __init__(self, build, exercise, source):
        self.build, self.exercise, self.source = build, exercise, source

    @property
    def merging(self):
        """How the race checker's reports become one answer; only a build that can observe has it."""
        return self.build.merging(self.source)

    def compiled(self, form):
        """The student's program in this form. Raises NotCompiled."""
        raise NotImplementedError

    def new_folder(self):
        """An empty folder that one program may write into."""
        raise NotImplementedError

    def run(self, program, folder, arguments, settings, limits):
        """The Run of a program that compiled() has returned, with `folder` to write into.

        `settings` are what the backend's variables LAB_... say in it, but for where its report goes: if it
        is to count, that comes back with the Run.
        """
        raise NotImplementedError

    def run_until(self, is_last, function, items):
        """[function(item)] for these items, in their order, up to the first result that `is_last`
        says is the last one."""
        results = []
        for item in items:
            results.append(function(item))
            if is_last(results[-1]):
                break
        return results
