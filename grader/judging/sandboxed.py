# SPDX-License-Identifier: MIT
"""Compiles a submission where it can read nothing but the course's headers, and runs it in the sandbox."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import threading
from typing import NamedTuple

from engine.command.build_folder import lines_of
from engine.command.compiler_messages import readable
from engine.command.diagnostics import records_of
from engine.command.recipe import Recipe
from grader.exercises.catalogue import chapter_headers
from grader.inspection.object_symbols import (
    WEAK,
    libraries_of,
    names_to_keep,
    objections_to_symbols,
    symbols_of,
)
from grader.judging.compile import (
    CONCURRENT,
    NVCC,
    SCHEDULED,
    explained_lines,
    linked_first,
)
from grader.judging.runner import (
    FILES,
    OUTPUT,
    TIME,
    Limits,
    NotCompiled,
    OutOfTime,
    Runner,
)
from grader.paths import ROOT
from grader.sandbox.sandbox import interpreter
from grader.sandbox.sandboxed_run import Access, SandboxFailed

LIMITS = Limits(seconds=120, memory=3 << 30)
REFUSED_BY_NVCC = "nvcc, which compiles for a GPU, refuses the file:"
TOO_MUCH_TEXT = "It becomes more text than can be looked at."
INSPECTION = ROOT / "grader/inspection/source_tokens.py"  # a program, in the sandbox
# What a compiler says if the kernel has ended one of its programs for that, or has refused to write more.
WROTE_TOO_MUCH = ("File size limit exceeded", "File too large")


# Under this name runner.cu knows the driver of the course's solution, if one is linked to be timed.
SOLUTION_MAIN = "solution_driver_main"


class Program(NamedTuple):
    path: pathlib.Path
    readable: tuple  # what it must be able to read when it runs
    is_for_gpu: bool = False


def compiled_alone(sandbox, build, exercise, source, folder, form, solution=None):
    """The submission's Program, made in the empty folder `folder`. Raises NotCompiled.

    `solution` is what solution_object() has made, if it is to be timed with the submission.
    """
    beside = [solution] if solution else []
    recipe = _Recipe(build, exercise, source, folder, form, beside)
    readable = (source, *beside, *readable_for_compilers(build, exercise))
    access = Access(folder, readable, may_change_modes=True)
    preprocess, *steps, link = recipe.steps()
    _run_step(sandbox, preprocess, access, recipe)
    is_by_nvcc = build.settings["backend"] == "cuda"
    lines = source_objections(sandbox, access, recipe, is_by_nvcc, exercise.answers)
    if lines:
        raise NotCompiled(lines, is_refused=True)
    for step in steps:
        _run_step(sandbox, step, access, recipe)
    names = sandbox.run(["nm", "-P", str(recipe.work / "0.o")], access, limits=LIMITS)
    if names.limit == OUTPUT:
        most = LIMITS.figure(OUTPUT)
        too_many = f"It has more names than can be looked at: nm prints more than {most}."
        raise NotCompiled([too_many], is_refused=True)
    if names.code != 0:
        raise NotCompiled(["What it was compiled to is no object file."])
    symbols, libraries = symbols_of(names.output), libraries_of(recipe)
    lines = objections_to_symbols(symbols, libraries, is_by_nvcc)
    if lines:
        raise NotCompiled(lines, is_refused=True)
    if not is_by_nvcc or solution:
        keep = names_to_keep(symbols, libraries)
        if is_by_nvcc:  # whose link takes the first of two definitions of a template's function
            keep = [name for name in keep if name in libraries.asked_for]
        _seal(sandbox, access, recipe, keep, [name for name, kind in symbols if kind in WEAK])
    _run_step(sandbox, link, access, recipe)
    return Program(recipe.program, (recipe.program, source))


def solution_object(sandbox, build, exercise, source, folder, form):
    """The path of an object file of the course's solution and of its driver, made in the empty folder
    `folder`. It gives others the driver's main() alone, as SOLUTION_MAIN, and so can be linked with a
    submission, whose functions and kernels have the same names. Raises NotCompiled."""
    recipe = _Recipe(build, exercise, source, folder, form)
    access = Access(
        folder, (source, *readable_for_compilers(build, exercise)), may_change_modes=True
    )
    *steps, _ = recipe.steps()
    for step in [*steps, *recipe.steps_to_join_driver(SOLUTION_MAIN)]:
        _run_step(sandbox, step, access, recipe)
    compiled = recipe.work / "0.o"
    names = sandbox.run(["nm", "-P", str(compiled)], access, limits=LIMITS)
    libraries = libraries_of(recipe)
    shared = names_to_keep(symbols_of(names.output), libraries)
    weak = [name for name in shared if name not in libraries.asked_for]
    _seal(sandbox, access, recipe, [SOLUTION_MAIN, *weak], weak)
    return compiled


def _seal(sandbox, access, recipe, names, weak):
    """Has the object file give others nothing but these names, and the `weak` ones among them as weak ones
    still: some are in each object that uses them, and without their groups they would be there twice."""
    for file, lines in ((recipe.kept_names, names), (recipe.weak_names, weak)):
        text = "\n".join(["# objcopy takes no empty file", *lines])
        file.write_text(text, encoding="utf-8")
    for step in recipe.sealing_steps():
        _run_step(sandbox, step, access, recipe)


def source_objections(sandbox, access, recipe, is_by_nvcc, answers=()):
    """What objections_to_source() says of the preprocessed text. That is anybody's, so it is read where
    reading takes no more than compiling may."""
    python, _ = interpreter()
    command = [python, "-I", INSPECTION, *recipe.sources, recipe.preprocessed()]
    command += [*(["nvcc"] if is_by_nvcc else []), *answers]
    limits = LIMITS._replace(seconds=recipe.seconds_left)
    access = access._replace(readable=(*access.readable, INSPECTION))
    run = sandbox.run(command, access, {}, limits)
    recipe.seconds_left -= run.seconds
    if not run.has_begun:
        raise SandboxFailed(f"no source could be read in the sandbox: {run.output.strip()}")
    return json.loads(run.output) if run.code == 0 else [TOO_MUCH_TEXT]


def _run_step(sandbox, step, access, recipe):
    """Raises NotCompiled."""
    source = pathlib.Path(recipe.sources[0])
    run = sandbox.run(step, access, limits=LIMITS._replace(seconds=recipe.seconds_left))
    recipe.seconds_left -= run.seconds
    if not run.has_begun:
        raise SandboxFailed(f"no compiler could be run in the sandbox: {run.output.strip()}")
    lines = readable(_without_folders(run.output, access.work, source).splitlines())
    own = [line for line in lines if not line.startswith(source.name)]
    has_written_too_much = any(words in line for line in own for words in WROTE_TOO_MUCH)
    limit = FILES if run.code != 0 and has_written_too_much else run.limit
    if limit:
        raise NotCompiled([f"The compiler {LIMITS.reached(limit)}."])
    if run.code != 0:
        # The program must not learn where the course is on this machine.
        shown = [line.replace(f"{ROOT}{os.sep}", "") for line in lines]
        refusals = records_of(recipe.diagnostics)
        raise NotCompiled(explained_lines(source, shown, refusals))


def _without_folders(text, work, source):
    """Names of files as the student knows them, and the same whenever it is compiled."""
    text = text.replace(f"{source.parent}{os.sep}", "").replace(f"{work}{os.sep}", "")
    return re.sub(r"\bcc\w{6}\.s\b", "compiled.s", text)


class _Recipe(Recipe):
    """The course's own recipe, for a folder of its own and an interpreter that the sandbox can see."""

    def __init__(self, build, exercise, source, folder, form, beside=()):
        objects = [*linked_first(build, exercise), *map(str, beside)]
        super().__init__(build.place, build.compile_settings, [str(source)], form, objects=objects)
        self.work = folder.resolve()
        self.program = self.work / "program"
        self.depfiles = [self.work / "0.d"]
        self.kept_names, self.weak_names = self.work / "names", self.work / "weak_names"
        self.seconds_left = LIMITS.seconds  # for all steps together

    def steps(self):
        """First what makes the preprocessed text, last the link."""
        python, _ = interpreter()
        steps = [
            [_whole(word, self.work) for word in step if word != "-fdiagnostics-color=always"]
            for step in self._steps()
        ]
        if self.settings["backend"] != "cpu":
            steps.insert(0, self._preprocess_step())
        for step in steps:
            if any(word.endswith("translate.py") for word in step):
                step[0] = python
            else:  # the sandbox has the system's PATH, and nvcc is elsewhere
                step[0] = shutil.which(step[0]) or step[0]
        if self.settings["backend"] == "cpu":
            steps[-1] = self._with_ours_first(steps[-1])
        return steps

    def _preprocess_step(self):
        """nvcc translates by itself. It is asked for the host's code: a GPU's writes no report."""
        words = [*lines_of(self.settings, "compiler"), *self._words("compile_arguments")]
        return [*words, "-E", *self.sources, "-o", str(self.preprocessed())]

    def sealing_steps(self):
        """The commands after which the object file gives others nothing but `kept_names`.

        Else a definition of its own could take the place of the library's or the checker's.
        """
        compiled, merged = str(self.work / "0.o"), str(self.work / "merged.o")
        kept = f"--keep-global-symbols={self.kept_names}"
        weak = f"--weaken-symbols={self.weak_names}"
        return [
            ["ld", "-r", "--force-group-allocation", compiled, "-o", merged],
            ["objcopy", kept, weak, merged, compiled],
        ]

    def steps_to_join_driver(self, main):
        """The commands after which the object file has the exercise's driver in it, whose main() is
        called `main`."""
        compiled, joined = str(self.work / "0.o"), str(self.work / "joined.o")
        driver = ["--whole-archive", str(self.libraries[0]), "--no-whole-archive"]
        return [
            ["ld", "-r", compiled, *driver, "-o", joined],
            ["objcopy", "--redefine-sym", f"main={main}", joined, compiled],
        ]

    def _with_ours_first(self, link):
        """Of two definitions of a template's function the linker takes the first, which must be ours."""
        ours = list(dict.fromkeys(map(_from_root, self.libraries)))
        compiled = str(self.work / "0.o")
        rest = [word for word in link if _from_root(word) not in (*ours, compiled)]
        whole = ["-Wl,--whole-archive", *ours, "-Wl,--no-whole-archive"]
        return [rest[0], *whole, compiled, *rest[1:]]


