# SPDX-License-Identifier: MIT
"""A student's file, compiled with its exercise's driver: to run it, for the race checker and by nvcc.

An error in a header that the student did not write is told at the line of the student's file that led to it.
"""

import codecs
import os
import pathlib
import re
import tempfile
from typing import NamedTuple, Optional

from engine.command.build_folder import lines_of
from engine.command.compiler_messages import ESCAPES, MARKS, MESSAGE, SOURCE, message_groups
from engine.command.errors import CommandError
from engine.command.output import counted, is_verbose, say_command
from engine.command.processes import run_bounded, signal_name
from engine.command.racecheck_runs import MergeReports
from engine.command.recipe import DidNotCompile, Form, Recipe
from grader.paths import ROOT

# nvcc's messages in the form in which g++ has its own.

NVCC_MESSAGE = re.compile(
    r"(?P<file>\S.*?)\((?P<line>\d+)\): (?:catastrophic )?(?P<kind>error|warning|note)"
    r"(?: #\d+(?:-D)?)?: (?P<text>.*)"
)
NVCC_ADVICE = re.compile(r" The experimental flag '--expt-relaxed-constexpr' .*")
INLINE_NAMESPACE = "::__4"  # of libcu++, which no program names
MARK = re.compile(r"\s+\^\s*$")  # below a line of source, in which `__global__` is an attribute
INSTANTIATION = re.compile(r"\s.* at line (?P<line>\d+)(?: of (?P<file>\S.*))?$")
LAST_WORDS = re.compile(r"\d+ errors? detected in the compilation|Error limit reached|Remark: ")
OF_ASSEMBLER = re.compile(r"ptxas error +: (?P<text>.*)")
MANGLED = re.compile(r"\b_Z\w+")
HEXADECIMAL = re.compile(r"\b0x[0-9a-f]{1,16}\b")
LENGTH = re.compile(r"\d{1,6}")
KERNEL = re.compile(r"from a __global__ function\(\"(\w+)\"\)|Entry function '(\w+)'")


def as_gcc_puts_it(lines, source, code):
    """The lines; of an error in a header there is the line of the kernel, too, if it names one.

    `code` has the lines of the student's file, whose path is `source`.
    """

    def message_lines(file, number, kind, text):
        line = f"{file}:{number}: {kind}: {NVCC_ADVICE.sub('', text).replace(INLINE_NAMESPACE, '')}"
        if file in (str(source), source.name):  # in a sandbox it is the name alone
            return [line, *numbered_line(code, number)]
        kernel = _line_of_kernel(text, code)
        return [line, f"in the kernel, from {source}:{kernel}:"] if kernel else [line]

    found, file = [], None  # of the message that the next lines belong to
    for line, after in zip(lines, [*lines[1:], ""]):
        message, assembler = NVCC_MESSAGE.match(line), OF_ASSEMBLER.match(line)
        if message:
            file = message["file"]
            found += message_lines(file, int(message["line"]), message["kind"], message["text"])
        elif assembler:
            kernel = _line_of_kernel(assembler["text"], code)
            text = MANGLED.sub(lambda name: _name_in(name[0]), assembler["text"])
            text = HEXADECIMAL.sub(lambda number: f"{int(number[0], 16):,}", text)
            found += message_lines(str(source), kernel, "error", text) if kernel else [line]
        elif file is None or MESSAGE.match(line):
            file = None
            found.append(line)
        elif place := INSTANTIATION.match(line):
            found.append(f"{place['file'] or file}:{place['line']}: instantiated here")
        elif not (MARK.match(line) or MARK.match(after) or LAST_WORDS.match(line) or not line):
            found.append(f"  {line.strip().replace(INLINE_NAMESPACE, '')}")
    return found


def numbered_line(code, number):
    return [f"{number:5} | {each}" for each in code[number - 1 : number]]


def _line_of_kernel(text, code):
    """The number of the line in which the kernel that the text names is defined; None for none."""
    named = KERNEL.search(text)
    if not named:
        return None
    name = named[1] or _name_in(named[2])
    text = "\n".join(code)
    definition = declaration_of(name, "__global__", "[;{}]", text)
    return text.count("\n", 0, definition.end()) + 1 if definition else None


