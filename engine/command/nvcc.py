# SPDX-License-Identifier: MIT
"""bin/nvcc: objects and programs for the CPU backend, made as nvcc is asked to make them.

An object is the host compiler's, of the translated source, in one of two forms: ordinary, or for the race
checker under `cudacheck -- COMMAND`. It asks the linker for the form of the library that it needs
(engine/toolkit/make_toolkit.py), so that any command may link it.
"""

import argparse
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

from engine.command.build_folder import lines_of
from engine.command.compiler_messages import readable
from engine.command.cudacheck import configured
from engine.command.errors import CommandError
from engine.command.nvcc_options import Options
from engine.command.output import CUDACHECK, remark_lines, say, set_invocation
from engine.command.processes import watch
from engine.command.recipe import (
    CONCURRENT,
    SCHEDULED,
    prerequisites,
    settings_of_toolkit,
    translate_step,
)
from engine.command.started_programs import BUILT, EACH_PROGRAM

VERSION = """\
nvcc: NVIDIA (R) Cuda compiler driver
(No: this is nvcc of cudacheck, for the CPU. Build systems look for that line.)
Cuda compilation tools, release 13.0, V13.0.88"""
USAGE = (
    "usage: nvcc [options] FILE ..., with nvcc's own options; there is no GPU, so some mean nothing"
)
# What each object says; see started_program.cpp.
MARK = (
    '\nextern "C" {{ extern const char cudacheck_runtime, {form};\n'
    "[[gnu::weak]] extern const char* const cudacheck_objects[] = {{&cudacheck_runtime, &{form}}}; }}\n"
)
FORMS = {
    "ordinary": (CONCURRENT, "compiled_without_cudacheck"),
    "checked": (SCHEDULED, "cudacheck_checked_runtime"),
}
WITHOUT = ("-Wall", "-Wextra")  # a project asks for the warnings that it wants
LANGUAGES = {"cu": ".cu", "c++": ".cpp", "c": ".c"}


class Failed(Exception):
    """A step has failed, and has said why."""


