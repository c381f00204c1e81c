# SPDX-License-Identifier: MIT
"""The one judge of a student's file: its results, then its races, then what it may use.

A Runner compiles and runs the file, so that it makes no difference here where that is done.
"""

import textwrap
from typing import NamedTuple, Optional

from engine.command.diagnostics import VARIABLE, records_of
from engine.command.errors import NOTHING_COULD_RUN
from engine.command.output import invocation
from engine.command.racecheck_runs import CheckedRun, problem_of
from engine.command.untrusted_files import content_of
from engine.prove.decided_runs import SEED, decided, trace_in
from grader.exercises.cases import Array, read_results, written_cases
from grader.exercises.limits import depends_on_schedule
from grader.judging.compile import CONCURRENT, SCHEDULED, is_empty, objections_before_compiling
from grader.judging.limits import lines_about_limits
from grader.judging.races import (
    MAY_BE_THE_REASON,
    NOT_EXPLORED,
    SCHEDULES,
    SECONDS,
    all_executions,
    lines_of_unexplored,
    objections_to_unseen_stores,
    overrun_lines,
    race_as_well,
    race_lines,
    race_picture,
    races_in,
    remedy_lines,
    settings_of,
    stream_lines,
    wrong_by_the_rules,
)
from grader.judging.results import (
    STUCK_SECONDS,
    WIDTH,
    SecretCase,
    error_words,
    fault_lines,
    first_failure,
)
from grader.judging.runner import (
    FILES,
    MEMORY,
    OUTPUT,
    PROCESSES,
    TIME,
    Limits,
    NotCompiled,
    OutOfTime,
    report_in,
)
from grader.judging.verdict import (
    COMPILE_ERROR,
    FAILED,
    NOT_RUN,
    OK,
    PASSED,
    RUNTIME_ERROR,
    SIGNAL,
    TIMED_OUT,
    JudgedCase,
    Verdict,
)

OF_A_CASE = Limits(seconds=10)
OF_A_SCHEDULE = Limits(seconds=SECONDS)
FEW_SCHEDULES = 4  # if a race is not what is judged
INTERRUPTED = (2, 3, 4, 5)  # seeds of schedules in which other blocks go on between two atomics
MOST_RESULTS = 64 << 20  # bytes of a file of results, unless a program may write more
# What the backend is told if the time of processors decides: by the clock a launch that does not end would
# come to another end on a machine that is busy.
NEVER = 1_000_000  # seconds
MOST_TIMEOUTS = 2  # cases of one file that may take all their time; the rest is not run
NOT_RUN_CASE = "Not run: the cases before it took all the time that there is."
OUT_OF_TIME = "Not judged: all runs of the file together took more time than they may."
MOVES = {"given": 1, "returned": 1, "updated": 2}  # how often each element goes through memory
ENDED_BY = {  # with the limit's figure; how_it_ended() speaks of the time
    MEMORY: "It was ended: it used more than {} of memory.",
    PROCESSES: "It was ended: it started more than {} threads and processes.",
    OUTPUT: "It was ended: it printed more than {}.",
    FILES: "It was ended: it wrote more than {}.",
}
NEEDED_FOR = {  # the cases whose results must be right before a part is judged
    "results": lambda case: False,
    "races": lambda case: case.races,
    "limits": lambda case: case.counted,
}
# What a record can raise that the race checker did not write: a student's program could forge it.
OF_NO_RECORD = (KeyError, TypeError, ValueError, AttributeError, IndexError)


class ExerciseCases(NamedTuple):
    """An exercise with the cases that one seed draws, the same for every file that is judged."""

    exercise: object
    cases: list
    # The same cases with other numbers, which go into the same process: a cached answer is wrong.
    again: tuple = ()
    # {a case's name: plausibility.work_of the solution}, both times together; None: not judged.
    least_work: Optional[dict] = None
    secret: Optional[SecretCase] = None  # what a grade counts besides the counted case
    timed: Optional[object] = None  # what a grade times, a speed.Timed

    @property
    def runs_of_each(self):
        """How often a case is run where the least work is measured."""
        return 2 if self.again else 1


class WrongCase(NamedTuple):
    number: int  # of the case, from 0
    launch: int  # the one that is wrong
    lines: list
    is_wrong_result: bool  # and no crash, error or endless loop
    limit: Optional[str] = None  # that ended the program
    diagnostics: tuple = ()  # of the program


