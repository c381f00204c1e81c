# SPDX-License-Identifier: MIT
"""The one judge of a student's file: its results, then its races, then what it may use.

A Runner compiles and runs the file, so that it makes no difference here where that is done.
"""

import textwrap
from collections.abc import Callable, Sequence
from typing import NamedTuple, Optional

from engine.command.diagnostics import VARIABLE, records_of
from engine.command.errors import NOTHING_COULD_RUN
from engine.command.output import invocation
from engine.command.racecheck_runs import CheckedRun, problem_of
from engine.command.untrusted_files import content_of
from engine.prove.decided_runs import SEED, decided, trace_in
from grader.exercises.cases import Array, read_results, written_cases
from grader.exercises.limits import depends_on_schedule
from grader.judging.compile import SCHEDULED, is_empty, objections_before_compiling
from grader.judging.limits import (
    BY_ONE_THREAD,
    FOR_SHOW,
    is_shown_by_one_thread,
    lines_about_limits,
    objections_at_secret_size,
    objections_to_work,
    objections_to_work_in,
    work_of,
)
from grader.judging.races import (
    MAY_BE_THE_REASON,
    NOT_EXPLORED,
    SCHEDULES,
    SECONDS,
    WEAK_SETTINGS,
    all_executions,
    counting,
    lines_of_unexplored,
    objections_to_unseen_stores,
    overrun_lines,
    race_as_well,
    race_lines,
    race_picture,
    races_in,
    remedy_lines,
    settings_of,
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
NO_REPORT = "The race checker's report is none that the checker writes."
MOVES = {"given": 1, "returned": 1, "updated": 2}  # how often each element goes through memory
# What a record can raise that the race checker did not write: a student's program could forge it.
OF_NO_RECORD = (KeyError, TypeError, ValueError, AttributeError, IndexError)


class ExerciseCases(NamedTuple):
    """An exercise with the cases that one seed draws, the same for every file that is judged."""

    exercise: object
    cases: list
    # The same cases with other numbers, which go into the same process: a cached answer is wrong.
    again: tuple = ()
    # {a case's name: limits.work_of the solution}, both times together; None: not judged.
    least_work: Optional[dict] = None
    secret: Optional[SecretCase] = None  # what a grade counts besides the counted case
    timed: Optional[object] = None  # what a grade times, a speed.Timed

    @property
    def runs_of_each(self):
        """How often a case is run where the least work is measured."""
        return 2 if self.again else 1


class CasesRun(NamedTuple):
    """How a program ended on some cases, as in Run, and what it left."""

    code: Optional[int]
    output: str
    limit: Optional[str]
    diagnostics: tuple
    results: list  # [CaseResult]
    report: Optional[dict]  # the race checker's; None if there is none that it could have written
    trace: Optional[object] = None  # of a run by decisions its Trace

    def as_checked(self, seed):
        return CheckedRun(seed, self.code, self.report, self.output, diagnostics=self.diagnostics)


class CaseRuns:
    """Runs an exercise's cases in the programs that a Runner makes of one file."""

    def __init__(self, exercise_cases, runner):
        self.exercise_cases, self.runner = exercise_cases, runner
        self.exercise, self.cases = exercise_cases.exercise, exercise_cases.cases
        self.race_cases = [case for case in self.cases if case.races]

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

    def scheduled(self, cases, settings, **more):
        """The CasesRun in the form that the race checker sees."""
        program = self.runner.compiled(SCHEDULED)
        return self.run_cases(program, cases, settings, OF_A_SCHEDULE, **more)

    def schedules(self, cases, number):
        """So many schedules' CasesRuns, up to one that does not come to its end: it takes seconds, and so
        would others."""
        seconds = OF_A_SCHEDULE.seconds
        clock = {"LAB_RACECHECK_SECONDS": str(seconds)} if self.runner.goes_by_the_clock else {}
        return self.runner.run_until(
            lambda run: problem_of(run.as_checked(0), seconds),
            lambda seed: self.scheduled(cases, {**settings_of(seed), **counting(seed), **clock}),
            range(number),
        )

    def found_races(self, cases, number):
        """The Races of so many schedules of these cases."""
        return self.races_of(self.schedules(cases, number), cases)

    def races_of(self, schedules, cases):
        checked = [run.as_checked(seed) for seed, run in enumerate(schedules)]
        return races_in(checked, cases, [run.results for run in schedules], self.runner.merging)

    def counted(self, case, loads=None):
        """A CasesRun of one call of this case for each schedule in which its accesses are counted."""
        # In the first schedule one block after the other runs: there one block may do everything.
        seeds = [0, *(INTERRUPTED if depends_on_schedule(self.exercise) else ())]
        return self.runner.run_until(
            lambda each: False, lambda seed: self.counted_once(case, seed, loads), seeds
        )

    def counted_once(self, case, seed=0, loads=None):
        return self.scheduled([case._replace(launches=1)], counting(seed), loads=loads)

    def processes(self, is_alone):
        """([the cases' numbers], the cases) of each process that the results are judged in: one for each
        case if that `is_alone`."""
        if not (is_alone or self.runner.one_process_per_case or self.exercise.is_program):
            return [(range(len(self.cases)), self.cases)]
        both = zip(self.cases, self.exercise_cases.again or self.cases)
        return [
            ((number, number), (case, other) if other is not case else (case,))
            for number, (case, other) in enumerate(both)
        ]


class Asked(NamedTuple):
    """How a file is judged: up to its first mistake, which is explained; with `every_case` each case and
    each part as far as the results that it depends on are right, and each mistake is told in short."""

    every_case: bool = False
    time_it: bool = False  # the largest case's time is told at the end
    # If the results are judged on a GPU once more: raises CommandError if there is none any longer.
    require_gpu: Optional[Callable] = None
    reset_command: str = ""  # that brings the starter back, if it is not the usual one
    has_begun: object = lambda step, what: None  # is told "compiling" or a part, and what is done


class WrongCase(NamedTuple):
    number: int  # of the case, from 0
    launch: int  # the one that is wrong
    lines: list
    is_wrong_result: bool = False  # and no crash, error or endless loop
    run: Optional[CasesRun] = None
    status: str = OK  # of a program that has not come to its own end


class JudgedPart(NamedTuple):
    """What was found out about a part of the exercise."""

    state: str = NOT_RUN
    lines: Sequence = ()
    status: str = OK
    wrong: Sequence = ()  # of results: WrongCases
    times: Sequence = ()
    by_one_thread: Sequence = ()  # names of cases
    accesses: int = 0  # of races, as all that follows
    picture: str = ""
    diagnoses: tuple = ()
    remedy: tuple = ()
    proved_for: str = ""
    most_points: float = 1  # of limits: the share that the file gets at most


def judged(lines, **more):
    return JudgedPart(FAILED if lines else PASSED, lines, **more)


def verdict_of(runs, asked):
    """The Verdict on the file of these CaseRuns. Raises CommandError, and what the runner raises if it
    can't run anything."""
    try:
        programs = compiled(runs, asked)
        results = _in_time(judged_results, runs, programs, asked)
        races = _if_right(judged_races, "races", runs, asked, results)
        limits = _if_right(judged_limits, "limits", runs, asked, results, races)
    except NotCompiled as problem:
        return _not_compiled(runs, problem)
    parts = {"results": results, "races": races, "limits": limits}
    parts = {name: parts[name] for name in runs.exercise.parts}
    states = {name: part.state for name, part in parts.items()}
    lines = next((part.lines for part in parts.values() if part.state == FAILED), [])
    if set(states.values()) == {PASSED} or (asked.time_it and not lines):
        lines = _all_is_right(runs, results, races, asked)
    return Verdict(
        states,
        lines,
        {name: list(part.lines) for name, part in parts.items()},
        _judged_cases(runs.cases, results.wrong, races.picture) if asked.every_case else (),
        next((part.status for part in parts.values() if part.status != OK), OK),
        races.picture,
        races.diagnoses,
        remedy=races.remedy,
        proved_for=races.proved_for,
        most_points=limits.most_points,
    )


def compiled(runs, asked):
    """The program that the results are judged with, and the one for a GPU or None. Raises NotCompiled."""
    source, runner = runs.runner.source, runs.runner
    objections = objections_before_compiling(runs.exercise, source)
    if not objections and is_empty(source):
        reset = asked.reset_command or invocation().command("reset", runs.exercise.number)
        objections = [f"The file is empty: {reset} brings the starter back."]
    if objections:
        raise NotCompiled(objections)
    asked.has_begun("compiling", "compiling")
    program = runner.compiled(runner.results_form)
    return program, runner.compiled_for_gpu() if asked.require_gpu else None


def _not_compiled(runs, problem):
    parts = runs.exercise.parts
    return Verdict(
        {**dict.fromkeys(parts, NOT_RUN), "results": FAILED},
        problem.lines,
        {**{part: [] for part in parts}, "results": problem.lines},
        tuple(JudgedCase(case.name, False, []) for case in runs.cases),
        COMPILE_ERROR,
        is_refused=problem.is_refused,
    )


def _in_time(judge_part, *given):
    try:
        return judge_part(*given)
    except OutOfTime:
        return judged([OUT_OF_TIME], status=TIMED_OUT)


def _if_right(judge_part, part, runs, asked, results, *races):
    """What this makes of the part, if it is to be judged, and the results are right that it depends on."""
    has_failed = any(each.state == FAILED for each in (results, *races))
    is_judged = part in runs.exercise.parts and runs.runner.can_observe
    if not is_judged or (has_failed and not asked.every_case):
        return JudgedPart()
    depends_on = "races" if part == "races" else "counted"
    for case in (runs.cases[each.number] for each in results.wrong):
        if getattr(case, depends_on):
            unknown = JudgedPart(lines=[f"Not judged: the results of case {case.name} are wrong."])
            return _in_time(_race_or, unknown, runs, asked, results) if part == "races" else unknown
    return _in_time(judge_part, runs, asked, results, *races)


def _race_or(unknown, runs, asked, results):
    """About a race, which may be why results are wrong; without one it is not known what else races."""
    try:
        found = runs.found_races(runs.race_cases, FEW_SCHEDULES)
        has_race = any(each["kind"] == "race" for each in found.findings)
        return _racing(runs, asked, results, found) if has_race else unknown
    except OF_NO_RECORD:
        return unknown


def judged_results(runs, programs, asked):
    asked.has_begun("results", f"running {len(runs.cases)} cases")
    wrong, times, by_one_thread, timeouts = [], [], [], 0
    for numbers, cases in runs.processes(asked.every_case):
        first = WrongCase(numbers[0], 0, [NOT_RUN_CASE])
        if timeouts < MOST_TIMEOUTS:
            try:
                first = _first_wrong_case(
                    runs, programs, numbers, cases, asked, times, by_one_thread
                )
            except OutOfTime:
                first, timeouts = first._replace(status=TIMED_OUT), MOST_TIMEOUTS
        if not first:
            continue
        if not asked.every_case:
            lines = [*_lines_about(first, runs.cases), *_reason_of(first, runs, asked)]
            return judged(lines, status=first.status, times=times)
        wrong.append(first)
        timeouts += first.run is not None and first.run.limit == TIME
    right = len(runs.cases) - len(wrong)
    lines = [f"{right} of {len(runs.cases)} cases {'is' if right == 1 else 'are'} right."]
    status = next((each.status for each in wrong if each.status != OK), OK)
    return judged(
        lines if wrong else [],
        status=status,
        wrong=wrong,
        times=times,
        by_one_thread=by_one_thread,
    )


def _first_wrong_case(runs, programs, numbers, cases, asked, times, by_one_thread):
    """The WrongCase of these cases, or None; adds their `times`, and the names of those `by_one_thread`."""
    program, gpu_program = programs
    settings = counting() if runs.runner.results_form is SCHEDULED else {}
    options = ["--time"] if asked.time_it else []
    run = runs.run_cases(program, cases, settings, OF_A_CASE, options)
    times += [result.microseconds for result in run.results]
    wrong = _wrong_case(runs, numbers, cases, run)
    if gpu_program and not wrong:
        on_gpu = runs.run_cases(gpu_program, cases, {}, OF_A_CASE)
        if on_gpu.code == NOTHING_COULD_RUN:
            asked.require_gpu()  # so the submission has ended so by itself
        wrong = _wrong_case(runs, numbers, cases, on_gpu, ["On the GPU:"])
    least = (runs.exercise_cases.least_work or {}).get(cases[0].name)
    if wrong or not least:
        return wrong
    work = work_of(run.report)
    by_one_thread += [cases[0].name] if is_shown_by_one_thread(work, least) else []
    lines = objections_to_work(work, least)
    return WrongCase(numbers[0], 0, lines) if lines else None


def _wrong_case(runs, numbers, cases, run, head=()):
    """The WrongCase, with `head` before its lines, that this CasesRun shows, or None."""
    failure = first_failure(cases, run, run.results, OF_A_CASE.seconds)
    if not failure:
        return None
    status = OK
    if not failure.is_wrong_result:
        status = TIMED_OUT if run.limit == TIME else SIGNAL if run.code < 0 else RUNTIME_ERROR
    lines = [*head, *_words(runs, run, failure)]
    number = numbers[failure.number]
    return WrongCase(number, failure.launch, lines, failure.is_wrong_result, run, status)


def _words(runs, run, failure):
    if not failure.is_wrong_result:
        if run.code == NOTHING_COULD_RUN and not runs.runner.may_lack_gpu:
            return [f"The program ended with {run.code}."]
        if run.limit not in (None, TIME):  # how_it_ended() speaks of the time
            return [f"It was ended: it {OF_A_CASE.reached(run.limit)}."]
    if runs.exercise.is_program and fault_lines(run.diagnostics):
        return fault_lines(run.diagnostics)  # which a program need not have asked for
    text = runs.runner.source.read_text(encoding="utf-8", errors="replace")
    return error_words(run, failure, text)


def _judged_cases(cases, wrong, picture):
    """With a race that was found instead of a question about the launches."""
    judged_cases = [JudgedCase(case.name, True, []) for case in cases]
    for each in wrong:
        lines = each.lines
        if picture and each.is_wrong_result and each.launch > 0:
            lines = [*lines[:-1], f"{MAY_BE_THE_REASON}: see the part races."]
        judged_cases[each.number] = JudgedCase(cases[each.number].name, False, lines)
    return tuple(judged_cases)


def _lines_about(wrong, cases):
    case = cases[wrong.number]
    launch = "" if wrong.launch == 0 else ", second launch"
    second = case.of_launch(wrong.launch).name
    launch += "" if second == case.name else f" ({second})"
    head = f"case {wrong.number + 1} of {len(cases)}: {case.name}{launch}"
    asks = case.question and wrong.launch == 0 and wrong.is_wrong_result
    question = textwrap.wrap(case.question, WIDTH) if asks else []
    return [head, *(f"  {line}" for line in [*wrong.lines, *question])]


def _reason_of(wrong, runs, asked):
    """What the race checker sees of the case that failed; it is told, and not judged yet."""
    if not runs.runner.can_observe or "races" not in runs.exercise.parts or not wrong.run:
        return []
    if wrong.is_wrong_result:  # which often comes of a race
        asked.has_begun("results", "looking for races")
    elif not any(record.is_overrun for record in wrong.run.diagnostics):
        return []
    try:
        found = runs.found_races([runs.cases[wrong.number]], FEW_SCHEDULES)
        return race_as_well(found) if wrong.is_wrong_result else overrun_lines(found)
    except (NotCompiled, *OF_NO_RECORD):
        return []


def judged_races(runs, asked, results):
    asked.has_begun("races", f"looking for races in {SCHEDULES} schedules")
    try:
        schedules = runs.schedules(runs.race_cases, SCHEDULES)
        found = runs.races_of(schedules, runs.race_cases)
        if not found.is_free:
            return _racing(runs, asked, results, found)
        reports = [run.report for run in schedules]
        lines = objections_to_unseen_stores(reports) or _objections_to_work(runs, reports)
        case = next((case for case in runs.cases if case.every_execution), None)
        if lines or case is None:
            return judged(lines, accesses=found.accesses)
        asked.has_begun("races", f"running all executions of {case.name}")
        part = _judged_executions(runs, asked, results, case)
        return part._replace(accesses=found.accesses)
    except OF_NO_RECORD:
        return judged([NO_REPORT])


def _judged_executions(runs, asked, results, case):
    """About the first execution of the small case that is wrong, or why not all are known."""

    def run_once(*decisions):
        run = runs.scheduled([case], counting(SEED), decisions=decisions)
        return run.as_checked(SEED), run.trace, run.results, first_failure([case], run, run.results)

    executions = all_executions(run_once)
    found = races_in(executions.failed, [case], executions.results, runs.runner.merging)
    if executions.failed or found.wrong:
        found = found._replace(explored=case, schedules=executions.count)
        return _racing(runs, asked, results, found)
    if executions.proved_for:
        return judged([], proved_for=executions.proved_for)
    lines = lines_of_unexplored(case.name, executions.why_unknown)
    return judged(lines, diagnoses=(NOT_EXPLORED,))


def _racing(runs, asked, results, found):
    """About Races that are not free of mistakes."""
    # All that are right: the larger ones have more reads that can get an old value.
    wrong = [each.number for each in results.wrong]
    right = [case for number, case in enumerate(runs.cases) if number not in wrong]
    diagnoses = tuple(sorted({name for item in found.findings for name in item["diagnosis"]}))
    shown = None
    if found.findings and not found.problem:
        tried = runs.race_cases if runs.exercise.is_program else right
        tried = [found.explored] if found.explored else tried
        with_old_values = (runs.scheduled(tried, weak) for weak in WEAK_SETTINGS)
        try:
            shown = wrong_by_the_rules(tried, with_old_values)
        except OutOfTime:
            return judged([OUT_OF_TIME], status=TIMED_OUT, diagnoses=diagnoses)
    return judged(
        race_lines(found, shown, len(right), len(runs.cases), explained=asked.every_case),
        picture=race_picture(found.findings, is_explained=asked.every_case),
        diagnoses=diagnoses,
        remedy=() if asked.every_case else tuple(remedy_lines(found)),
    )


def _objections_to_work(runs, reports):
    least = runs.exercise_cases.least_work
    if not least:
        return []
    of_all = sum(least[case.name]["bytes"] for case in runs.race_cases)
    return objections_to_work_in(reports, of_all / runs.exercise_cases.runs_of_each)


def judged_limits(runs, asked, results, races):
    asked.has_begun("limits", "counting")
    is_race_free, secret = races.state == PASSED, runs.exercise_cases.secret
    try:
        lines = lines_about_limits(runs, is_race_free)
        if secret and not lines:
            lines = objections_at_secret_size(runs, secret, is_race_free)
        if results.by_one_thread and BY_ONE_THREAD not in lines:
            lines = [*lines, BY_ONE_THREAD, f"Seen in: {results.by_one_thread[0]}."]
        most = min((FOR_SHOW[line] for line in lines if line in FOR_SHOW), default=1)
        return judged(lines, most_points=most)
    except OF_NO_RECORD:
        return judged(["The kernels could not be counted."])


def _all_is_right(runs, results, races, asked):
    done = [f"{len(runs.cases)} cases"]
    if races.accesses:
        done.append(f"{SCHEDULES} schedules, {races.accesses:,} accesses, no race")
    if races.proved_for:
        done.append(races.proved_for)
    return [f"Done: {', '.join(done)}.", *(_bandwidths(runs, results) if asked.time_it else [])]


def _bandwidths(runs, results):
    """The bandwidth of the case that took longest, with what it must at least read and write."""
    timed = [(time, case) for case, time in zip(runs.cases, results.times) if time]
    if not timed:
        return []
    time, case = max(timed, key=lambda pair: pair[0])
    arrays = [item for item in case.arguments if isinstance(item, Array)]
    moved = sum(MOVES.get(item.kind, 0) * item.count * item.type.size for item in arrays)
    return [f"{time:.1f} us and at least {moved / time / 1000:,.1f} GB/s in: {case.name}."]
