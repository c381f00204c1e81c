# SPDX-License-Identifier: MIT
"""The three houses and their arrows: the engine knows neither the grader nor the course, the grader knows
the engine's command and prover and exercise folders, and the course knows both.

Looked at are includes of C++, imports of Python, programs that are started, paths in Python and in
Meson's files. The grader's tests judge the course's own exercises, so they may know the course.
"""

import ast
import re
import subprocess
import unittest

from this_build import ROOT

HOUSES = ("engine", "grader", "course")
MAY_KNOW = {"engine": {"engine"}, "grader": {"engine", "grader"}, "course": set(HOUSES)}
OF_THE_COURSE = ("chapters", "common", "docs", "lab_tool", "tests")
READ = (".py", "meson.build")
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
C_SUFFIXES = {".cpp", ".cu", ".cuh", ".h", ".hpp", ".inc"}
CUDA_HEADERS = "engine/cpu_backend/include/"  # some have no suffix
CATALOGUE = "grader/exercises/catalogue.py"  # where exercise folders are
# Of a text in Python or of Meson: a path into the course, its command or its package.
PATH_TO_COURSE = re.compile(
    r"(?<![\w./])(?:\.\./)*(?:chapters|common|docs|lab_tool)/|\.\./(?:chapters|common|docs|lab_tool)$"
    r"|\blab_tool\.|^lab$|\./lab\b"
)
PATH_TO_CHAPTERS = re.compile(r"(?<![\w./])(?:\.\./)*chapters/|\.\./chapters$")
OF_ENGINE_UNKNOWN_TO_GRADER = re.compile(r"engine\.(?!(?:command|prove)\b)")
PATH_TO_GRADER = re.compile(r"(?<![\w./])(?:\.\./)*grader/|\bgrader\.(?!json)")


def is_of_cpp(path):
    return path.endswith(tuple(C_SUFFIXES)) or path.startswith(CUDA_HEADERS)


def is_of_python(path, text):
    return path.endswith(".py") or (text.startswith("#!") and "python" in text.split("\n", 1)[0])


def house_of(path):
    """The house of a file, by its path from the root."""
    top = str(path).split("/")[0]
    return top if top in ("engine", "grader") else "course"


def files_of_the_tree():
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split("\0")  # fmt: skip
    return [path for path in listed if path and (ROOT / path).is_file()]


def house_of_include(name):
    """The house of what an include names from one of the include folders; None if it is not ours."""
    for house, folders in {
        "engine": ("engine", "engine/cpu_backend/include"),
        "grader": ("grader",),
        "course": ("common", "chapters"),
    }.items():
        if any((ROOT / folder / name).is_file() for folder in folders):
            return house
    return None


def house_of_module(name):
    top = name.split(".")[0]
    if top in ("engine", "grader"):
        return top
    return "course" if top in OF_THE_COURSE else None


def strings_and_imports(text):
    """The texts of a Python file, less its documentation, and the modules that it imports."""
    tree = ast.parse(text)
    documentation = set()
    texts, imports = [], []
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                documentation.add(first.value)
        if isinstance(node, ast.Import):
            imports += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            imports.append(node.module)
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and node not in documentation:
            texts.append(node.value)
    return texts, imports


def wrong_arrows(path, text):
    """What a file knows of a house that its own house may not know, as sentences."""
    house = house_of(path)
    may_know = MAY_KNOW[house]
    found = []
    if is_of_cpp(path):
        for name in INCLUDE.findall(text):
            if house_of_include(name) not in (None, *may_know):
                found.append(f"{path} includes {name}")
    if is_of_python(path, text):
        texts, imports = strings_and_imports(text)
        for name in imports:
            is_unknown = house_of_module(name) not in (None, *may_know)
            if is_unknown or (house == "grader" and OF_ENGINE_UNKNOWN_TO_GRADER.match(name)):
                found.append(f"{path} imports {name}")
        found += _wrong_texts(path, texts, house)
    if path.endswith("meson.build"):
        words = re.findall(r"'([^']*)'", re.sub(r"#.*", "", text))
        found += _wrong_texts(path, words, house)
    return found


def _wrong_texts(path, texts, house):
    if house == "course":
        return []
    patterns = {
        "engine": (PATH_TO_COURSE, PATH_TO_GRADER),
        "grader": (
            re.compile(r"\blab_tool[./]"),
            *([] if path == CATALOGUE else [PATH_TO_CHAPTERS]),
        ),
    }
    return [
        f"{path} names {text!r}"
        for text in texts
        if any(pattern.search(text) for pattern in patterns[house])
    ]


class Houses(unittest.TestCase):
    def test_no_arrow_is_wrong(self):
        files = [path for path in files_of_the_tree() if not path.startswith("grader/tests/")]
        self.assertGreater(len(files), 1000)
        wrong = []
        for path in files:
            if "." not in path.split("/")[-1] or is_of_cpp(path) or path.endswith(READ):
                wrong += wrong_arrows(path, (ROOT / path).read_text(encoding="utf-8"))
        self.assertEqual(wrong, [])

    def test_each_wrong_arrow_is_found(self):
        for path, text in {
            "engine/cpu_backend/a.cpp": '#include "lab/device.hpp"\n',
            "engine/racecheck/a.hpp": '#include "runner/runner.hpp"\n',
            "grader/runner/a.cu": '#include "lab/check.cuh"\n',
            "engine/command/a.py": "from lab_tool.paths import ROOT\n",
            "engine/command/b.py": "import grader.paths\n",
            "engine/tests/c.py": 'PROGRAM = ROOT / "lab"\n',
            "engine/tests/d.py": 'SOURCE = ROOT / "chapters/01_vector_add/vector_add.cu"\n',
            "engine/meson.build": "subdir('../common/lab')\n",
            "grader/judging/a.py": "from lab_tool.chapters import all_chapters\n",
            "grader/judging/b.py": 'command = [python, "-m", "lab_tool.grading.slurm_batch"]\n',
            "grader/judging/c.py": "from engine.translate.refusals import SENTENCES\n",
            "grader/judging/d.py": 'HEADERS = ROOT / "chapters/02_shared_memory_dot_product"\n',
            "grader/runner/meson.build": "subdir('../../chapters')\n",
            "engine/cpu_backend/include/cuda/atomic": '#include "lab/device.hpp"\n',
            "engine/cudacheck": "#!/usr/bin/env python3\nfrom lab_tool import command_line\n",
            "engine/command/e.py": 'say_next("./lab racecheck")\n',
        }.items():
            with self.subTest(path=path):
                self.assertEqual(len(wrong_arrows(path, text)), 1)

    def test_right_arrows_are_none(self):
        for path, text in {
            "engine/cpu_backend/a.cpp": '#include "racecheck/races/checker.hpp"\n#include <vector>\n',
            "grader/runner/a.cu": '#include "checked_runtime/check.cuh"\n',
            "grader/judging/a.py": "from engine.command.paths import shown\n",
            "chapters/01_vector_add/a.cu": '#include "lab/device.hpp"\n',
            "lab_tool/a.py": "from grader.paths import ROOT\nfrom engine.command import output\n",
        }.items():
            with self.subTest(path=path):
                self.assertEqual(wrong_arrows(path, text), [])
