# SPDX-License-Identifier: MIT
"""The recipe of a .cu, or of several: compiles them, if anything they are made from changed."""

import hashlib
import json
import os
import pathlib
import re
import shlex
import sys
from typing import NamedTuple

from engine.command.arguments import sources_of
from engine.command.build_folder import alone_in, build, introspection, lines_of, settings_of
from engine.command.compiler_messages import readable
from engine.command.diagnostics import records_of
from engine.command.errors import CommandError
from engine.command.output import Progress, has_colour, is_verbose, remark, remark_lines
from engine.command.output_files import write_whole
from engine.command.paths import shown
from engine.command.processes import run_step, watch


class Form(NamedTuple):
    """What a single file is compiled and linked with: under these names in the settings."""

    prefix: str
    translate_options: list[str]
    libraries: list[str]


RESTRICT = re.compile(r"\b__restrict(?:__)?\b")
KERNEL = "__attribute__((__flatten__))"  # form.hpp
WITHOUT_MAIN = re.compile(r"undefined reference to [`']main'")
CONCURRENT = Form("", [], ["program_libraries", "runtime_library"])
SCHEDULED = Form("scheduled_", ["--scheduled"], ["scheduled_libraries"])


class DidNotCompile(CommandError):
    """The compiler has refused the user's files; `lines` is what it said, and `refusals` are the
    Diagnostics of what the translator has refused before. If `is_explained`, the message says all."""

    def __init__(self, message, lines, refusals=(), is_explained=False):
        super().__init__(message)
        self.lines, self.refusals, self.is_explained = lines, refusals, is_explained


def build_file(place, arguments, form=CONCURRENT):
    """Brings the program of the user's files up to date, and returns its path."""
    return built_recipe(place, arguments, form).program


def built_recipe(place, arguments, form):
    """The Recipe of the user's files, whose program is up to date."""
    settings = settings_with_libraries(place, form)
    recipe = Recipe(
        place, settings, sources_of(arguments), form, arguments.include, arguments.define,
        compiler_options=arguments.compiler_option, shares_device_code=arguments.rdc == "true",
    )  # fmt: skip
    if not recipe.is_current():
        try:
            with Progress(f"Building {recipe.program.name}") as progress:
                printed = recipe.compile(progress.step)
        except DidNotCompile as problem:
            if not problem.is_explained:
                remark_lines(problem.lines)
            raise
        _tell_once(recipe, printed)
    if getattr(arguments, "keep_translated", False):
        for number, source in enumerate(recipe.sources):
            remark(f"{source}, translated to C++: {shown(recipe.translated(number))}")
    return recipe


def _tell_once(recipe, warnings):
    """Says what the compiler warned of, unless another form of the program has said the same."""
    text = json.dumps([list(map(os.path.abspath, recipe.sources)), warnings])
    mark = recipe.work.with_name(f"warnings-{hashlib.sha256(text.encode()).hexdigest()[:12]}")
    if warnings and not mark.exists():
        mark.touch()
        remark_lines(warnings)


