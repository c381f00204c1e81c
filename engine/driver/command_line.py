# SPDX-License-Identifier: MIT
"""From the words of a command line to the exit code, for a command that has verbs."""

import os
import signal
import sys
from typing import Callable, NamedTuple

from engine.driver import arguments as command_arguments
from engine.driver.errors import INTERRUPTED, WRONG_USE, CommandError
from engine.driver.invocation import invocation
from engine.driver.names import hint
from engine.driver.output import say, say_interrupted, say_problem, set_verbose
from engine.driver.project_version import project_version


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
        wants_help = not words or words[0] == "help" or "-h" in words or "--help" in words
        words = [word for word in words if not wants_help or word not in ("help", "-h", "--help")]
        if not words:
            return None, self.help()
        name = words[0]
        if name == "--version":
            if words[1:] or program_options:
                raise CommandError(f"{invocation().name} --version takes nothing else.", WRONG_USE)
            return None, f"{invocation().name} {project_version()}"
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
        name, arguments = command.parsed(words)
        if name is None:
            say(arguments.rstrip("\n"))
            return 0
        set_verbose(arguments.verbose)
        prepare(arguments)
        return command.load(name).act(arguments)
    except CommandError as problem:
        say_problem(problem)
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
        what = error.filename or "something"
        say_problem(f"this needs {what}, and you have no right to write there or to read it.")
        return 1
    except OSError as error:
        where = f"{error.filename}: " if error.filename else "what is being written here: "
        say_problem(f"{where}{error.strerror}.")
        return 1
