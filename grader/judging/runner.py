# SPDX-License-Identifier: MIT
"""Runs a student's programs: what the judge asks of a Runner, the one at home, and what reports come back.

sandboxed.py runs programs that are not trusted.
"""

import concurrent.futures
import itertools
import os
import pathlib
import queue
import tempfile
import threading
from typing import NamedTuple, Optional

from engine.command.processes import (
    RunningPrograms,
    answers_as_ended,
    output_of,
    put_answer,
    run_bounded,
)
from engine.command.racecheck_runs import SECONDS_TO_REPORT, inherited
from engine.command.recipe import DidNotCompile
from engine.command.run_server import RunServer
from engine.command.untrusted_files import content_of, json_in
from grader.inspection.object_symbols import libraries_of, objections_to_symbols, symbols_of
from grader.inspection.source_tokens import objections_to_source
from grader.judging.compile import CONCURRENT, SCHEDULED, compiled

TIME, MEMORY, PROCESSES, OUTPUT, FILES = "time", "memory", "processes", "output", "files"
MOST_REPORT = 16 << 20  # bytes of a report of the race checker


# What a program did that has reached a limit, with the limit's figure.
REACHED = {
    TIME: "did not end within {}",
    MEMORY: "used more than {} of memory",
    PROCESSES: "started more than {} threads and processes",
    OUTPUT: "printed more than {}",
    FILES: "wrote more than {}",
}


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

    def reached(self, limit):
        """'used more than 2 GiB of memory'."""
        return REACHED[limit].format(self.figure(limit))


class Run(NamedTuple):
    """How a program ended, and what it printed. What it left is in the folder that it was given."""

    code: Optional[int]  # negative: the signal that ended it; None: its time was over
    output: str
    limit: Optional[str] = None  # the one of its limits that ended it
    diagnostics: tuple = ()  # what the backend has recorded, if the Runner has read that
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


OF_PREPROCESSED = 64 << 20  # bytes
MOST_OUTPUT = 16000  # bytes of what the student's program prints; the end of it is kept


class LocalRunner(Runner):
    """Is to be used in a `with`, at whose end its folders are gone."""

    results_form = CONCURRENT

    def __init__(self, build, exercise, source, forms=None):
        super().__init__(build, exercise, source)
        self.forms = forms  # else those that a check takes
        self.can_observe = build.can_observe
        self.may_lack_gpu = build.settings["backend"] == "cuda"
        self.programs = RunningPrograms()
        self.compiling = {}  # {a form's prefix: a queue for its put_answer()}
        self.compiling_begins, self.server_begins = threading.Lock(), threading.Lock()
        self.servers = {}  # {a program's path: its RunServer}
        self.numbers = itertools.count()

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="lab-check-")
        self.pool = concurrent.futures.ThreadPoolExecutor(2)
        return self

    def __exit__(self, *_):
        self._close_servers()
        self.pool.shutdown()
        self.folder.cleanup()

    def compiled(self, form):
        """All forms are compiled at once, as soon as one of them is asked for. From any thread."""
        with self.compiling_begins:
            if not self.compiling:
                for each in self.forms or self._forms_of_check():
                    ended = self.compiling[each.prefix] = queue.SimpleQueue()
                    words = (self.build, self.exercise, self.source, each)
                    self.pool.submit(put_answer, ended, each, compiled, *words)
        answer = self.compiling[form.prefix].get()
        self.compiling[form.prefix].put(answer)  # for the next one that asks
        _, result, problem = answer
        if isinstance(problem, DidNotCompile):
            raise NotCompiled(problem.lines) from problem
        if problem:
            raise problem
        return result

    def _forms_of_check(self):
        is_to_be_observed = self.can_observe and len(self.exercise.parts) > 1
        return (CONCURRENT, SCHEDULED) if is_to_be_observed else (CONCURRENT,)

    @property
    def warnings(self):
        """The compiler's, about what compiled() has returned."""
        return tuple(self.compiled(CONCURRENT).warnings)

    def refusals(self):
        """For what a grade would refuse the file, as far as it was compiled for that."""
        if SCHEDULED.prefix not in self.compiling:
            return []
        recipe = self.compiled(SCHEDULED).recipe
        text = content_of(recipe.preprocessed(), OF_PREPROCESSED)
        names = output_of(["nm", "-P", str(recipe.work / "0.o")]) or ""
        own = objections_to_source(self.source, text, answers=self.exercise.answers)
        return own or objections_to_symbols(symbols_of(names), libraries_of(recipe))

    def new_folder(self):
        folder = pathlib.Path(self.folder.name, str(next(self.numbers)))
        folder.mkdir()
        return folder

    def run(self, program, folder, arguments, settings, limits):
        seconds, report = limits.seconds, folder / "report"
        if settings.get("LAB_RACECHECK_COUNTS"):
            settings = {**settings, "LAB_RACECHECK_REPORT": str(report)}
        if "LAB_RACECHECK_SECONDS" in settings:  # the race checker ends it, and then reports
            seconds += SECONDS_TO_REPORT
        words = [*map(str, arguments)]
        run = None
        if program.recipe.form == SCHEDULED:
            given = {**settings, **{str(place): word for place, word in enumerate(words, 1)}}
            run = self._server_of(program, words).run(given, seconds, MOST_OUTPUT)
        if run is None:
            command, environment = [str(program.path), *words], {**inherited(), **settings}
            run = run_bounded(command, environment, seconds, MOST_OUTPUT, programs=self.programs)
        limit = TIME if run.code is None else None
        return Run(run.code, run.output, limit, report=content_of(report, MOST_REPORT + 1))

    def _server_of(self, program, words):
        """Each run gives it other `words`, and as many."""
        with self.server_begins:
            if program.path not in self.servers:
                command = [program.path, *words]
                self.servers[program.path] = RunServer(command, inherited(), self.programs)
            return self.servers[program.path]

    def _close_servers(self):
        for each in self.servers.values():
            each.close()
        self.servers = {}

    def run_until(self, is_last, function, items):
        """Several at a time; what still runs after the last one is ended, as it is by Ctrl-C."""
        pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1)
        results, later = [], {}
        try:
            for number, *answer in answers_as_ended(pool, function, items):
                later[number] = answer
                while len(results) in later:
                    result, problem = later[len(results)]
                    if problem:
                        raise problem
                    results.append(result)
                    if is_last(result):
                        return results
        finally:
            if len(later) < len(items):
                self.programs.end()
            pool.shutdown(cancel_futures=True)
            if len(later) < len(items):
                self._close_servers()
                self.programs = RunningPrograms()
        return results