class CasesRun(NamedTuple):
    """How a program ended on some cases, as in Run, and what it left."""

    code: Optional[int]
    output: str
    limit: Optional[str]
    diagnostics: tuple
    results: list  # [CaseResult]
    report: Optional[dict]  # the race checker's; None if there is none that it could have written
    trace: Optional[object] = None  # of a run by decisions its Trace


class Judge:
    """Judges the file of one Runner.

    The first mistake is explained, and then nothing else is judged. With `every_case` each case and
    each part is, as far as the results that it depends on are right, and each mistake is told in short.
    `has_begun` is told which step has begun, "compiling" or a part, and in words what is done; with
    `time_it` the largest case's time is told at the end.
    """

    has_begun = staticmethod(lambda step, what: None)
    time_it = False

    def __init__(self, exercise_cases, runner, every_case=False):
        self.exercise, self.cases = exercise_cases.exercise, exercise_cases.cases
        self.exercise_cases, self.runner, self.every_case = exercise_cases, runner, every_case
        self.reset_command = invocation().command("reset", self.exercise.number)
        self.states = dict.fromkeys(self.exercise.parts, NOT_RUN)
        self.lines_of = {part: [] for part in self.exercise.parts}
        self.wrong = {}  # {number: WrongCase}
        self.status = OK
        self.race_picture, self.diagnoses, self.remedy = "", (), ()
        self.proved_for = ""
        self.accesses, self.times = 0, []

    def verdict(self):
        """The Verdict. Raises CommandError, and what the runner raises if it can't run anything."""
        try:
            objections = objections_before_compiling(self.exercise, self.runner.source)
            if not objections and is_empty(self.runner.source):
                objections = [f"The file is empty: {self.reset_command} brings the starter back."]
            if objections:
                raise NotCompiled(objections)
            self.has_begun("compiling", "compiling")
            self.compile()
            for part in self.exercise.parts:
                self._judge(part)
        except NotCompiled as problem:
            return self._does_not_compile(problem.lines)._replace(is_refused=problem.is_refused)
        lines = next(
            (self.lines_of[part] for part, state in self.states.items() if state == FAILED), []
        )
        if set(self.states.values()) == {PASSED} or (self.time_it and not lines):
            lines = self._all_is_right()
        cases = self._judged_cases() if self.every_case else ()
        return Verdict(
            self.states,
            lines,
            self.lines_of,
            cases,
            self.status,
            self.race_picture,
            self.diagnoses,
            remedy=self.remedy,
            proved_for=self.proved_for,
        )

    def compile(self):
        """Raises NotCompiled."""
        self.program = self.runner.compiled(self.runner.results_form)

    def _judge(self, part):
        if not self.every_case and FAILED in self.states.values():
            return
        if part != "results" and not self.runner.can_observe:
            return
        wrong = [self.cases[number] for number in sorted(self.wrong)]
        needed = [case.name for case in wrong if NEEDED_FOR[part](case)]
        if needed:
            self.lines_of[part] = [f"Not judged: the results of case {needed[0]} are wrong."]
            return
        judged = {"results": self._results, "races": self._races, "limits": self._limits}[part]
        try:
            self.lines_of[part] = judged()
        except OutOfTime:
            self._note_status(TIMED_OUT)
            self.lines_of[part] = [OUT_OF_TIME]
        self.states[part] = FAILED if self.lines_of[part] else PASSED

    def race_cases(self):
        return [case for case in self.cases if case.races]

    def _does_not_compile(self, lines):
        self.states = {**dict.fromkeys(self.states, NOT_RUN), "results": FAILED}
        self.lines_of = {**{part: [] for part in self.states}, "results": lines}
        cases = tuple(JudgedCase(case.name, False, []) for case in self.cases)
        return Verdict(self.states, lines, self.lines_of, cases, COMPILE_ERROR)

    def run_cases(self, program, cases, settings, limits, options=(), loads=None, decisions=None):
        """Runs the program on these cases, and reads what it has left.

        `decisions` are what engine.prove.decided_runs.decided() takes, if it is to run by a list of them.
        """
        folder = self.runner.new_folder()
        given = folder / "cases"
        given.write_bytes(written_cases(cases, self.exercise.name, loads))
        if decisions is not None:
            settings = {**settings, **decided(folder, *decisions)}
        stuck = STUCK_SECONDS if self.runner.goes_by_the_clock else NEVER
        records = folder / "diagnostics"
        run = self.runner.run(
            program,
            folder,
            [given, folder / "results", *options],
            {"LAB_TIMEOUT": str(stuck), VARIABLE: str(records), **settings},
            limits,
        )
        most = max(MOST_RESULTS, limits.files)
        results = read_results(content_of(folder / "results", most))
        return CasesRun(
            run.code,
            run.output,
            run.limit,
            records_of(records),
            results,
            # The checker reports before a signal ends the program, which is no run then that counts.
            None if (run.code or 0) < 0 else report_in(run.report),
            trace_in(folder) if decisions is not None else None,
        )

    @staticmethod
    def counting(seed=0):
        """The settings with which the race checker writes its report."""
        return {
            "LAB_RACECHECK_COUNTS": "1",
            "LAB_RACECHECK_LENIENT": "0",
            "LAB_RACECHECK_SEED": str(seed),
        }

    def _results(self):
        self.has_begun("results", f"running {len(self.cases)} cases")
        timeouts = 0
        for numbers, cases in self.processes():
            if timeouts == MOST_TIMEOUTS:
                self.wrong[numbers[0]] = WrongCase(numbers[0], 0, [NOT_RUN_CASE], False)
                continue
            try:
                wrong = self._first_wrong_case(numbers, cases)
            except OutOfTime:
                self._note_status(TIMED_OUT)
                self.wrong[numbers[0]] = WrongCase(numbers[0], 0, [NOT_RUN_CASE], False)
                timeouts = MOST_TIMEOUTS
                continue
            if wrong and not self.every_case:
                return [*self._lines_about(wrong), *self._reason_of(wrong)]
            if wrong:
                self.wrong[wrong.number] = wrong
                timeouts += wrong.limit == TIME
        right = len(self.cases) - len(self.wrong)
        if not self.wrong:
            return []
        return [f"{right} of {len(self.cases)} cases {'is' if right == 1 else 'are'} right."]

    def processes(self):
        """([the cases' numbers], the cases) of each process that the results are judged in."""
        alone = self.every_case or self.runner.one_process_per_case or self.exercise.is_program
        if not alone:
            return [(range(len(self.cases)), self.cases)]
        both = zip(self.cases, self.exercise_cases.again or self.cases)
        return [
            ((number, number), (case, other) if other is not case else (case,))
            for number, (case, other) in enumerate(both)
        ]

    def _first_wrong_case(self, numbers, cases):
        is_observed = self.runner.results_form is SCHEDULED
        environment = self.counting() if is_observed else {}
        options = ["--time"] if self.time_it else []
        run = self.run_cases(self.program, cases, environment, OF_A_CASE, options)
        self.times += [result.microseconds for result in run.results]
        wrong = self.wrong_case(numbers, cases, run)
        return wrong or self.wrong_if_right(numbers, cases, run)

    def wrong_case(self, numbers, cases, run, head=()):
        """The WrongCase, with `head` before its lines, that this CasesRun shows, or None."""
        failure = first_failure(cases, run, run.results, OF_A_CASE.seconds)
        if not failure:
            return None
        if not failure.is_wrong_result:
            self._note_end(run)
        number, lines = numbers[failure.number], [*head, *self._words(run, failure)]
        wrong = WrongCase(number, failure.launch, lines, failure.is_wrong_result)
        return wrong._replace(limit=run.limit, diagnostics=run.diagnostics)

    def wrong_if_right(self, numbers, cases, run):
        """A WrongCase for a reason besides the results, which are right; None if there is none."""
        return None

    def _words(self, run, failure):
        if not failure.is_wrong_result:
            if run.code == NOTHING_COULD_RUN and not self.runner.may_lack_gpu:
                return [f"The program ended with {run.code}."]
            if run.limit in ENDED_BY:
                return [ENDED_BY[run.limit].format(OF_A_CASE.figure(run.limit))]
        if self.exercise.is_program and fault_lines(run.diagnostics):
            return fault_lines(run.diagnostics)  # which a program need not have asked for
        text = self.runner.source.read_text(encoding="utf-8", errors="replace")
        return error_words(run, failure, text)

    def _note_end(self, run):
        """The first end that is none of its own becomes the file's status."""
        if run.limit == TIME:
            self._note_status(TIMED_OUT)
        else:
            self._note_status(SIGNAL if run.code < 0 else RUNTIME_ERROR)

    def _note_status(self, status):
        if self.status == OK:
            self.status = status

    def _judged_cases(self):
        return tuple(
            JudgedCase(case.name, number not in self.wrong, self._lines_in_short(number))
            for number, case in enumerate(self.cases)
        )

    def _lines_in_short(self, number):
        """With a race that was found instead of a question about the launches."""
        if number not in self.wrong:
            return []
        wrong = self.wrong[number]
        if not (self.race_picture and wrong.is_wrong_result and wrong.launch > 0):
            return wrong.lines
        return [*wrong.lines[:-1], f"{MAY_BE_THE_REASON}: see the part races."]

    def _lines_about(self, wrong):
        case = self.cases[wrong.number]
        launch = "" if wrong.launch == 0 else ", second launch"
        head = f"case {wrong.number + 1} of {len(self.cases)}: {case.name}{launch}"
        asks = case.question and wrong.launch == 0 and wrong.is_wrong_result
        question = textwrap.wrap(case.question, WIDTH) if asks else []
        return [head, *(f"  {line}" for line in [*wrong.lines, *question])]

    def _reason_of(self, wrong):
        """What the race checker sees of the case that failed; it is told, and not judged yet."""
        if not self.runner.can_observe or "races" not in self.states:
            return []
        if wrong.is_wrong_result:  # which often comes of a race
            self.has_begun("results", "looking for races")
        elif not any(record.is_overrun for record in wrong.diagnostics):
            return []
        try:
            found = self.found_races([self.cases[wrong.number]], FEW_SCHEDULES)
            if wrong.is_wrong_result:
                return race_as_well(found)
            return overrun_lines(found)
        except (NotCompiled, *OF_NO_RECORD):
            return []

    def found_races(self, cases, schedules):
        """The Races of so many schedules of these cases, up to one that does not come to its end: it
        takes seconds, and so would others."""
        self.schedules = self._schedules(cases, schedules)
        runs, results = zip(*self.schedules)
        return races_in(runs, cases, results, self.runner.merging)

    def _schedules(self, cases, schedules):
        program = self.runner.compiled(SCHEDULED)
        seconds = OF_A_SCHEDULE.seconds

        def schedule(seed):
            settings = {**settings_of(seed), **self.counting(seed)}
            if self.runner.goes_by_the_clock:
                settings["LAB_RACECHECK_SECONDS"] = str(seconds)
            run = self.run_cases(program, cases, settings, OF_A_SCHEDULE)
            return _checked_run(seed, run), run.results

        return self.runner.run_until(
            lambda each: problem_of(each[0], seconds), schedule, range(schedules)
        )

    def _races(self):
        self.has_begun("races", f"looking for races in {SCHEDULES} schedules")
        try:
            found = self.found_races(self.race_cases(), SCHEDULES)
            return self._lines_of_races(found)
        except OF_NO_RECORD:
            return ["The race checker's report is none that the checker writes."]

    def _lines_of_races(self, found):
        self.accesses = found.accesses
        self.diagnoses = tuple(
            sorted({name for item in found.findings for name in item["diagnosis"]})
        )
        if found.is_free:
            runs = [run for run, _ in self.schedules]
            return (
                objections_to_unseen_stores([run.report for run in runs])
                or self.objections_to_schedules(runs)
                or self._stream_lines()
                or self._lines_of_executions()
            )
        # All that are right: the larger ones have more reads that can get an old value.
        right = [case for number, case in enumerate(self.cases) if number not in self.wrong]
        shown = None
        if found.findings and not found.problem:
            program = self.runner.compiled(SCHEDULED)
            tried = self.race_cases() if self.exercise.is_program else right
            tried = [found.explored] if found.explored else tried
            shown = wrong_by_the_rules(tried, lambda weak: self._outcome(program, tried, weak))
        drawn = race_picture(found.findings, is_explained=self.every_case)
        self.race_picture = drawn or self.race_picture
        if not self.every_case:
            self.remedy = tuple(remedy_lines(found))
        return race_lines(found, shown, len(right), len(self.cases), explained=self.every_case)

    def _lines_of_executions(self):
        """About the first execution of the small case that is wrong, or why not all are known; none if all
        are right."""
        case = next((case for case in self.cases if case.every_execution), None)
        if case is None:
            return []
        self.has_begun("races", f"running all executions of {case.name}")
        program = self.runner.compiled(SCHEDULED)
        once = [case._replace(launches=1)]

        def run_once(*decisions):
            run = self.run_cases(
                program, once, self.counting(SEED), OF_A_SCHEDULE, decisions=decisions
            )
            failure = first_failure(once, run, run.results)
            return _checked_run(SEED, run), run.trace, run.results, failure

        executions = all_executions(run_once)
        found = races_in(executions.failed, once, executions.results, self.runner.merging)
        if not (executions.failed or found.wrong):
            self.proved_for = executions.proved_for
            if executions.proved_for:
                return []
            self.diagnoses = (NOT_EXPLORED,)
            return lines_of_unexplored(case.name, executions.why_unknown)
        return self._lines_of_races(found._replace(explored=case, schedules=executions.count))

    def objections_to_schedules(self, runs):
        """Sentences about the CheckedRuns of schedules without a race."""
        return []

    def _outcome(self, program, cases, environment):
        run = self.run_cases(program, cases, environment, OF_A_SCHEDULE)
        return run, run.results

    def _stream_lines(self):
        if not self.exercise.has_streams:
            return []
        try:
            program = self.runner.compiled(CONCURRENT)
        except NotCompiled as problem:
            return problem.lines
        return stream_lines(
            self.cases,
            self.runner.source,
            lambda order: self._outcome(program, self.cases, order),
            OF_A_SCHEDULE.seconds,
        )

    def _limits(self):
        self.has_begun("limits", "counting")
        try:
            return lines_about_limits(self) or self.objections_at_secret_size()
        except OF_NO_RECORD:
            return ["The kernels could not be counted."]

    def run_with_failing_call(self, case, number):
        """The CasesRun in which this call of the runtime, from 1, is made to fail."""
        settings = {**self.counting(), "LAB_FAIL_CALL": str(number)}
        return self.run_cases(self.runner.compiled(SCHEDULED), [case], settings, OF_A_SCHEDULE)

    def objections_at_secret_size(self):
        """Lines about what the kernels do in the case that only a grade has."""
        return []

    def counted(self, case, loads=None):
        """A CasesRun of one call of this case for each schedule in which its accesses are counted."""
        # In the first schedule one block after the other runs: there one block may do everything.
        seeds = [0, *(INTERRUPTED if depends_on_schedule(self.exercise) else ())]
        return self.runner.run_until(
            lambda each: False, lambda seed: self.counted_once(case, seed, loads), seeds
        )

    def counted_once(self, case, seed=0, loads=None):
        program, once = self.runner.compiled(SCHEDULED), [case._replace(launches=1)]
        return self.run_cases(program, once, self.counting(seed), OF_A_SCHEDULE, loads=loads)

    def has_passed(self, part):
        return self.states.get(part) == PASSED

    def _all_is_right(self):
        done = [f"{len(self.cases)} cases"]
        if self.accesses:
            done.append(f"{SCHEDULES} schedules, {self.accesses:,} accesses, no race")
        if self.proved_for:
            done.append(self.proved_for)
        return [f"Done: {', '.join(done)}.", *self._bandwidths()]

    def _bandwidths(self):
        """Of the case that took longest, with what it must at least read and write."""
        timed = [(time, case) for case, time in zip(self.cases, self.times) if time]
        if not self.time_it or not timed:
            return []
        time, case = max(timed, key=lambda pair: pair[0])
        arrays = [item for item in case.arguments if isinstance(item, Array)]
        moved = sum(MOVES.get(item.kind, 0) * item.count * item.type.size for item in arrays)
        return [f"{time:.1f} us and at least {moved / time / 1000:,.1f} GB/s in: {case.name}."]


def _checked_run(seed, run):
    return CheckedRun(seed, run.code, run.report, run.output, diagnostics=run.diagnostics)
