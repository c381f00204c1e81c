# SPDX-License-Identifier: MIT
"""Which tests a change can reach.

What a test depends on is what its programs are built from (Ninja's graph), what its Python file imports
(the import graph), and what it has read when it last passed in this build folder (its record, which
engine/testing/record_inputs.py writes). A test without a record is reached by every change, and a file
that none of the three knows reaches every test.
"""

import os
import pathlib
from typing import NamedTuple, Optional

from engine.command.build_folder import introspection
from lab_tool.paths import ROOT
from lab_tool.testing.dependency_graphs import ImportGraph, NinjaGraph
from lab_tool.testing.test_selection import script_of, targets_of

COMPILED = (".cu", ".cuh", ".cpp", ".hpp", ".h")
HEADERS = (".cuh", ".hpp", ".h")


class Reached(NamedTuple):
    """The tests that a change reaches."""

    tests: list[dict]
    because_of: Optional[str]  # the file because of which these are all tests
    without_record: set[str]  # names of those taken only because nothing is known of what they read


class Record(NamedTuple):
    """What a test has read, by engine/testing/record_inputs.py."""

    files: set[str]
    folders: set[str]
    headers: set[str]
    trees: set[str]
    listings: set[str]  # folders of which it knows all names below them

    def has_read(self, path):
        return (
            path in self.files
            or any(_is_in(path, folder) for folder in self.trees)
            or (_is_header(path) and any(_is_in(path, folder) for folder in self.headers))
        )

    def knows_name(self, path):
        return any(_is_in(path, folder) for folder in self.listings)


class Reach:
    """The graphs of a build folder, and the question which of its tests they lead to."""

    def __init__(self, folder, ninja, tests, files, root=ROOT):
        """`files` are those of the tree, as paths from the root."""
        self.tests = tests
        self.graph = graph = NinjaGraph(folder, ninja, root)
        imports = ImportGraph(root, files)
        self.of_build = graph.sources_of(["build.ninja"]).paths
        targets = introspection(folder, "targets")
        self.sources = {}  # of each test, with what it imports
        self.records = {}  # of the tests that have one
        self.unknown_headers = set()
        for test in tests:
            name = test["name"]
            built = graph.sources_of(targets_of([test], folder, targets))
            script = script_of(test)
            imported = set()
            if script:
                path = os.path.relpath(os.path.realpath(script), os.path.realpath(root))
                imported = imports.closure(path)
                self.records[name] = read_record(folder, name, pathlib.Path(script))
            self.sources[name] = built.paths | imported
            if built.is_incomplete:
                self.unknown_headers.add(name)

    def reached_by(self, changes):
        """The tests that a Changes can reach."""
        if not changes.files:
            return Reached([], None, set())
        names = set()
        for path in sorted(changes.files):
            known = (
                None
                if path in self.of_build
                else self._that_know(path, path in changes.come_or_gone)
            )
            if not known:
                return Reached(list(self.tests), path, set())
            names |= known
        unknown = {name for name, record in self.records.items() if record is None}
        if any(path.endswith(COMPILED) or "." not in path for path in changes.files):
            unknown |= self.unknown_headers
        reached = [test for test in self.tests if test["name"] in names | unknown]
        return Reached(reached, None, unknown - names)

    def _that_know(self, path, has_come_or_gone):
        """The names of the tests that depend on the file, or would see that it has come or gone."""
        known = {name for name, sources in self.sources.items() if path in sources}
        records = {name: record for name, record in self.records.items() if record}
        known |= {name for name, record in records.items() if record.has_read(path)}
        if has_come_or_gone:
            known |= {name for name, record in records.items() if record.knows_name(path)}
        folder = path
        listing = set()
        while has_come_or_gone and folder and not listing:  # the nearest one that had been there
            folder = os.path.dirname(folder)
            listing = {name for name, of in records.items() if (folder or ".") in of.folders}
        return known | listing


def read_record(folder, name, script):
    """The Record of a test, or None if it has not passed in this build folder as it is now."""
    file = folder / "test_inputs" / name
    try:
        if script.stat().st_mtime_ns > file.stat().st_mtime_ns:
            return None
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    found = {kind: set() for kind in ("file", "folder", "headers", "tree", "names")}
    for line in lines:
        kind, path = line.split("\t", 1)
        found[kind].add(path)
    return Record(*found.values())


def _is_in(path, folder):
    return folder == "." or path.startswith(folder + "/")


def _is_header(path):
    return path.endswith(HEADERS) or "." not in os.path.basename(path)