def declaration_of(name, begin, ends, text):
    """The match of `name(` where one of the pattern `begin` comes before it and none of `ends` between the
    two; None for none. One pass: from each beginning on to the name would be as many."""
    each_of = rf"(?P<begin>{begin})|(?P<end>{ends})|\b{re.escape(name)}\s*\("
    has_begun = False
    for match in re.finditer(each_of, text):
        if match["begin"] or match["end"]:
            has_begun = bool(match["begin"])
        elif has_begun:
            return match
    return None


def _name_in(mangled):
    """'kernel' of '_ZN4mine6kernelIiEEvPT_'."""
    name, at = mangled, len(mangled) - len(mangled.removeprefix("_Z").lstrip("NL"))
    while length := LENGTH.match(mangled, at):
        at = length.end() + int(length[0])
        name = mangled[length.end() : at]
    return name


# A compiler's errors, each at a line of the student's file.

PLACE = re.compile(
    r"(?P<includes>(?:In file included|in the kernel,|) *\bfrom )?"
    r"(?P<path>\S[^:]*):(?P<line>\d+)(?=[:,])"
)
INLINED = re.compile(r"^\s+inlined from .* at ")
NOTE = re.compile(r"(\S.*?):\d+:(?:\d+:)? note: ")
# The linker's and the compiler's last words, and those of who runs them.
NOISE = re.compile(r"collect2: |compilation terminated|make\b")


def error_lines(source, lines):
    """What the compiler says of the file `source`, by its name alone: the first error of each line, and
    warnings only if there is no error."""
    return [line for told in errors_by_line(source, lines) for line in told]


def errors_by_line(source, lines):
    """The same, with the lines about each of the file's lines as a list of their own."""
    source = pathlib.Path(source)
    code = source.read_text(encoding="utf-8", errors="replace").splitlines()
    groups = message_groups(as_gcc_puts_it(lines, source, code))
    errors = [
        group for group in groups if group.message and MESSAGE.match(group.message)[2] != "warning"
    ]
    found = {}  # by the line of the file, in the compiler's order
    for group in errors or groups:
        if not group.message:
            told = [line for line in group.lines if not NOISE.match(line)]
        elif _is(source, MESSAGE.match(group.message)[1]):
            told = _own_lines(source, group)
        else:
            told = _at_own_line(source, code, group)
        found.setdefault(_line_of(told), told)
    path = str(source)
    return [[line.replace(path, source.name) for line in told] for told in found.values()]


def _line_of(told):
    place = PLACE.match(ESCAPES.sub("", told[0])) if told else None
    return place["line"] if place else "\n".join(told)


def _is(source, path):
    """In a sandbox the file has been named by its name alone."""
    return path in (str(source), source.name)


def _own_lines(source, group):
    """The message and its notes, less the notes that are about other files."""
    told, is_told = [], True
    for line in group.lines:
        text = ESCAPES.sub("", line)
        note = NOTE.match(text)
        if note:
            is_told = _is(source, note[1])
        elif not (MESSAGE.match(text) or SOURCE.match(text) or MARKS.match(text)):
            is_told = is_told and not NOISE.match(text) and not PLACE.match(text)
        if is_told:
            told.append(line)
    return told


def _at_own_line(source, code, group):
    """The message alone, at the innermost line of the student's file that has led to it."""
    sentence = re.sub(r"^.*?: (?=(?:fatal )?error: |sorry|warning: )", "", group.message)
    lines = [INLINED.sub("", ESCAPES.sub("", line)) for line in (*group.leading, *group.lines)]
    places = [place for place in map(PLACE.match, lines) if place and _is(source, place["path"])]
    # A header is included before any of its templates is used: that line is the last resort.
    places.sort(key=lambda place: bool(place["includes"]))
    if not places:
        return [group.message.replace(f"{ROOT}{os.sep}", "")]
    number = int(places[0]["line"])
    return [f"{source}:{number}: {sentence}", *numbered_line(code, number)]


# The student's program.

CONCURRENT = Form("", [], ["exercise_libraries", "program_libraries", "runtime_library"])
SCHEDULED = Form(
    "scheduled_", ["--scheduled"], ["scheduled_exercise_libraries", "scheduled_libraries"]
)
MOST_LINES = 12  # of a compiler's messages