class Driver:
    def __init__(self, options):
        self.options = options
        self.form_name = "checked" if os.environ.get(EACH_PROGRAM) else "ordinary"
        self.form, self.mark = FORMS[self.form_name]
        if self.form_name == "checked":
            pathlib.Path(os.environ[EACH_PROGRAM]).with_name(BUILT).touch()
        self.settings = settings_of_toolkit(configured(argparse.Namespace(build=None)), self.form)
        self.toolkit = pathlib.Path(self.settings["toolkit"]).with_suffix("")
        compiler = lines_of(self.settings, "compiler")
        self.compiler = shlex.split(options.last("ccbin", "")) or compiler
        if os.path.isdir(self.compiler[0]):
            self.compiler = [os.path.join(self.compiler[0], os.path.basename(compiler[0]))]

    def run(self):
        options = self.options
        if options.has("dryrun", "v"):
            self.say_variables()
        if options.other_files:
            raise CommandError(f"{options.other_files[0]}: that is neither a source nor an object.")
        if options.has("dryrun"):
            say_step(self.link_command(["a.o"], options.last("o", "a.out"), ["a.o"]))
            return 0
        if options.has("toolkit"):  # for build systems that ask for CUDA_PATH
            say(str(self.toolkit))
            return 0
        if not options.inputs and not options.linker:
            raise CommandError("no file is named; nvcc --help says more.")
        if options.has("dlink"):  # the linker of the host does it all
            return self.step(
                [*self.compiler, "-x", "c", "-c", os.devnull, "-o", options.last("o", "a_dlink.o")]
            )
        with tempfile.TemporaryDirectory(prefix="lab-nvcc-") as folder:
            self.folder = pathlib.Path(folder)
            if options.has("E", "M", "MM"):
                return max(self.preprocess(number) for number in range(len(options.inputs)))
            if options.has("c", "dc"):
                if options.last("o") and len(options.inputs) > 1:
                    raise CommandError("-c with -o takes one source.")
                for number, (path, _) in enumerate(options.inputs):
                    stem = pathlib.Path(path).stem
                    place = pathlib.Path(options.last("odir", "")) / f"{stem}.o"
                    self.compile(number, options.last("o", str(place)))
                return 0
            objects = [f"{self.folder}/{number}.o" for number in range(len(options.inputs))]
            for number, path in enumerate(objects):
                self.compile(number, path)
            program = options.last("o", "a.out")
            sources = [path for path, _ in options.inputs]
            self.step(self.link_command(objects, program, sources), shows=options.has("v"))
        if options.has("run"):
            return subprocess.run([os.path.abspath(program)], check=False).returncode
        return 0

    def say_variables(self):
        root = self.toolkit
        for line in (
            f"TOP={root}",
            f"NVVMIR_LIBRARY_DIR={root}/nvvm/libdevice",
            f"PATH={root}/bin:{os.environ.get('PATH', os.defpath)}",
            f"LIBRARIES={self.library_words()}",
            f'INCLUDES="-I{root}/include"  ',
            "CUDAFE_FLAGS=",
            "cicc -arch compute_75",  # which build systems take for the default
        ):
            print(f"#$ {line}", file=sys.stderr)

    def library_words(self):
        return f'"-L{self.toolkit}/lib64"'

    def link_command(self, objects, program, sources):
        made = dict(zip(sources, objects))
        words = [made.get(word, word) for word in self.options.linker] or objects
        shared = ["-shared"] if self.options.has("shared") else []
        libraries = [
            f"-L{self.toolkit}/lib64",
            "-lcudadevrt",
            "-lcudart_static",
            "-lrt",
            "-lpthread",
            "-ldl",
        ]
        return [*self.compiler, *shared, *self.options.host, *words, "-o", program, *libraries]

    def step(self, command, shows=False):
        """Runs it; what it says is shown as a student sees it."""
        if shows or self.options.has("v"):
            say_step(command)
        printed = []
        code = watch(command, printed.append)
        if not self.options.has("w") or code:
            remark_lines(readable(printed))
        if code:
            raise Failed
        return 0

    def language(self, number):
        path, language = self.options.inputs[number]
        ending = LANGUAGES.get(language, pathlib.Path(path).suffix)
        if not os.path.isfile(path):
            raise CommandError(f"there is no file {path}.")
        return ending

    def source(self, number):
        """The file, under a name that ends as its language's do."""
        path, _ = self.options.inputs[number]
        return path

    def words_of(self, name):
        words = lines_of(self.settings, self.form.prefix + name)
        return [word for word in words if word not in WITHOUT]

    def host_words(self):
        """Of the ordinary form; what the race checker's is compiled with is its own."""
        options, words = self.options, [*self.options.host]
        if options.has("g"):
            words.append("-g")
        if self.form_name == "ordinary" and options.last("O"):
            words.append(f"-O{options.last('O')}")
        words += ["-w"] if options.has("w") else []
        return words

    def compile(self, number, result):
        source, ending = self.source(number), self.language(number)
        depfile = self.folder / f"{number}.d"
        if ending != ".cu":
            self.compile_for_host(source, ending, result)
            return
        translated = self.folder / f"{number}.cpp"
        options = [*self.form.translate_options, "--depfile", str(depfile)]
        if not self.options.has("dc") and self.options.last("rdc", "false") != "true":
            options.append("--own-device-code")
        self.step(
            translate_step(
                {**self.settings, "compiler": "\n".join(self.compiler)},
                source,
                str(translated),
                [
                    *self.preprocessor_words(),
                    *self.options.of_preprocessor(),
                    *self.host_words(),
                    "-Wno-invalid-pch",  # the header's text will do
                ],
                options,
            )
        )
        with translated.open("a", encoding="utf-8") as file:
            file.write(MARK.format(form=self.mark))
        made = self.folder / f"{number}.made"
        arguments = [*self.words_of("compile_arguments"), *self.host_words()]
        self.step([*self.compiler, *arguments, "-c", str(translated), "-o", str(made)])
        # Here --wrap has its effect, since any other command may link the program.
        wrapped = [word for word in self.words_of("link_arguments") if "--wrap=" in word]
        self.step([*self.compiler, "-r", "-nostdlib", *wrapped, str(made), "-o", result])
        if self.options.has("MD", "MMD"):
            path = self.options.last("MF", str(pathlib.Path(result).with_suffix(".d")))
            pathlib.Path(path).write_text(self.rule(depfile, result), encoding="utf-8")

    def preprocessor_words(self):
        words = self.words_of("preprocessor_arguments")
        header = self.settings.get(self.form.prefix + "precompiled_header")
        if not header:
            return words
        return ["-fpch-preprocess", "-include", header, *words, *self.words_of("compile_arguments")]

    def compile_for_host(self, source, ending, result):
        options = self.options
        language = ["-x", "c" if ending == ".c" else "c++"]
        standard = [f"-std={options.last('std')}"] if options.last("std") and ending != ".c" else []
        files = [word for name in ("MD", "MMD", "MP") if options.has(name) for word in [f"-{name}"]]
        for name in ("MF", "MT", "MQ"):
            files += [f"-{name}", options.last(name)] if options.last(name) else []
        level = [f"-O{options.last('O')}"] if options.last("O") else []
        words = [
            *standard,
            *level,
            *options.of_preprocessor(),
            f"-I{self.toolkit}/include",
            *options.host,
        ]
        debug = ["-g"] if options.has("g") else []
        self.step([*self.compiler, *words, *debug, *files, *language, "-c", source, "-o", result])

    def preprocess(self, number):
        """-E, -M, -MM: to -o, or stdout."""
        options, source, ending = self.options, self.source(number), self.language(number)
        if ending == ".cu":
            words = [
                *self.words_of("preprocessor_arguments"),
                *options.of_preprocessor(),
                *self.host_words(),
            ]
        else:
            words = [*options.of_preprocessor(), f"-I{self.toolkit}/include", *options.host]
        which = next(name for name in ("MM", "M", "E") if options.has(name))
        target = ["-MT", options.last("MT")] if options.last("MT") else []
        output = ["-o", options.last("o")] if options.last("o") else []
        command = [*self.compiler, *words, f"-{which}", *target, "-x", "c++", source, *output]
        return subprocess.run(command, check=False).returncode

    def rule(self, depfile, result):
        target = self.options.last("MT") or self.options.last("MQ") or result
        files = [name.replace("$", "$$").replace(" ", "\\ ") for name in prerequisites(depfile)]
        phony = "".join(f"{name}:\n" for name in files[1:]) if self.options.has("MP") else ""
        return f"{target}: " + " \\\n  ".join(files) + "\n" + phony


def say_step(command):
    print(
        "#$ " + " ".join(f'"{word}"' if os.sep in word else word for word in command),
        file=sys.stderr,
    )


def act(words):
    options = Options(words)
    if options.has("V"):
        say(VERSION)
        return 0
    if options.has("h"):
        say(USAGE)
        return 0
    if options.has("run") and options.inputs and not options.inputs[0][0].endswith((".cu", ".cpp")):
        return subprocess.run([options.inputs[0][0].strip('"')], check=False).returncode
    return Driver(options).run()


def main(words):
    """Does what the words say; returns the exit code."""
    set_invocation(CUDACHECK._replace(name="nvcc", typed="nvcc"))
    try:
        return act(words)
    except CommandError as problem:
        print(f"nvcc: {problem.sentence}", file=sys.stderr)
    except Failed:
        pass
    except OSError as error:
        print(f"nvcc: {error.filename or 'a temporary file'}: {error.strerror}.", file=sys.stderr)
    return 1
