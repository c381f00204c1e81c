# SPDX-License-Identifier: MIT
"""What tests depend on: Ninja's graph of the build, and the imports of Python files.

A third graph is recorded as the Python tests run: engine/testing/record_inputs.py.
"""

import ast
import os
import re
import subprocess
from typing import NamedTuple

from engine.command.errors import CommandError


class Sources(NamedTuple):
    """The files of the tree from which something is built."""

    paths: set[str]  # from the root
    # Whether it was not built yet, so that only its compiler will know which headers it includes.
    is_incomplete: bool


class NinjaGraph:
    """The build folder's graph, with the headers that the compilers have found."""

    def __init__(self, folder, ninja, root):
        self.folder = os.path.realpath(folder)
        self.root = os.path.realpath(root)
        self.inputs = {}  # of a node, by Ninja's name for the file; steps are nodes, too
        self.steps = {}  # the rule of each step
        listed = _output_of(ninja, folder, "targets", "all").splitlines()
        targets = [line.rpartition(": ")[0] for line in listed]
        self._read_graph(_output_of(ninja, folder, "graph", *targets))
        self.headers = {}  # of what was compiled
        self._read_headers(_output_of(ninja, folder, "deps"))
        with open(os.path.join(folder, "build.ninja"), encoding="utf-8") as file:
            rules = re.findall(r"^rule (\S+)\n((?: .*\n)+)", file.read(), re.M)
        self.compiling = {name for name, lines in rules if re.search(r"^ deps =", lines, re.M)}

    def sources_of(self, targets):
        """The Sources of these targets."""
        found, is_incomplete = set(), False
        for node in self.nodes_of(targets):
            rule = self.steps.get(node)
            if rule is None:
                found.add(self.path_of(node))
            elif rule in self.compiling and node[len("step of ") :] not in self.headers:
                is_incomplete = True
        return Sources(found - {None}, is_incomplete)

    def nodes_of(self, targets):
        """Everything that the targets are made from, themselves too."""
        seen = set()
        waiting = list(targets)
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                waiting += self.inputs.get(node, ())
                waiting += self.headers.get(node, ())
        return seen

    def rule_of(self, output):
        """The rule by which Ninja makes it; None of what it does not make."""
        return self.steps.get(f"step of {output}")

    def path_of(self, node):
        """The path from the root of a file of the tree; None of what lies elsewhere or is built."""
        path = os.path.normpath(os.path.join(self.folder, node))
        if path.startswith(self.folder + "/") or not path.startswith(self.root + "/"):
            return None
        return path[len(self.root) + 1 :]

    def _read_graph(self, text):
        """Of Graphviz's language as Ninja writes it: a file is a box, a step between several an ellipse."""
        names, steps = {}, {}
        for line in text.splitlines():
            node = re.fullmatch(r'"(\w+)" \[label="(.*?)"(, shape=ellipse)?\]', line)
            if node:
                (steps if node[3] else names)[node[1]] = node[2]
        arrows = re.findall(r'^"(\w+)" -> "(\w+)"(?: \[label=" (\S+)"\])?', text, re.M)
        into, out_of = {}, {}
        for start, end, rule in arrows:
            if rule:  # a step from one file to another
                self._add_step(names[end], rule, [names[start]])
            elif start in steps:
                out_of.setdefault(start, []).append(names[end])
            else:
                into.setdefault(end, []).append(names[start])
        for step, rule in steps.items():
            for output in out_of.get(step, ()):
                self._add_step(output, rule, into.get(step, []))

    def _add_step(self, output, rule, inputs):
        step = f"step of {output}"
        self.steps[step] = rule
        self.inputs[output] = [step]
        self.inputs[step] = inputs

    def _read_headers(self, text):
        for part in text.split("\n\n"):
            first, *others = part.strip("\n").split("\n")
            match = re.fullmatch(r"(.*): #deps \d+, deps mtime \d+ \(VALID\)", first)
            if match:
                self.headers[match[1]] = [line.strip() for line in others]


def _output_of(ninja, folder, tool, *words):
    command = [ninja, "-C", str(folder), "-t", tool, *words]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise CommandError(f"Ninja's graph of {folder} can't be read: {result.stderr.strip()}.")
    return result.stdout


class ImportGraph:
    """Which Python files import or start which others, directly or not."""

    def __init__(self, root, files):
        """`files` are all of the tree, as paths from the root."""
        self.root = root
        self.python = {path for path in files if self._is_python(path)}
        self.by_name = {}
        for path in self.python:
            self.by_name.setdefault(os.path.basename(path), set()).add(path)
        self.known = {}

    def closure(self, path):
        """The file itself, and all that it reaches."""
        seen = set()
        waiting = [path]
        while waiting:
            path = waiting.pop()
            if path not in seen:
                seen.add(path)
                waiting += self.reached_by(path)
        return seen

    def reached_by(self, path):
        """The files that this one names: in an import, or in a string by its module or its path."""
        if path not in self.known:
            self.known[path] = self._read(path) if path in self.python else set()
        return self.known[path]

    def _is_python(self, path):
        if path.endswith(".py"):
            return True
        if "." in os.path.basename(path):
            return False
        with open(os.path.join(self.root, path), "rb") as file:
            first = file.readline(80)
        return first.startswith(b"#!") and b"python" in first

    def _read(self, path):
        with open(os.path.join(self.root, path), "rb") as file:
            text = file.read()
        try:
            tree = ast.parse(text)
        except SyntaxError:  # as in a template: it imports nothing until it is filled in
            return set()
        found = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    found |= self._module(path, alias.name.split("."))
            elif isinstance(node, ast.ImportFrom):
                package = path.split("/")[: -node.level] if node.level else []
                module = [*package, *(node.module or "").split(".")] if node.module else package
                for alias in node.names:
                    found |= self._module(path, [*module, alias.name])
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found |= self._named(node.value)
        return found

    def _module(self, path, names):
        """The files of a module and of the packages that it is in; none of one from elsewhere.

        It is looked for from the root, next to the importing file, and then anywhere: whoever
        imports it has put its folder on the path.
        """
        folder = path.split("/")[:-1]
        for start in ([], folder):
            found = self._files_of([*start, *names], len(start))
            if found:
                return found
        endings = ("/".join(names) + ".py", "/".join([*names, "__init__.py"]))
        found = set()
        for ending in endings:
            for candidate in self.by_name.get(os.path.basename(ending), ()):
                if candidate.endswith("/" + ending):
                    found.add(candidate)
        if not found and len(names) > 1:  # `from module import name`
            return self._module(path, names[:-1])
        return found

    def _files_of(self, names, least):
        """As of a dotted name from the root, whose end may be no module but something in one."""
        found = set()
        for count in range(least + 1, len(names) + 1):
            start = "/".join(names[:count])
            found |= {f"{start}.py", f"{start}/__init__.py"} & self.python
        return found

    def _named(self, text):
        if text in self.python:
            return {text}
        if re.fullmatch(r"[a-z]\w*(\.\w+)+", text):
            return self._files_of(text.split("."), 0)
        return set()
