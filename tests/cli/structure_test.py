# SPDX-License-Identifier: MIT
"""The shape of what is in Python: no import cycle, no package needed, verbs that describe themselves."""

import ast
import os
import re
import sys
import unittest

from engine.command.arguments import parser_of
from lab_tool.command_line import VERBS, load, overview
from test_setup import captured
from this_build import ROOT

MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for house in ("engine/command", "engine/prove", "grader", "lab_tool")
    for path in ROOT.glob(f"{house}/**/*.py")
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


class Modules(unittest.TestCase):
    def test_no_import_cycle(self):
        arrows = {
            module: imports_of(path) - {module, "engine.command", "grader", "lab_tool"}
            for module, path in MODULES.items()
        }
        self.assertEqual(cycle_in(arrows), [])

    def test_a_cycle_is_found(self):
        self.assertEqual(cycle_in({"a": {"b"}, "b": {"c"}, "c": {"b"}}), ["b", "c"])
        self.assertEqual(cycle_in({"a": {"b", "c"}, "b": {"c"}, "c": set()}), [])

    def test_the_standard_library_alone(self):
        for module, path in MODULES.items():
            for node in ast.walk(ast.parse(text_of(path))):
                names = []
                if isinstance(node, ast.Import):
                    names = [alias.name for alias in node.names]
                elif isinstance(node, ast.ImportFrom):
                    names = [node.module]
                for name in names:
                    top = name.split(".")[0]
                    known = (
                        top in ("engine", "grader", "lab_tool") or top in sys.stdlib_module_names
                    )
                    self.assertTrue(known, f"{module} imports {name}")


class Launcher(unittest.TestCase):
    def test_is_short(self):
        self.assertLessEqual(len(text_of(ROOT / "lab").splitlines()), 20)

    def test_an_old_python_is_refused_in_one_sentence(self):
        program = text_of(ROOT / "lab").replace("import sys\n", "import sys\n" + OLD, 1)
        result = captured(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env={**os.environ, "PATH": "/nowhere"},  # else a newer one that is there is taken
        )
        sentence = "lab: this is Python 3.8, and 3.9 or newer is needed.\n"
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertEqual(result.stderr, sentence)


OLD = "sys.version_info = (3, 8, 0)\n"


class Help(unittest.TestCase):
    def test_overview_fits_on_a_screen_and_names_every_verb(self):
        lines = overview().splitlines()
        self.assertLessEqual(len(lines), 24)
        self.assertLess(max(map(len, lines)), 80)
        for name in VERBS:
            self.assertRegex(overview(), rf"(?m)^  {name} +\w")

    def test_every_verb_describes_itself(self):
        for name in VERBS:
            with self.subTest(verb=name):
                verb = load(name)
                text = parser_of(name, verb).format_help()
                self.assertIn(f"usage: ./lab {name}", text)
                self.assertLess(max(map(len, text.splitlines())), 80)
                self.assertGreaterEqual(len(verb.examples), 2)
                for command, _ in verb.examples:
                    self.assertTrue(command.startswith("./lab "))
                    self.assertIn(command, text)
                self.assertEqual([code for code, _ in verb.exit_codes][:2], [0, 1])
                self.assertIn("exit codes:\n  0 ", text)
                for action in parser_of(name, verb)._actions:
                    self.assertTrue(action.help, f"{action.dest} has no help")

    def test_it_loads_no_judge(self):
        """Else each test that starts one of the verbs would be run again after a change of the judge."""
        loads = "from lab_tool.command_line import VERBS, load; all(map(load, VERBS)); import sys; "
        asks = (
            "print(sorted({'grader.judging.judge', 'lab_tool.verbs.exercises'} & set(sys.modules)))"
        )
        result = captured([sys.executable, "-c", loads + asks], cwd=ROOT)
        self.assertEqual(result.stdout, "['lab_tool.verbs.exercises']\n", result.stderr)

    def test_defaults_are_said(self):
        text = parser_of("racecheck", load("racecheck")).format_help()
        for default in ("20", "600", "build-cpu"):
            self.assertRegex(re.sub(r"\s+", " ", text), rf"\(default: [^)]*{default}")
