# SPDX-License-Identifier: MIT
"""Compiles a submission where it can read nothing but the course's headers."""

import os
import pathlib
import re
import shutil
from typing import NamedTuple

from engine.driver.build_folder import lines_of
from engine.driver.compiler_messages import readable
from engine.driver.diagnostics import records_of
from engine.driver.recipe import Recipe
from grader.exercises.catalogue import chapter_headers
from grader.exercises.inspection import objections_to_names, objections_to_source
from grader.judging.programs import explained_lines
from grader.judging.runner import (
    FILES,
    MEMORY,
    OUTPUT,
    PROCESSES,
    TIME,
    Limits,
    NotCompiled,
)
from grader.paths import ROOT
from grader.sandbox.sandbox import interpreter
from grader.sandbox.sandboxed_run import Access, SandboxFailed

LIMITS = Limits(seconds=120, memory=3 << 30)
TOO_MUCH = {
    TIME: "The compiler did not end within {}.",
    MEMORY: "The compiler took more than {} of memory.",
    PROCESSES: "The compiler started more than {} threads and processes.",
    OUTPUT: "The compiler printed more than {}.",
    FILES: "The compiler wrote more than {}.",
}


class Program(NamedTuple):
    path: pathlib.Path
    readable: tuple  # what it must be able to read when it runs
    is_for_gpu: bool = False


def compiled_alone(sandbox, build, exercise, source, folder, form):
    """The submission's Program, made in the empty folder `folder`. Raises NotCompiled."""
    recipe = _Recipe(build, exercise, source, folder, form)
    text = source.read_text(encoding="utf-8", errors="replace")
    lines = objections_to_source(text)
    if lines:
        raise NotCompiled(lines)
    readable = (source, *readable_for_compilers(build, exercise))
    access = Access(folder, readable, may_change_modes=True)
    *steps, link = recipe.steps()
    printed = []
    for step in steps:
        printed += _compiler_lines(sandbox, step, access, recipe)
    names = sandbox.run(["nm", "-P", str(recipe.work / "0.o")], access, limits=LIMITS)
    if names.limit == OUTPUT:
        most = LIMITS.figure(OUTPUT)
        raise NotCompiled([f"It has more names than can be looked at: nm prints more than {most}."])
    if names.code != 0:
        raise NotCompiled(["What it was compiled to is no object file."])
    lines = objections_to_names(names.output, is_by_nvcc=build.settings["backend"] == "cuda")
    if lines:
        raise NotCompiled(lines)
    _compiler_lines(sandbox, link, access, recipe)
    return Program(recipe.program, (recipe.program, source))


def _compiler_lines(sandbox, step, access, recipe):
    source = pathlib.Path(recipe.sources[0])
    run = sandbox.run(step, access, limits=LIMITS)
    if not run.has_begun:
        raise SandboxFailed(f"no compiler could be run in the sandbox: {run.output.strip()}")
    lines = readable(_without_folders(run.output, access.work, source).splitlines())
    if run.limit:
        raise NotCompiled([TOO_MUCH[run.limit].format(LIMITS.figure(run.limit))])
    if run.code != 0:
        # Where the course is on this machine is nobody's business.
        shown = [line.replace(f"{ROOT}{os.sep}", "") for line in lines]
        refusals = records_of(recipe.diagnostics)
        raise NotCompiled(explained_lines(source, shown, refusals))
    return lines


def _without_folders(text, work, source):
    """Names of files as the student knows them, and the same whenever it is compiled."""
    text = text.replace(f"{source.parent}{os.sep}", "").replace(f"{work}{os.sep}", "")
    return re.sub(r"\bcc\w{6}\.s\b", "compiled.s", text)


class _Recipe(Recipe):
    """The course's own recipe, for a folder of its own and an interpreter that the sandbox can see."""

    def __init__(self, build, exercise, source, folder, form):
        driver = str(build.place.folder.resolve() / exercise.driver)
        super().__init__(build.place, build.compile_settings, [str(source)], form, objects=[driver])
        self.work = folder.resolve()
        self.program = self.work / "program"
        self.depfiles = [self.work / "0.d"]

    def steps(self):
        python, _ = interpreter()
        steps = [
            [_whole(word, self.work) for word in step if word != "-fdiagnostics-color=always"]
            for step in self._steps()
        ]
        for step in steps:
            if any(word.endswith("translate.py") for word in step):
                step[0] = python
            else:  # the sandbox has the system's PATH, and nvcc is elsewhere
                step[0] = shutil.which(step[0]) or step[0]
        if self.settings["backend"] == "cpu":
            steps[-1] = self._with_ours_first(steps[-1])
        return steps

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
