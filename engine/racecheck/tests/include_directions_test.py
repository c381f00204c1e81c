# SPDX-License-Identifier: MIT
"""The folders of engine/racecheck include each other in one direction, and no file reaches back.

docs/internals/racecheck.md draws the directions.
"""

import re

from this_build import ROOT

SOURCES = ROOT / "engine/racecheck"

# Each folder may include itself and those before it.
FOLDERS = ["order", "memory", "events", "races", "report"]

INCLUDE = re.compile(r'^\s*#\s*include\s*"racecheck/([^"]+)"', re.MULTILINE)


def includes_of(folder):
    """{file: files of racecheck that it includes}, as paths relative to the folder; no tests."""
    files = {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*.[ch]pp"))}
    return {
        name: INCLUDE.findall(path.read_text(encoding="utf-8"))
        for name, path in files.items()
        if not name.startswith("tests/")
    }


def wrong_directions(includes):
    """The includes that lead from one folder to a later one, or to none of them."""
    wrong = []
    for file, included in includes.items():
        allowed = FOLDERS[: FOLDERS.index(file.split("/")[0]) + 1]
        wrong += [
            f"{file} includes {each}" for each in included if each.split("/")[0] not in allowed
        ]
    return wrong


def find_cycle(includes):
    """A cycle of headers with their .cpp files, as the list of its names; None if there is none."""
    leads_to = {}
    for file, included in includes.items():
        name = file.rsplit(".", 1)[0]
        others = {each.rsplit(".", 1)[0] for each in included} - {name}
        leads_to.setdefault(name, set()).update(others)
    done = set()

    def search(name, path):
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return None
        for other in sorted(leads_to.get(name, ())):
            if cycle := search(other, [*path, name]):
                return cycle
        done.add(name)
        return None

    return next(filter(None, (search(name, []) for name in sorted(leads_to))), None)


def test_every_source_is_in_one_of_the_folders():
    found = {file.split("/")[0] for file in includes_of(SOURCES)}
    assert found == set(FOLDERS)


def test_folders_include_in_one_direction():
    assert wrong_directions(includes_of(SOURCES)) == []


def test_no_file_reaches_back():
    assert find_cycle(includes_of(SOURCES)) is None


def test_a_wrong_direction_is_noticed():
    includes = {"events/log.cpp": ["memory/cell.hpp", "races/checker.hpp", "checker.hpp"]}
    assert wrong_directions(includes) == [
        "events/log.cpp includes races/checker.hpp",
        "events/log.cpp includes checker.hpp",
    ]


def test_a_cycle_is_noticed():
    includes = {
        "races/checker.hpp": ["races/log.hpp"],
        "races/checker.cpp": ["races/checker.hpp"],
        "races/log.hpp": [],
        "races/log.cpp": ["races/log.hpp", "races/checker.hpp"],
    }
    assert find_cycle(includes) == ["races/checker", "races/log", "races/checker"]