UNDEFINED = "undefined reference to "
NO_MAIN = "It has no main(): a whole program begins with one."
OWN_MAIN = "It has a main() of its own: remove it, since lab calls your function."
UTF16 = "The file is in UTF-16, which no compiler reads: save it as UTF-8."
MAIN = re.compile(r"^[^\S\n]*(?:auto|int|void)\s+main\s*\(", re.MULTILINE)


class ExerciseBuild(NamedTuple):
    """A build folder that has the libraries and the drivers of exercises."""

    place: object  # its BuildFolder
    settings: dict
    files: Optional[pathlib.Path] = None  # where programs are put, if not into the build folder

    @property
    def can_observe(self):
        """Whether it has the form that tells what kernels do."""
        return bool(self.settings.get("scheduled_libraries"))

    @property
    def compile_settings(self):
        """With every read where the student has written it: g++ moves a read below the `if` that its
        value is used in, and then a read that the task forbids is not seen."""
        compilers = self.settings["compiler"]
        if not self.can_observe or "clang" in compilers:
            return self.settings
        name = f"{SCHEDULED.prefix}compile_arguments"
        return {**self.settings, name: f"{self.settings[name]}\n-fno-tree-sink"}

    def merging(self, source):
        """How the reports on a student's file become one answer, for that student."""
        return MergeReports(self.settings["scheduled_merge_reports"], str(source))


class ExerciseBuilds(NamedTuple):
    cpu: ExerciseBuild  # that judges: it alone sees races
    gpu: Optional[ExerciseBuild]  # if the results are to be judged on a GPU as well
    nvcc: Optional[str] = None  # its path, if it is to be asked without a GPU

    @property
    def backend(self):
        return "cuda" if self.gpu else "cpu"

    @property
    def compilers(self):
        """What a judgement depends on: nvcc if it is asked, and the backend."""
        return (*(["nvcc"] if self.nvcc else []), self.backend)

    @property
    def of_nvcc(self):
        """The ExerciseBuild with which it is asked about kernels (NVCC)."""
        settings = {**self.cpu.settings, "backend": "cuda", "compiler": self.nvcc}
        return self.cpu._replace(settings=settings)


class Compiled(NamedTuple):
    path: pathlib.Path
    warnings: list[str]  # of the student's code; none if it was compiled before
    recipe: Recipe


def linked_first(build, exercise):
    """What is linked with the student's file before the libraries: the exercise's driver, and what makes
    the driver's main() the first to run if the student has written one."""
    driver = str(build.place.folder.resolve() / exercise.driver)
    if not exercise.is_program:
        return [driver]
    return [driver, *lines_of(build.settings, "program_link_arguments")]


def compiled(build, exercise, source, form):
    """The student's program in this form. Raises DidNotCompile, with lines to show."""
    recipe = Recipe(
        build.place,
        build.compile_settings,
        [str(source)],
        form,
        objects=linked_first(build, exercise),
        files=build.files,
    )
    warnings = []
    if not recipe.is_current():
        try:
            warnings = _short_warnings(recipe.compile(), source)
        except DidNotCompile as problem:
            lines = explained_lines(source, problem.lines, problem.refusals)
            raise DidNotCompile(str(problem), lines) from None
    return Compiled(recipe.program, warnings[:MOST_LINES], recipe)


def explained_lines(source, lines, refusals):
    """The compiler's lines about the student's file; a sentence instead of the linker's. Of what the
    translator has refused, its Diagnostics say more than the lines."""
    if refusals:
        return [_refusal_line(source, refusal) for refusal in refusals][:MOST_LINES]
    text = pathlib.Path(source).read_text(encoding="utf-8", errors="replace")
    wanted = next(filter(None, map(_undefined_in, lines)), None)
    if wanted:
        name = wanted.partition("(")[0]
        if name in ("main", "_start"):
            return [NO_MAIN]
        if declaration_of(name, r"\bstatic\b", "[;{}()]", text):
            return [
                f"{name} is static, so it can't be called from outside the file: remove static."
            ]
        if re.search(rf"\b{re.escape(name)}\b", text):
            return [f"{name} is there, but not with the parameters that are called:", f"  {wanted}"]
        return [f"The function that is called is missing: {wanted}"]
    return error_lines(source, lines)[:MOST_LINES]


