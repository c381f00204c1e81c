# SPDX-License-Identifier: MIT
"""Runs finished programs in the user's sight, as they are or with old values for their plain reads."""

import itertools
import os
import shlex
import signal

from engine.command.arguments import whole_number
from engine.command.errors import NOTHING_COULD_RUN
from engine.command.output import invocation, remark, say_next, say_problem
from engine.command.paths import shown
from engine.command.processes import MEMORY_SIGNALS, run_program, signal_name


def run_finished_program(path, options):
    """Runs a program in the current directory; returns its exit code, 128 + N for signal N."""
    path = shown(path)
    os.environ["LAB_REPORT_UNASKED"] = "1"  # failed launches that the program did not ask about
    code = run_program([path if os.sep in path else f"./{path}", *options])
    if code >= 0:
        return code
    if code != -signal.SIGPIPE:  # the reader of the output has seen enough, as `| head` has
        remedy = ""
        if -code in MEMORY_SIGNALS:
            command = invocation().command(invocation().check)
            debugger = ["gdb", "-batch", "-ex", "run", "-ex", "backtrace", "--args", path, *options]
            remedy = (
                f" That was in code of the host: a debugger names the line, as in {shlex.join(debugger)}; "
                f"if a kernel has overwritten the host's memory before, {command} names that line."
            )
        say_problem(f"{os.path.basename(path)} was ended by {signal_name(-code)}.{remedy}")
    return 128 - code


def exit_code_of_all(codes):
    """One exit code for several programs: the first failure, else 77 if any could not run, else 0."""
    failed = [code for code in codes if code not in (0, NOTHING_COULD_RUN)]
    if failed:
        return failed[0]
    return NOTHING_COULD_RUN if NOTHING_COULD_RUN in codes else 0


def add_weak_options(parser, condition=""):
    """The options of a run in the weak form; `condition` begins their help."""
    parser.add_argument(
        "--seed",
        type=whole_number(0, 2**63 - 1),
        metavar="S",
        help=f"{condition}draw the schedule, and which of its old values a read gets, from seed S "
        "(default: the oldest and the newest in turn)",
    )
    parser.add_argument(
        "--explain",
        action="store_true",
        help=f"{condition}say of each pair of lines why a read could get an old value",
    )


def run_weak_programs(programs, arguments, commands=()):
    """Runs [(program, its options)] of the race checker's form as the options say; returns one exit code."""
    if arguments.seed is None:
        os.environ["LAB_WEAK"] = "1"
    else:
        os.environ["LAB_WEAK_SEED"] = str(arguments.seed)
    if arguments.explain:
        os.environ["LAB_WEAK_EXPLAIN"] = "1"
    return run_programs(programs, commands)


def name_command(command):
    """Lets a program that refuses an option name this command, as the user types it, and not itself."""
    os.environ["LAB_TYPED_COMMAND"] = command


def run_programs(programs, commands=()):
    """Runs [(program, its options)], with an empty line after each, and one line about several; returns
    one exit code for all. `commands` are those that run each of them, as they are typed."""
    codes = []
    for (program, options), command in itertools.zip_longest(programs, commands):
        if command:
            name_command(command)
        codes.append(run_finished_program(program, options))
        remark()
    if len(codes) > 1:
        remark(_summary([os.path.basename(program) for program, _ in programs], codes))
    return exit_code_of_all(codes)


def _summary(names, codes):
    if not any(codes):
        return f"{len(codes)} programs, and all their results are right."
    others = (f"{name} ({code})" for name, code in zip(names, codes) if code)
    right = sum(code == 0 for code in codes)
    return f"{right} of {len(codes)} programs are right. Exit codes of the others: {', '.join(others)}."


def say_next_after(code, following, doctor=None):
    """What to do after a program that ended with this code; `following` if it ran to its end, and
    `doctor`, if there is such a command, if there is no device."""
    if code in (0, 1):
        say_next(following)
    elif code == NOTHING_COULD_RUN and doctor:
        say_next(doctor, "what can run here")