class Recipe:
    """How the program of some files is made: from `sources`, and with `objects` linked to it.

    What is made lies in a folder of its own in `files`, the build folder's unless it is given.
    """

    def __init__(
        self, place, settings, sources, form, includes=(), defines=(), objects=(), files=None,
        compiler_options=(), shares_device_code=False,
    ):  # fmt: skip
        self.sources = sources
        self.shares_device_code = shares_device_code
        self.includes = includes
        self.defines = [f"-D{name}" for name in defines]
        self.compiler_options = [*compiler_options]
        self.form = form
        self.settings = settings
        self.libraries = [*objects, *_libraries(self.settings, form)]
        # It is taken only with the very options that it was made with.
        self.header = "" if compiler_options else self._word("precompiled_header")
        self.library_arguments = link_arguments_of(place.folder)

        paths = [list(map(os.path.abspath, names)) for names in (self.sources, self.includes)]
        options = [self.compiler_options, shares_device_code]
        text = json.dumps([paths, self.defines, form, self.libraries, self.settings, options])
        stem = pathlib.Path(self.sources[0]).stem
        name = f"{stem}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
        self.work = (files or place.folder / "files") / name
        self.program = self.work / stem
        self.record = self.work / "inputs.json"
        self.depfiles = [self.work / f"{i}.d" for i in range(len(self.sources))]

    def is_current(self):
        try:
            inputs = json.loads(self.record.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return False
        return self.program.is_file() and all(_state(path) == was for path, was in inputs.items())

    def compile(self, has_done=lambda done, total: None):
        """Makes the program, unless another process has just made it, and returns the compiler's warnings.

        Raises DidNotCompile.
        """
        self.work.mkdir(parents=True, exist_ok=True)
        with alone_in(self.work):
            return [] if self.is_current() else self._compile(has_done)

    def _compile(self, has_done):
        self.record.unlink(missing_ok=True)
        self.diagnostics.unlink(missing_ok=True)
        # Before they are read: who saves one meanwhile has not compiled what is there then.
        given = {os.path.abspath(path): _state(path) for path in self.sources}
        steps = self._steps()
        printed = []
        for number, step in enumerate(steps):
            if self._code_of(step, printed) != 0:
                raise self._failure(readable(printed))
            has_done(number + 1, len(steps))
        used = [*self.libraries]
        for depfile in self.depfiles:
            used += prerequisites(depfile)
        if self.header:
            used.append(self.header + ".gch")
        states = {**{os.path.abspath(path): _state(path) for path in used}, **given}
        write_whole(self.record, json.dumps(states))
        return readable(printed)

    def other_program(self):
        """A second program of the same text, which is up to date already as the first one is: what C++
        leaves to the compiler is otherwise in it, and products and sums are fused, as on a GPU."""
        program = self.program.with_name(f"{self.program.name}-other")
        with alone_in(self.work):
            if not program.is_file() or _time_of(program) < _time_of(self.record):
                self._compile_otherwise(program)
        return program

    def _compile_otherwise(self, program):
        compiler, objects, steps = lines_of(self.settings, "compiler"), [], []
        arguments = [*self._words("compile_arguments"), *self._words("other_arguments")]
        for number in range(len(self.sources)):
            text = self.translated(number).read_text(encoding="utf-8")
            other = self.work / f"{number}-other.cpp"
            other.write_text(RESTRICT.sub("", text.replace(KERNEL, _kernel())), encoding="utf-8")
            objects.append(shown(other.with_suffix(".o")))
            _, step = self._steps_of_cpu(number, compiler, arguments, objects[-1])
            steps.append([shown(other) if word == step[-3] else word for word in step])
        libraries = [*self.libraries, *self._words("link_arguments"), *self.library_arguments]
        steps.append(link_step(self.settings, objects, shown(program), libraries, self._options()))
        printed = []
        if any(self._code_of(step, printed) for step in steps):
            raise self._failure(readable(printed))

    def _code_of(self, step, printed):
        """The exit code of a step; what it prints is added to `printed`, unless it goes to the terminal."""
        return run_step(step) if is_verbose() else watch(step, printed.append)

    @property
    def diagnostics(self):
        """Where the translator records what it refuses."""
        return self.work / "diagnostics"

    def preprocessed(self, number=0):
        """Where the text that a .cu was preprocessed to is kept: a grade looks at it."""
        return self.work / f"{number}.preprocessed"

    def translated(self, number=0):
        """Where the C++ is that a .cu was rewritten to for the CPU backend."""
        return self.work / f"{number}.cpp"

    def _failure(self, lines):
        which = " and ".join(self.sources[:2]) if len(self.sources) < 3 else "the files"
        if any(WITHOUT_MAIN.search(line) for line in lines):
            message = f"{which}: there is no main() to run."
            return DidNotCompile(message, lines, is_explained=True)
        refusals = records_of(self.diagnostics)
        return DidNotCompile(f"{which} did not compile; the messages are above.", lines, refusals)

    def _steps(self):
        """The commands that make the program, one after the other."""
        compiler = lines_of(self.settings, "compiler")
        arguments = self._words("compile_arguments")
        libraries = [*self.libraries, *self._words("link_arguments"), *self.library_arguments]
        if has_colour(sys.stderr) and self.settings["backend"] == "cpu":
            arguments.append("-fdiagnostics-color=always")
        objects = [shown(self.work / f"{i}.o") for i in range(len(self.sources))]
        steps = []
        for number, source in enumerate(self.sources):
            if self.settings["backend"] != "cpu":
                steps.append(
                    [*compiler, *_of_language(source, arguments), *self._given(), "-MD", "-MF",
                     shown(self.depfiles[number]), "-c", source, "-o", objects[number]]
                )  # fmt: skip
            else:
                steps += self._steps_of_cpu(number, compiler, arguments, objects[number])
        # Linked apart, because what instruments the accesses must not be told to the linker.
        linked = (
            [*arguments, *self._options()] if self.settings["backend"] != "cpu" else self._options()
        )
        steps.append(link_step(self.settings, objects, shown(self.program), libraries, linked))
        return steps

    def _steps_of_cpu(self, number, compiler, arguments, compiled):
        source = self.sources[number]
        preprocess = self._words("preprocessor_arguments")
        options = ["--depfile", shown(self.depfiles[number])]
        options += ["--diagnostics", shown(self.diagnostics)]
        options += ["--keep-preprocessed", shown(self.preprocessed(number))]
        if not source.endswith(".cu"):
            options.append("--host")
            preprocess, arguments = _of_host(source, preprocess, arguments)
        else:
            if self.header:
                preprocess = ["-fpch-preprocess", "-include", self.header, *preprocess, *arguments]
            options += self.form.translate_options
            if len(self.sources) > 1 and not self._shares_device_code():
                options.append("--own-device-code")
        translated = shown(self.translated(number))
        return [
            translate_step(
                {**self.settings, "translate": shown(self.settings["translate"])},
                source,
                translated,
                [*preprocess, *self._given()],
                options,
            ),
            [*compiler, *arguments, *self._options(), "-c", translated, "-o", compiled],
        ]

    def _given(self):
        return [*(f"-I{folder}" for folder in self.includes), *self.defines, *self._options()]

    def _options(self):
        """Those for the compiler, as it takes them; of nvcc's it is the compiler of the host code."""
        if self.settings["backend"] == "cpu":
            return self.compiler_options
        escaped = (option.replace(",", "\\,") for option in self.compiler_options)
        shares = ["-rdc=true"] if self.shares_device_code else []
        return [*shares, *(word for option in escaped for word in ("-Xcompiler", option))]

    def _shares_device_code(self):
        """Whether a file names device code of another one, which nvcc takes with -rdc=true."""
        if self.shares_device_code:
            return True
        shared = re.compile(rb"\bextern\s+(?:\"C\"\s*)?__(?:device|constant|managed)__")
        return any(shared.search(pathlib.Path(name).read_bytes()) for name in self.sources)

    def _words(self, name):
        return lines_of(self.settings, self.form.prefix + name)

    def _word(self, name):
        return self.settings.get(self.form.prefix + name, "")


def _of_host(source, preprocess, arguments):
    """The arguments for a file without kernels: without what a .cu has and C++ or C has not."""
    preprocess = [word for word in preprocess if not word.startswith(("-D__CUDA", "-D__NVCC"))]
    place = preprocess.index("-include")
    del preprocess[place : place + 2]
    if source.endswith(".c"):
        arguments = ["cpp-output" if word == "c++-cpp-output" else word for word in arguments]
    return _of_language(source, preprocess), _of_language(source, arguments)


def _of_language(source, arguments):
    """Less what is for C++ alone, if the source is C."""
    of_cpp = ("-std=", "-Wno-volatile") if source.endswith(".c") else ()
    return [word for word in arguments if not word.startswith(of_cpp)]


def translate_step(settings, source, translated, preprocessor_arguments, options=()):
    """The command that preprocesses and rewrites a .cu for the CPU backend, with options of translate.py."""
    compiler = shlex.join(lines_of(settings, "compiler"))
    return [
        sys.executable, settings["translate"], "--compiler", compiler, "--output", translated,
        *options, source, "--", *preprocessor_arguments,
    ]  # fmt: skip


def link_step(settings, objects, program, libraries, arguments=()):
    """The command that links a program."""
    compiler = lines_of(settings, "compiler")
    return [*compiler, *arguments, *objects, "-o", program, *libraries]


def _libraries(settings, form):
    return [item for name in form.libraries for item in lines_of(settings, name)]


def settings_with_libraries(place, *forms, targets=()):
    """The settings of today's meson.build, with all up to date that programs are made from.

    `targets` are built with them.
    """
    settings = settings_of(place.folder)
    while True:
        inputs = [*targets]
        for form in forms:
            inputs += _libraries(settings, form)
            inputs += lines_of(settings, form.prefix + "merge_reports")
            if settings.get(form.prefix + "precompiled_header"):
                inputs.append(settings[form.prefix + "precompiled_header"] + ".gch")
        folder = place.folder.resolve()
        names = [os.path.relpath(folder / path, folder) for path in dict.fromkeys(inputs)]
        build(place, names, "the libraries")
        # Ninja runs Meson again if a meson.build has changed, and it may name other libraries.
        before, settings = settings, settings_of(place.folder)
        if settings == before:
            return settings


def settings_of_toolkit(place, form):
    """The settings, with all up to date that bin/nvcc compiles and links with in this form."""
    while True:
        settings = settings_of(place.folder)
        header = settings.get(form.prefix + "precompiled_header")
        paths = [settings["toolkit"], *([header + ".gch"] if header else [])]
        build(
            place, [os.path.relpath(path, place.folder.resolve()) for path in paths], "the toolkit"
        )
        if settings_of(place.folder) == settings:
            return settings


def link_arguments_of(folder, names=("libpng",)):
    """What Meson found out about linking libraries of others: those that ours need, or these."""
    return [
        word
        for item in introspection(folder, "dependencies")
        if item["name"] in names
        for word in item["link_args"]
    ]


def _kernel():
    """What a kernel is to be marked with, so that it fuses products and sums if the processor can."""
    try:
        has_fma = re.search(r"^flags\b.*\bfma\b", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    except OSError:
        has_fma = False
    return '__attribute__((__flatten__, __target__("fma")))' if has_fma else KERNEL


def _time_of(path):
    return path.stat().st_mtime_ns


def _state(path):
    """Changes when the file's content does; None if there is no file.

    Of what Ninja alone writes, the time of writing will do: a precompiled header is large, and a library of
    ours may be an archive that only names its objects.
    """
    try:
        if path.endswith((".gch", ".a")):
            return os.stat(path).st_mtime_ns
        return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
    except OSError:
        return None


def prerequisites(depfile):
    """The files that a compiler's dependency file names."""
    text = os.fsdecode(depfile.read_bytes()).replace("\\\n", " ")
    rule = re.split(r":\s", text, maxsplit=1)[1]
    words = re.findall(r"(?:\\ |\S)+", rule)
    return [re.sub(r"\\([ #])", r"\1", word).replace("$$", "$") for word in words]
