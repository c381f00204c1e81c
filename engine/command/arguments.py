# SPDX-License-Identifier: MIT
"""The command line of a command that has verbs: from its words to the exit code, with one sentence for
wrong use."""

import argparse
import os
import re
import signal
import sys
import tempfile
import textwrap
from typing import Callable, NamedTuple, Optional

from engine.command.errors import (
    INTERRUPTED,
    NOTHING_COULD_RUN,
    WRONG_USE,
    CommandError,
    hint,
    listed,
)
from engine.command.output import invocation, say, say_interrupted, say_problem, set_verbose
from engine.command.paths import ENGINE

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
    """Ends wrong use with one sentence instead of a page of usage."""

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
    parser.add_argument(
        "-rdc",
        choices=["true", "false"],
        default="false",
        help="true lets the files call each other's device functions, as nvcc does then",
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


# Options of a compiler that say what it makes, and where.
OF_LAB = r"-(?:[cESo]|M\w*|x.*|o.*|std=.*|-std=.*)\Z"


def check_file(arguments):
    """Refuses what is not there, before anything is set up for it."""
    for source in sources_of(arguments):
        require_file(source)
    for number, source in enumerate(sources_of(arguments)):
        for other in sources_of(arguments)[:number]:
            if os.path.samefile(source, other):
                what = (
                    "twice on the command line" if source == other else f"the same file as {other}"
                )
                raise CommandError(f"{source} is {what}: name it once.", WRONG_USE)
    for folder in arguments.include:
        if not os.path.isdir(folder):
            what = "that is no folder" if os.path.exists(folder) else "there is no such folder"
            raise CommandError(f"--include {folder}: {what}.", WRONG_USE)
    for definition in arguments.define:
        if not re.match(r"[A-Za-z_]\w*(=|\(|\Z)", definition):
            raise CommandError(
                f"-D {definition}: a macro's name is expected, as in -DN=4.", WRONG_USE
            )
    for option in arguments.compiler_option:
        if not option.startswith("-") or re.match(OF_LAB, option):
            why = "lab chooses that itself" if option.startswith("-") else "an option begins with -"
            raise CommandError(f"--compiler-option {option}: {why}.", WRONG_USE)


def require_file(path):
    """Refuses what is no file that can be read, in words that say what it is."""
    if os.path.isdir(path):
        raise CommandError(f"{path} is a folder, and a file is needed.", WRONG_USE)
    if os.path.exists(path) and not os.path.isfile(path):
        raise CommandError(f"{path} is no regular file.", WRONG_USE)
    if os.path.islink(path) and not os.path.exists(path):
        raise CommandError(
            f"{path} is a link to {os.readlink(path)}, which is not there.", WRONG_USE
        )
    if not os.path.isfile(path):
        raise CommandError(f"there is no file {path}.", WRONG_USE)
    if not os.access(path, os.R_OK):
        raise CommandError(f"{path} can't be read: you have no right to.", WRONG_USE)


def sources_of(arguments):
    return [arguments.target, *arguments.more_files]


def words_of(arguments):
    """The files and their options, as they are typed."""
    includes = [word for folder in arguments.include for word in ("--include", folder)]
    options = [word for each in arguments.compiler_option for word in ("--compiler-option", each)]
    macros = [f"-D{name}" for name in arguments.define]
    shares = ["-rdc=true"] if arguments.rdc == "true" else []
    return [*sources_of(arguments), *includes, *macros, *options, *shares]


def options_of_program(arguments):
    """The options that go to the program itself, as they are typed."""
    return ["--", *arguments.program_options] if arguments.program_options else []


VERSION = ENGINE / "VERSION"


def project_version(file=VERSION):
    """'0.1.0'. Raises CommandError if the file is not there or holds anything else."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{file}: the version can't be read: {error}.") from error
    if not re.fullmatch(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?\n", text):
        raise CommandError(f"{file}: it must hold one line, a version such as 1.2.3.")
    return text.strip()


class Command(NamedTuple):
    """A command with verbs: `overview` is its help, with {verbs} where a line for each verb goes, and
    `beginning` what it says without a word, with lines for the `first` verbs alone."""

    overview: str
    verbs: list  # their names, in the order of the help
    load: Callable  # takes a name, returns the Verb
    groups: Optional[dict] = None  # the names of groups of verbs, by the first verb of each
    beginning: str = ""
    first: tuple = ()

    def help(self):
        return self.overview.format(verbs=self._rows(self.verbs, self.groups or {}))

    def without_words(self):
        return self.beginning.format(verbs=self._rows(self.first, {})) or self.help()

    def _rows(self, verbs, groups):
        width = max(map(len, verbs), default=0)
        before = max(map(len, groups.values()), default=0)
        return "\n".join(
            f"{groups.get(name, ''):<{before}}  {name:<{width}}  {self.load(name).summary}"
            for name in verbs
        )

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
        if not words:
            return None, self.without_words()
        wants_help = words[0] == "help" or "-h" in words or "--help" in words
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
            return None, parser_of(name, verb).format_help()
        if program_options is None or verb.takes_program_options:
            return name, parse(name, verb, words[1:], program_options)
        with_program = [each for each in self.verbs if self.load(each).takes_program_options]
        return name, parse(name, verb, words[1:], program_options, with_program)


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