def _undefined_in(line):
    """The name that the linker says is undefined; "" if it says no such thing."""
    quoted = line.partition(UNDEFINED)[2]
    return quoted[1:].rpartition("'")[0] if quoted[:1] in ("`", "'") else ""


def _refusal_line(source, refusal):
    """As a compiler puts it."""
    place = refusal.place()
    file = pathlib.Path(source).name if place.file == str(source) else place.file
    return f"{file.removeprefix(f'{ROOT}{os.sep}')}:{place.line}: error: {refusal.sentence}"


def _short_warnings(lines, source):
    """'line 5: unused variable x' for each of the student's lines.

    A parameter that is not used yet is no mistake in a starter, and nvcc does not speak of it.
    """
    pattern = re.compile(
        re.escape(str(source)) + r":(\d+):(?:\d+:)? warning: (.*?)(?: \[-W([^\s\]]*)\])?$"
    )
    found = [pattern.match(line) for line in lines]
    return [
        f"line {match[1]}: {match[2]}"
        for match in found
        if match and match[3] != "unused-parameter"
    ]


def objections_before_compiling(exercise, source):
    """Sentences about a file that need not be shown to a compiler; none if it may be compiled."""
    source = pathlib.Path(source)
    if _is_utf16(source.read_bytes()):
        return [UTF16]
    if exercise.is_program:
        return []
    return [OWN_MAIN] if MAIN.search(source.read_text("utf-8", errors="replace")) else []


def is_empty(source):
    """Whether the file has no code, not even a comment."""
    return not source.read_text("utf-8", errors="replace").strip()


def _is_utf16(content):
    """Whether it begins with UTF-16's mark, or one byte of most pairs is 0, as it is in code."""
    fewer, more = sorted(half.count(0) for half in (content[0::2], content[1::2]))
    return content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or (
        fewer == 0 and more > len(content) // 4 > 0
    )


# Whether nvcc takes a file that is right on the CPU backend, which accepts a little more.

NVCC = Form("nvcc_", [], [])
NVCC_SECONDS = 60
MOST_NVCC_OUTPUT = 1 << 20  # bytes
MOST_LINES_OF_AN_ERROR = 4  # of one error
REASON = re.compile(r"\b(?:error|fatal)\b")


def asked_of_nvcc(verdict, builds, source):
    """The verdict with nvcc's answer: its errors, or why there is no answer."""
    try:
        _DeviceCode(builds, source).compile()
    except DidNotCompile as refused:
        own = f"{pathlib.Path(source).name}:"
        errors = [told for told in errors_by_line(source, refused.lines) if told[0].startswith(own)]
        if not errors:  # it does not know the host's compiler, or has died
            lines = [line.strip() for line in refused.lines if line.strip()]
            reason = next(filter(REASON.search, lines), lines[0])
            return verdict._replace(nvcc_problem=reason)
        more = [f"and {counted(len(errors) - 1, 'more error')}"] if errors[1:] else []
        return verdict._replace(nvcc_errors=(*errors[0][:MOST_LINES_OF_AN_ERROR], *more))
    except (CommandError, OSError) as problem:
        return verdict._replace(nvcc_problem=str(problem))
    return verdict


class _DeviceCode(Recipe):
    """The recipe of the cuda backend, but for one GPU, and for its kernels alone: nothing is linked."""

    def __init__(self, builds, source):
        build = builds.of_nvcc
        super().__init__(build.place, build.settings, [str(source)], NVCC, files=build.files)
        self.program = self.work / "0.o"

    def _steps(self):
        return super()._steps()[:-1]

    def _code_of(self, step, printed):
        if is_verbose():
            say_command(step)
        # What it leaves if it is ended goes with the folder.
        with tempfile.TemporaryDirectory(prefix="lab-check-") as folder:
            run = run_bounded(
                step, {**os.environ, "TMPDIR": folder}, NVCC_SECONDS, MOST_NVCC_OUTPUT
            )
        if run.code is None:
            raise CommandError(f"it did not end within {NVCC_SECONDS} s.")
        printed += run.output.splitlines()
        if run.code < 0:
            printed.append(f"error: it was ended by {signal_name(-run.code)}")
        elif run.code and not run.output.strip():
            printed.append(f"it ended with status {run.code}")
        return run.code