# The race checker's report as a program has sent it. The checker shares its process with a student's
# code, so nothing is believed that it could not have written. A report is one text: what comes twice, or has
# something before, around or after it, is none.

# What each begins with, and what no part of one can have in it: JSON keeps a text's new lines apart.
HEAD = b'{\n "seed": '
MOST_LAUNCHES = 1000  # that the checker counts one by one, and as many calls of the host
MOST_STEPS = 100  # threads, events or arrows of one race: far more than there are


def _number(value):
    return type(value) is int and value >= 0


def _flag(value):
    return type(value) is bool


def _text(value):
    return type(value) is str


def _size(value):
    return type(value) is list and len(value) == 3 and all(map(_number, value))


def _pieces(value):
    return type(value) is list and all(_number(each) and each < 1 << 63 for each in value)


def _object_of(optional=(), **checks):
    def check(value):
        return (
            type(value) is dict
            and value.keys() <= checks.keys() <= value.keys() | set(optional)
            and all(checks[name](each) for name, each in value.items())
        )

    return check


_of_blocks = _object_of(total=_number, most_per_block=_number)
_of_threads = _object_of(total=_number, most_per_block=_number, most_per_thread=_number)
OF_ONE_AFTER_ANOTHER = ("kept_bytes_stored", "bytes_of_work", "input_bytes_loaded")
_launch = _object_of(
    optional=("unseen_bytes_stored", "loaded", *OF_ONE_AFTER_ANOTHER),
    kernel=_text,
    file=_text,
    line=_number,
    blocks=_size,
    threads=_size,
    completed=_flag,
    blocks_begun=_number,
    static_shared_bytes=_number,
    dynamic_shared_bytes=_number,
    unseen_bytes_stored=_number,
    **dict.fromkeys(OF_ONE_AFTER_ANOTHER, _of_threads),
    loaded=_pieces,
    **{
        f"{space}_{what}": _of_threads
        for space in ("global", "shared")
        for what in ("loads", "stores", "atomics")
    },
    fences=_of_threads,
    global_bytes_loaded=_of_blocks,
    global_bytes_stored=_of_blocks,
    block_barriers=_of_blocks,
    warp_barriers=_of_blocks,
    grid_barriers=_of_blocks,
)


def _launches(value):
    return type(value) is list and len(value) <= MOST_LAUNCHES and all(map(_launch, value))


def _calls(value):
    return type(value) is list and len(value) <= MOST_LAUNCHES and all(map(_text, value))


def _findings(value):
    """What they are made of, merge_reports looks at, which reads them all."""
    return type(value) is list and all(map(_has_short_chain, value))


def _has_short_chain(finding):
    chain = finding.get("chain", {}) if type(finding) is dict else None
    return type(chain) is dict and all(
        type(each) is list and len(each) <= MOST_STEPS for each in chain.values()
    )


_report = _object_of(
    seed=_number,
    launches=_number,
    failed_launches=_number,
    ended_in_kernel=_flag,
    ended_by_time=_flag,
    accesses=_number,
    forgotten_reads=_number,
    why_lines_are_missing=_text,
    findings=_findings,
    launch_counts=_launches,
    runtime_calls=_calls,
    number_of_runtime_calls=_number,
    unfreed_allocations=_number,
)


def report_in(content):
    """The report that these bytes are; None if they are none."""
    # With one in another, the checker's own could become a part of what a submission sends.
    is_one = content.rfind(HEAD) == 0 and content.endswith(b"}\n")
    if len(content) > MOST_REPORT or not is_one:
        return None
    made = json_in(content)
    return made if _report(made) else None
