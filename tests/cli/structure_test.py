# SPDX-License-Identifier: MIT
"""The parts and their arrows: the engine knows neither the grader nor the course, the grader knows the
engine's command and prover and exercise folders, and the course knows both. And the shape of what is in
Python: no import cycle, no package needed, verbs that describe themselves.

Looked at are includes of C++, imports of Python, programs that are started, paths in Python and in
Meson's files. The grader's tests judge the course's own exercises, so they may know the course.
"""

import ast
import os
import re
import subprocess
import sys

import pytest

from engine.command.arguments import parser_of
from lab_tool.command_line import FIRST, LAB, VERBS, load, overview
from test_setup import captured
from this_build import ROOT

PARTS = ("engine", "grader", "course")
MAY_KNOW = {"engine": {"engine"}, "grader": {"engine", "grader"}, "course": set(PARTS)}
OF_THE_COURSE = ("chapters", "common", "docs", "lab_tool", "tests")
READ = (".py", "meson.build")
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
C_SUFFIXES = {".cpp", ".cu", ".cuh", ".h", ".hpp", ".inc"}
CUDA_HEADERS = "engine/cpu_backend/include/"  # some have no suffix
CATALOGUE = "grader/exercises/catalogue.py"  # where exercise folders are
# What a text in Python or of Meson names: a path into the course, its command or its package.
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


def part_of(path):
    """The part of a file, by its path from the root."""
    top = str(path).split("/")[0]
    return top if top in ("engine", "grader") else "course"


def files_of_the_tree():
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split("\0")  # fmt: skip
    return [path for path in listed if path and (ROOT / path).is_file()]


def part_of_include(name):
    """The part of what an include names from one of the include folders; None if it is not ours."""
    for part, folders in {
        "engine": ("engine", "engine/cpu_backend/include"),
        "grader": ("grader",),
        "course": ("common", "chapters"),
    }.items():
        if any((ROOT / folder / name).is_file() for folder in folders):
            return part
    return None


def part_of_module(name):
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
    """What a file knows of a part that its own part may not know, as sentences."""
    part = part_of(path)
    may_know = MAY_KNOW[part]
    found = []
    if is_of_cpp(path):
        for name in INCLUDE.findall(text):
            if part_of_include(name) not in (None, *may_know):
                found.append(f"{path} includes {name}")
    if is_of_python(path, text):
        texts, imports = strings_and_imports(text)
        for name in imports:
            is_unknown = part_of_module(name) not in (None, *may_know)
            if is_unknown or (part == "grader" and OF_ENGINE_UNKNOWN_TO_GRADER.match(name)):
                found.append(f"{path} imports {name}")
        found += _wrong_texts(path, texts, part)
    if path.endswith("meson.build"):
        words = re.findall(r"'([^']*)'", re.sub(r"#.*", "", text))
        found += _wrong_texts(path, words, part)
    return found


def _wrong_texts(path, texts, part):
    if part == "course":
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
        if any(pattern.search(text) for pattern in patterns[part])
    ]


def test_no_arrow_is_wrong():
    files = [path for path in files_of_the_tree() if not path.startswith("grader/tests/")]
    assert len(files) > 500
    wrong = []
    for path in files:
        if "." not in path.split("/")[-1] or is_of_cpp(path) or path.endswith(READ):
            wrong += wrong_arrows(path, (ROOT / path).read_text(encoding="utf-8"))
    assert wrong == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        pytest.param(path, text, id=path)
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
        }.items()
    ],
)
def test_each_wrong_arrow_is_found(path, text):
    assert len(wrong_arrows(path, text)) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        pytest.param(path, text, id=path)
        for path, text in {
            "engine/cpu_backend/a.cpp": '#include "racecheck/races/checker.hpp"\n#include <vector>\n',
            "grader/runner/a.cu": '#include "checked_runtime/check.cuh"\n',
            "grader/judging/a.py": "from engine.command.paths import shown\n",
            "chapters/01_vector_add/a.cu": '#include "lab/device.hpp"\n',
            "lab_tool/a.py": "from grader.paths import ROOT\nfrom engine.command import output\n",
        }.items()
    ],
)
def test_right_arrows_are_none(path, text):
    assert wrong_arrows(path, text) == []


MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for part in ("engine/command", "engine/prove", "grader", "lab_tool")
    for path in ROOT.glob(f"{part}/**/*.py")
    # Templates become modules elsewhere, and a test may use what tests are given.
    if not {"templates", "tests"} & set(path.parts)
}


def text_of(path):
    return path.read_text(encoding="utf-8")


def imports_of(path):
    """The modules of ours that the file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(text_of(path))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            # `from package import module` names a module, `from module import name` does not.
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found & set(MODULES)


def cycle_in(arrows):
    """Modules that import one another in a circle, in that order; [] if there are none."""
    finished = set()

    def visit(module, path):
        if module in path:
            return path[path.index(module) :]
        if module not in finished:
            for other in sorted(arrows[module]):
                circle = visit(other, [*path, module])
                if circle:
                    return circle
            finished.add(module)
        return []

    return next(filter(None, (visit(module, []) for module in sorted(arrows))), [])


def test_no_import_cycle():
    arrows = {
        module: imports_of(path) - {module, "engine.command", "grader", "lab_tool"}
        for module, path in MODULES.items()
    }
    assert cycle_in(arrows) == []


def test_a_cycle_is_found():
    assert cycle_in({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c"]
    assert cycle_in({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_the_standard_library_alone():
    for module, path in MODULES.items():
        for node in ast.walk(ast.parse(text_of(path))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module]
            for name in names:
                top = name.split(".")[0]
                known = top in ("engine", "grader", "lab_tool") or top in sys.stdlib_module_names
                assert known, f"{module} imports {name}"


def test_is_short():
    assert len(text_of(ROOT / "lab").splitlines()) <= 20


def test_an_old_python_is_refused_in_one_sentence():
    program = text_of(ROOT / "lab").replace("import sys\n", "import sys\n" + OLD, 1)
    result = captured(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**os.environ, "PATH": "/nowhere"},  # else a newer one that is there is taken
    )
    sentence = "lab: this is Python 3.8, and 3.9 or newer is needed.\n"
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == sentence


OLD = "sys.version_info = (3, 8, 0)\n"


def test_overview_fits_on_a_screen_and_names_every_verb():
    lines = overview().splitlines()
    assert len(lines) < 24  # with the next prompt
    assert max(map(len, lines)) < 80
    for name in VERBS:
        assert re.search(rf"(?m)^(\w+)? +{name} +\w", overview())
    assert re.findall(r"(?m)^\w+ ", overview()) == ["learn ", "teach ", "build ", "What "]


def test_the_first_screen_has_the_verbs_of_a_learner():
    text = LAB.parsed([])[1]
    assert re.findall(r"(?m)^  (\S+) +\w", text) == list(FIRST)
    assert set(FIRST) <= set(VERBS) and len(FIRST) == 7
    assert max(map(len, text.splitlines())) < 80


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_describes_itself(name):
    verb = load(name)
    text = parser_of(name, verb).format_help()
    assert f"usage: ./lab {name}" in text
    assert max(map(len, text.splitlines())) < 80
    assert len(verb.examples) >= 2
    for command, _ in verb.examples:
        assert command.startswith("./lab ")
        assert command in text
    assert [code for code, _ in verb.exit_codes][:2] == [0, 1]
    assert "exit codes:\n  0 " in text
    for action in parser_of(name, verb)._actions:
        assert action.help, f"{action.dest} has no help"


def test_it_loads_no_judge():
    """Else the help of each verb would wait for the judge."""
    loads = "from lab_tool.command_line import VERBS, load; all(map(load, VERBS)); import sys; "
    asks = "print(sorted({'grader.judging.judge', 'lab_tool.verbs.exercises'} & set(sys.modules)))"
    result = captured([sys.executable, "-c", loads + asks], cwd=ROOT)
    assert result.stdout == "['lab_tool.verbs.exercises']\n", result.stderr


def test_defaults_are_said():
    text = parser_of("racecheck", load("racecheck")).format_help()
    for default in ("20", "600", "build-cpu"):
        assert re.search(rf"\(default: [^)]*{default}", re.sub(r"\s+", " ", text))
