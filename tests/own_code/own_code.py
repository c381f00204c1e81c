# SPDX-License-Identifier: MIT
"""What docs/use says about each piece, and compiling it without the course's folders."""

import json
import pathlib
import re
import shlex
import shutil
import tempfile
import unittest
from typing import NamedTuple

from engine.command.build_folder import lines_of
from engine.command.recipe import translate_step
from lab_tool.builds.backends import put_nvcc_on_path
from test_setup import printed
from this_build import BUILD, ROOT

put_nvcc_on_path()

SETTINGS = json.loads((BUILD / "single_file.json").read_text(encoding="utf-8"))

needs_cpu_backend = unittest.skipUnless(SETTINGS["backend"] == "cpu", "this build is for a GPU")
needs_racecheck = unittest.skipUnless(
    SETTINGS.get("racecheck_libraries"), "this build has no race checker"
)
needs_nvcc = unittest.skipUnless(shutil.which("nvcc"), "nvcc is not here")


class Page(NamedTuple):
    """A page of docs/use: which files it says to copy, its example, and the C++ that they need."""

    name: str
    headers: list
    example: object
    standard: str


def pages():
    """Every page about a piece; README.md is about all of them."""
    found = []
    for path in sorted((ROOT / "docs/use").glob("*.md")):
        if path.name == "README.md":
            continue
        text = path.read_text(encoding="utf-8")
        to_copy = text.partition("\n## Copy\n")[2].partition("\n## ")[0]
        headers = [
            (path.parent / link).resolve() for link in re.findall(r"\]\(([^)]+\.cuh)\)", to_copy)
        ]
        (standard,) = set(re.findall(r"`-std=(c\+\+\d+)`", text))
        found.append(Page(path.stem, headers, path.with_name(f"{path.stem}_example.cu"), standard))
    return found


def for_each_page(check):
    """Makes check(self, page, folder) a test of all pages; the folder has the page's files."""

    def test(self):
        self.assertTrue(pages())
        for page in pages():
            with self.subTest(page=page.name), tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                for path in (*page.headers, page.example):
                    shutil.copy(path, folder)
                check(self, page, folder)

    return test


def write_sources_of(page, folder):
    """For each header of the page the page's example, after a first line that includes the header.

    So the header stands alone, and is included twice. Returns the files' names.
    """
    names = []
    for header in page.headers:
        name = f"{header.stem}_first.cu"
        text = f'#include "{header.name}"\n' + page.example.read_text(encoding="utf-8")
        (folder / name).write_text(text, encoding="utf-8")
        names.append(name)
    return names


def run(command, folder, **environment):
    """Exit code, and all that was printed."""
    result = printed(command, cwd=folder, env=environment or None, timeout=900)
    return result.returncode, result.stdout


def compile_for_cpu(source, folder):
    """Compiles a .cu as `lab run` does, but warnings are errors and no folder of chapters is known.

    Returns the messages, "" if all is well, and the paths of all that it includes.
    """

    preprocess = lines_of(SETTINGS, "preprocessor_arguments")
    preprocess = [word for word in preprocess if "/chapters" not in word]
    arguments = [*lines_of(SETTINGS, "compiler"), *lines_of(SETTINGS, "compile_arguments")]
    steps = (
        translate_step(SETTINGS, source, "out.cpp", preprocess, ["--depfile", "out.d"]),
        [*arguments, "-Werror", "-c", "out.cpp", "-o", "out.o"],
    )
    for step in steps:
        code, printed = run(step, folder)
        if code != 0 or printed:
            return f"{shlex.join(step)}\n{printed}", []
    return "", (folder / "out.d").read_text(encoding="utf-8").replace("\\\n", " ").split()


def compile_with_nvcc(source, folder, standard):
    """The messages of nvcc, for the oldest architecture that it knows; "" if all is well."""
    architectures = run(["nvcc", "--list-gpu-code"], folder)[1]
    oldest = re.findall(r"sm_(\d+)\b", architectures)[0]
    command = [
        "nvcc", f"-std={standard}", "-O3", f"-arch=sm_{oldest}", "-Werror=all-warnings",
        "-Xcompiler=-Wall,-Wextra,-Werror", "-c", source, "-o", "out.o",
    ]  # fmt: skip
    code, printed = run(command, folder)
    return f"{shlex.join(command)}\n{printed}" if code != 0 or printed else ""
