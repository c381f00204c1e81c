# SPDX-License-Identifier: MIT
"""From the words of the command line to the exit code."""

import os
import signal
import sys

from engine.driver.errors import INTERRUPTED, WRONG_USE, LabError
from engine.driver.names import hint
from engine.driver.output import say, say_interrupted, say_problem, set_verbose
from lab_tool import arguments as command_arguments
from lab_tool.builds.backends import put_nvcc_on_path
from lab_tool.builds.build_folders import put_own_tools_on_path
from lab_tool.verbs import VERBS, load

OVERVIEW = """\
usage: ./lab VERB [options] [-- program options]

{verbs}

For a start: ./lab run, then ./lab learn. What a verb takes: ./lab VERB --help
"""


def overview():
    """What `./lab --help` prints: one line for each verb."""
    width = max(map(len, VERBS))
    rows = [f"  {name:<{width}}  {load(name).summary}" for name in VERBS]
    return OVERVIEW.format(verbs="\n".join(rows))


def parsed(words):
    """The name of the verb and its arguments; (None, text) if it is help that is wanted."""
    program_options = None
    if "--" in words:
        split = words.index("--")
        words, program_options = words[:split], words[split + 1 :]
    wants_help = not words or words[0] == "help" or "-h" in words or "--help" in words
    words = [word for word in words if not wants_help or word not in ("help", "-h", "--help")]
    if not words:
        return None, overview()
    name = words[0]
    if name not in VERBS:
        raise LabError(
            f"there is no command {name}; {hint(name, VERBS, f'there are {_all_verbs()}.')}",
            WRONG_USE,
        )
    verb = load(name)
    if wants_help:
        return None, command_arguments.parser_of(name, verb).format_help()
    return name, command_arguments.parse(name, verb, words[1:], program_options)


def _all_verbs():
    return ", ".join(VERBS)


def main(words):
    """Runs the verb; returns lab's exit code."""
    nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (for as long as lab runs)
    sys.stdout = sys.stdout or nowhere  # None if it is closed, as by `>&-`
    sys.stderr = sys.stderr or nowhere
    try:
        put_own_tools_on_path()
        name, arguments = parsed(words)
        if name is None:
            say(arguments.rstrip("\n"))
            return 0
        set_verbose(arguments.verbose)
        if not getattr(arguments, "choice", False):  # Meson itself sees PATH alone
            put_nvcc_on_path()
        return load(name).act(arguments)
    except LabError as problem:
        say_problem(problem)
        return problem.code
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C has nothing more to end
        say_interrupted()
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output has gone, as in `./lab doctor | head -1`
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):  # both, as in `2>&1 | head -1`
            os.dup2(nowhere, stream.fileno())
        return 1
    except PermissionError as error:
        what = error.filename or "something"
        say_problem(f"this needs {what}, and you have no right to write there or to read it.")
        return 1
    except OSError as error:
        where = f"{error.filename}: " if error.filename else "what is being written here: "
        say_problem(f"{where}{error.strerror}.")
        return 1
