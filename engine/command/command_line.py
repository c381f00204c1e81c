# SPDX-License-Identifier: MIT
"""From the words of a command line to the exit code, for a command that has verbs."""

import os
import signal
import sys
import tempfile
from typing import Callable, NamedTuple

from engine.command import arguments as command_arguments
from engine.command.errors import INTERRUPTED, WRONG_USE, CommandError
from engine.command.invocation import invocation
from engine.command.names import hint
from engine.command.output import say, say_interrupted, say_problem, set_verbose
from engine.command.project_version import project_version


class Command(NamedTuple):
    """A command with verbs: `overview` is its help, with {verbs} where a line for each verb goes."""

    overview: str
    verbs: list  # their names, in the order of the help
    load: Callable  # takes a name, returns the Verb

    def help(self):
        width = max(map(len, self.verbs))
        rows = [f"  {name:<{width}}  {self.load(name).summary}" for name in self.verbs]
        return self.overview.format(verbs="\n".join(rows))

    def parsed(self, words):
        """The name of the verb and its arguments; (None, text) if help or the version is wanted."""
        program_options = None
        if "--" in words:
            split = words.index("--")
            words, program_options = words[:split], words[split + 1 :]
        if not words and program_options is not None:
            raise CommandError(
                f"options of a program, after --, need a verb before; {invocation().typed} --help shows "
                "what there is.",
                WRONG_USE,
            )
        wants_help = not words or words[0] == "help" or "-h" in words or "--help" in words
        words = [word for word in words if not wants_help or word not in ("help", "-h", "--help")]
        if not words:
            return None, self.help()
        name = words[0]
        if name == "--version":
            if words[1:] or program_options:
                raise CommandError(f"{invocation().name} --version takes nothing else.", WRONG_USE)
            return None, f"{invocation().name} {project_version()}"
        if not name.strip():
            raise CommandError(
                f"an argument is empty, as of a variable without a value; {invocation().typed} --help "
                "shows what there is.",
                WRONG_USE,
            )
        if name not in self.verbs:
            there_are = f"there are {', '.join(self.verbs)}."
            raise CommandError(
                f"there is no command {name}; {hint(name, self.verbs, there_are)}", WRONG_USE
            )
        verb = self.load(name)
        if wants_help:
            return None, command_arguments.parser_of(name, verb).format_help()
        if program_options is None or verb.takes_program_options:
            return name, command_arguments.parse(name, verb, words[1:], program_options)
        with_program = [each for each in self.verbs if self.load(each).takes_program_options]
        return name, command_arguments.parse(name, verb, words[1:], program_options, with_program)


def run_command(command, words, prepare=lambda arguments: None):
    """Runs the verb that the words name; returns the exit code. `prepare` is called before the verb acts."""
    nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (for as long as the command runs)
    sys.stdout = sys.stdout or nowhere  # None if it is closed, as by `>&-`
    sys.stderr = sys.stderr or nowhere
    try:
        _require_current_folder()
        name, arguments = command.parsed(words)
        if name is None:
            say(arguments.rstrip("\n"))
            return 0
        set_verbose(arguments.verbose)
        prepare(arguments)
        return command.load(name).act(arguments)
    except CommandError as problem:
        say_problem(problem.sentence, *problem.further)
        return problem.code
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C has nothing more to end
        say_interrupted()
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output has gone, as in `cudacheck --help | head -1`
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):  # both, as in `2>&1 | head -1`
            os.dup2(nowhere, stream.fileno())
        return 1
    except PermissionError as error:
        say_problem(
            f"this needs {_place_of(error)}, and you have no right to write there or to read it."
        )
        return 1
    except OSError as error:
        _let_go_of_full_streams()
        say_problem(f"{_place_of(error)}: {error.strerror}.")
        return 1


def _require_current_folder():
    """Whatever is started in a folder that has been removed fails, with messages about something else."""
    try:
        os.getcwd()
    except FileNotFoundError as error:
        raise CommandError(
            "the folder that you are in is not there any more; cd to another one.", WRONG_USE
        ) from error


def _place_of(error):
    """The file of an OSError. What lab writes for its user has a name; what has none is a temporary file."""
    return error.filename or f"a temporary file in {tempfile.gettempdir()}"


def _let_go_of_full_streams():
    """What could not be written stays in the buffer, and at the end Python would complain of it again."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