def _from_root(word):
    return word if word.startswith("-") else os.path.abspath(word)


def _whole(word, work):
    """A path below the working folder, which `shown` may have shortened, from the root again."""
    if os.sep not in word or os.path.isabs(word) or word.startswith("-"):
        return word
    path = os.path.abspath(word)
    return path if path.startswith((f"{work}{os.sep}", f"{ROOT}{os.sep}")) else word


def readable_for_compilers(build, exercise):
    """What the compiler and the linker read: headers and libraries, and no one's solution."""
    folder = build.place.folder.resolve()
    found = [folder / exercise.driver]
    for house in ("common", "engine"):
        found += [ROOT / house, folder / house]
    found += [*sorted((ROOT / "grader/runner").glob("*.hpp")), folder / "grader/runner"]
    objects = folder / f"{exercise.driver}.p"  # of a thin archive
    if objects.is_dir():
        found.append(objects)
    found += chapter_headers()
    found += map(pathlib.Path, interpreter()[1])
    compiler = shutil.which(lines_of(build.settings, "compiler")[0])
    if compiler and not os.path.realpath(compiler).startswith("/usr/"):
        found.append(pathlib.Path(os.path.realpath(compiler)).parent.parent)
    return tuple(path for path in found if path.exists())


class GpuTurns:
    """Of one process. Who wants it alone waits for those that share it, and lets no new ones begin."""

    def __init__(self):
        self.changes = threading.Condition()
        self.sharing, self.wanting_alone = 0, 0
        self.is_taken = False

    @contextlib.contextmanager
    def shared(self):
        with self.changes:
            self.changes.wait_for(lambda: not self.is_taken and not self.wanting_alone)
            self.sharing += 1
        try:
            yield
        finally:
            with self.changes:
                self.sharing -= 1
                self.changes.notify_all()

    @contextlib.contextmanager
    def alone(self):
        with self.changes:
            self.wanting_alone += 1
            self.changes.wait_for(lambda: not self.is_taken and not self.sharing)
            self.wanting_alone -= 1
            self.is_taken = True
        try:
            yield
        finally:
            with self.changes:
                self.is_taken = False
                self.changes.notify_all()


