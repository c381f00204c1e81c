# SPDX-License-Identifier: MIT
"""The command line of a verb: a parser that answers wrong use with one sentence, shared options."""

import argparse
import re
import textwrap
from typing import Callable, NamedTuple, Optional

from engine.command.errors import NOTHING_COULD_RUN, WRONG_USE, CommandError
from engine.command.invocation import invocation
from engine.command.names import hint, listed

HELP_WIDTH = 79
WRONG_USE_MEANING = (WRONG_USE, "wrong use: one sentence says what is wrong, and nothing was run")
NO_DEVICE_MEANING = (NOTHING_COULD_RUN, "there is no device to run on")


class Verb(NamedTuple):
    """All that the command line knows of a verb."""

    summary: str  # its line of the help of all
    usage: list[str]  # the forms of the command, without the command's own name
    description: str
    examples: list[tuple[str, str]]  # a command, and what it does
    exit_codes: list[tuple[int, str]]
    add_options: Callable  # takes the parser
    act: Callable  # takes the arguments, returns the exit code
    takes_program_options: bool = False


class SentenceParser(argparse.ArgumentParser):
    """Answers wrong use with one sentence instead of a page of usage."""

    def error(self, message):
        missing = re.fullmatch("the following arguments are required: (.*)", message)
        if missing:
            message = f"{invocation().name} {self.verb_name} needs {listed(missing[1].split(', '))}"
        raise CommandError(f"{message}; {_help_shows(self.verb_name)}", WRONG_USE)


def is_source(word):
    """Whether the word names a file to compile."""
    return not word.startswith("-") and word.endswith((".cu", ".cpp", ".cc", ".cxx", ".c"))


def whole_number(least, most):
    """An argparse type: a whole number from `least` to `most`."""

    def number(text):
        if not re.fullmatch(r"[0-9]{1,20}", text) or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(
                f"expected a whole number from {least} to {most}, not {text!r}"
            )
        return int(text)

    return number


def add_verbose(parser):
    parser.add_argument(
        "--verbose",
        action="store_true",
        help="print each command before it runs, and all that it prints",
    )


def add_include(parser):
    """What goes with files of one's own: further files, folders of headers, macros, options."""
    parser.set_defaults(more_files=[])
    parser.add_argument(
        "--include",
        action="append",
        default=[],
        metavar="DIR",
        help="a folder of headers for FILE.cu; may be given more than once",
    )
    parser.add_argument(
        "-D",
        action="append",
        default=[],
        dest="define",
        metavar="NAME[=VALUE]",
        help="define a macro for FILE.cu; may be given more than once",
    )
    parser.add_argument(
        "--compiler-option",
        action="append",
        default=[],
        metavar="OPTION",
        help="an option for the compiler and the linker, such as -fopenmp; may be given more than once",
    )


def parser_of(name, verb):
    """The verb's parser; `name` is as it is typed."""
    parser = SentenceParser(
        prog=invocation().command(name), add_help=False, allow_abbrev=False, usage=_usage(verb)
    )
    parser.verb_name = name
    parser.formatter_class = lambda prog: argparse.RawDescriptionHelpFormatter(
        prog, max_help_position=26, width=HELP_WIDTH
    )
    parser.description = textwrap.fill(verb.description, HELP_WIDTH)
    rows = [f"  {code:<4}{meaning}" for code, meaning in verb.exit_codes]
    width = max(len(command) for command, _ in verb.examples)
    examples = [f"  {command:<{width}}  {what}" for command, what in verb.examples]
    parser.epilog = "\n".join(["exit codes:", *rows, "", "examples:", *examples])
    parser.set_defaults(build=None, verbose=False)
    verb.add_options(parser)
    return parser


def _usage(verb):
    return "\n       ".join(f"{invocation().typed} {form}" for form in verb.usage)


def parse(name, verb, words, program_options: Optional[list[str]], with_program=()):
    """The arguments of the verb, out of the words after it and the ones after `--`, if any.

    `with_program` names the verbs that take those.
    """
    if program_options is not None and not verb.takes_program_options:
        raise CommandError(
            f"options of a program, after --, go with {listed(with_program)}, not with {name}.",
            WRONG_USE,
        )
    parser = parser_of(name, verb)
    _refuse_empty(name, words)
    arguments, rest = parser.parse_known_args(_with_joined_options(words))
    if hasattr(arguments, "more_files"):
        arguments.more_files = [word for word in rest if is_source(word)]
        rest = [word for word in rest if not is_source(word)]
    if rest:
        _refuse(name, verb, parser, rest[0])
    arguments.program_options = program_options or []
    return arguments


def _with_joined_options(words):
    """--compiler-option=-fopenmp for two words, the second of which looks like an option of the verb's."""
    words, joined = [*words], []
    while words:
        word = words.pop(0)
        joined.append(f"{word}={words.pop(0)}" if word == "--compiler-option" and words else word)
    return joined


def _refuse_empty(name, words):
    """An empty word is most likely a variable of the shell that has no value."""
    for before, word in zip(["", *words], words):
        option = before if before.startswith("--") else ""
        if word.startswith("--") and word.endswith("="):
            option, word = word[:-1], ""
        if not word.strip():
            what = f"the value of {option}" if option else "an argument"
            raise CommandError(
                f"{what} is empty, as of a variable without a value; {_help_shows(name)}", WRONG_USE
            )


def _refuse(name, verb, parser, word):
    """Says that the verb has no such option or argument."""
    if not word.startswith("-"):
        takes_one = any(not action.option_strings for action in parser._actions)
        which = "second argument" if takes_one else "argument"
        raise CommandError(
            f"{invocation().name} {name} takes no {which} {word}; {_help_shows(name)}", WRONG_USE
        )
    more = _help_shows(name)
    if verb.takes_program_options:
        example = verb.examples[0][0].partition(" -- ")[0]
        more = f"options of the program come after --, as in {example} -- --threads 128."
    known = [option for action in parser._actions for option in action.option_strings]
    raise CommandError(
        f"{invocation().name} {name} takes no option {word}; {hint(word, known, more)}", WRONG_USE
    )


def _help_shows(name):
    return f"{invocation().command(name)} --help shows what there is."