GPU_TURNS = GpuTurns()


# Each process has one case, in the form that the race checker sees: there the same bytes and the same seed
# give the same results.

# What a program is told it reads before any code of the submission's, and its report goes back the same way:
# its environment and its arguments are the same in all runs.
FROM_INPUT = {"LAB_SETTINGS": "stdin"}
OWN_INPUT = "&0"


SECONDS_OF_ALL = 120  # of processors, for all runs of one submission together


class SandboxRunner(Runner):
    """Each program has a folder of its own in `folder`, which is one of Sandbox.folder()."""

    results_form = SCHEDULED
    one_process_per_case = True
    goes_by_the_clock = False

    def __init__(self, sandbox, builds, exercise, source, folder):
        self.sandbox, self.builds, self.folder = sandbox, builds, folder
        self.folders, self.seconds = 0, 0.0
        self.programs = {}  # {a form's prefix: its Program}
        self.has_gpu_alone = False
        super().__init__(builds.cpu, exercise, self._copy_of(source))

    def _copy_of(self, source):
        """Where another user than the grader can read it."""
        copy = self._made(self._next_folder()) / source.name
        shutil.copyfile(source, copy)
        copy.chmod(0o644)
        return copy

    def new_folder(self):
        """The folder has one name each time, since a name would tell one run from another. What the run
        before left is moved away."""
        folder = self.folder / "run"
        if folder.exists():
            folder.rename(self._next_folder())
        return self._made(folder)

    def remove_last_run(self):
        """Removes the folder that new_folder() has made last."""
        shutil.rmtree(self.folder / "run", ignore_errors=True)

    def _next_folder(self):
        self.folders += 1
        return self.folder / str(self.folders)

    @staticmethod
    def _made(folder):
        folder.mkdir()
        folder.chmod(0o755)
        return folder

    def compiled(self, form):
        if form.prefix not in self.programs:
            program = self._compiled(self.build, form)
            if self.builds.nvcc and not self.programs:
                self.require_nvcc()
            self.programs[form.prefix] = program
        return self.programs[form.prefix]

    def require_nvcc(self):
        """Raises NotCompiled if nvcc refuses the kernels: the CPU backend accepts a little more."""
        build = self.builds.of_nvcc
        recipe = _Recipe(build, self.exercise, self.source, self._made(self._next_folder()), NVCC)
        readable = (self.source, *readable_for_compilers(build, self.exercise))
        access = Access(recipe.work, readable, may_change_modes=True)
        try:
            for step in recipe.steps()[1:-1]:  # neither the text alone nor a link
                _run_step(self.sandbox, step, access, recipe)
        except NotCompiled as refused:
            raise NotCompiled([REFUSED_BY_NVCC, *refused.lines]) from None

    def compiled_for_gpu(self):
        """Raises NotCompiled."""
        return self._compiled(self.builds.gpu, CONCURRENT)._replace(is_for_gpu=True)

    def compiled_to_time(self, solution):
        """The same with the course's solution next to it, out of compiling.solution_object()."""
        return self._compiled(self.builds.gpu, CONCURRENT, solution)._replace(is_for_gpu=True)

    def _compiled(self, build, form, solution=None):
        folder = self._made(self._next_folder())
        return compiled_alone(
            self.sandbox, build, self.exercise, self.source, folder, form, solution
        )

    @contextlib.contextmanager
    def gpu_alone(self):
        """As long as it lasts, no other submission's program runs on the GPU."""
        with GPU_TURNS.alone():
            self.has_gpu_alone = True
            try:
                yield
            finally:
                self.has_gpu_alone = False

    def _turn(self, program):
        is_to_wait = program.is_for_gpu and not self.has_gpu_alone
        return GPU_TURNS.shared() if is_to_wait else contextlib.nullcontext()

    def run(self, program, folder, arguments, settings, limits):
        """Raises Stopped, SandboxFailed, and OutOfTime."""
        left = SECONDS_OF_ALL - self.seconds
        if left <= 0:
            raise OutOfTime
        if settings.get("LAB_RACECHECK_COUNTS"):
            settings = {**settings, "LAB_RACECHECK_REPORT": OWN_INPUT}
        access = Access(folder, program.readable, program.is_for_gpu)
        command = [program.path, *arguments]
        within = limits._replace(seconds=min(limits.seconds, left))
        with self._turn(program):
            run = self.sandbox.run(command, access, FROM_INPUT, within, given=_as_input(settings))
        self.seconds += run.seconds
        if not run.has_begun:
            raise SandboxFailed(f"no program could be run in the sandbox: {run.output.strip()}")
        if run.limit == TIME and left < limits.seconds:
            raise OutOfTime
        return run.as_run


def _as_input(settings):
    return "".join(f"{name}={value}\0" for name, value in settings.items()).encode()
