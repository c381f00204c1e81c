# SPDX-License-Identifier: MIT
"""Mutants: documented mistakes, each a few lines that are taken out of a source or put into it.

Those of a folder stand in its file mutants.txt:

    ## barrier_after_the_ticket: the barrier after the ticket is left out
    Rejected by: exactly one block is the last, and all its threads know*
    Diagnosis: missing __syncthreads()
    in last_block.cuh
    -  __syncthreads();
       const bool is_last = earlier == expected - 1;

After the name and what is wrong come some lines `Name: value`, then the edits. Lines that begin with `-` are
removed, lines with `+` put in, and lines with a blank stay. The place of an edit is its old lines, which
stand once in the source: an edit of another place breaks no mutant. A line `...` begins another edit of the
same source, and `in FILE` one of another source, named as seen from the folder. An exercise has one source,
which is not named.
"""

import difflib
import re
from typing import NamedTuple, Optional

FILE = "mutants.txt"
TITLE = re.compile(r"## ([a-z0-9_]+): (.+)")
FIELD = re.compile(r"([A-Z][a-z]*(?: [a-z]+)*): (.+)")
CLOSE = 2  # lines; edits with no more between them are one


class Edit(NamedTuple):
    source: Optional[str]  # None: an exercise's own
    lines: tuple  # each with its mark: a blank, - or +


class Mutant(NamedTuple):
    name: str
    fields: dict  # "Mutant" is what is wrong
    edits: tuple

    def text(self):
        """As it stands in mutants.txt."""
        fields = [f"{name}: {value}" for name, value in self.fields.items() if name != "Mutant"]
        lines = [f"## {self.name}: {self.fields['Mutant']}", *fields]
        last = None
        for edit in self.edits:
            if edit.source and (last is None or edit.source != last.source):
                lines.append(f"in {edit.source}")
            elif last is not None:
                lines.append("...")
            lines += edit.lines
            last = edit
        return "".join(f"{line}\n" for line in lines)

    def applied_to(self, text, source=None):
        """The text of a source with the mistake in it.

        Raises AssertionError if an edit's old lines do not stand there once, or two edits change the same.
        """
        lines = text.splitlines()
        changes = []
        for edit in self.edits:
            if edit.source == source:
                changes += _changes(edit.lines, self._place(edit, lines))
        changes.sort(key=lambda change: change[:2])
        for (_, end, _), (begin, _, _) in zip(changes, changes[1:]):
            if end > begin:
                raise AssertionError(f"{self.name} does not apply: two edits change the same line")
        for begin, end, new in reversed(changes):
            lines[begin:end] = new
        return "".join(f"{line}\n" for line in lines)

    def _place(self, edit, lines):
        old = [line[1:] for line in edit.lines if line[0] != "+"]
        places = _places(old, lines)
        if len(places) != 1:
            raise AssertionError(
                f"{self.name} does not apply: its old lines {old!r} stand {len(places)} times in the source"
            )
        return places[0]


def read_mutants(path, required):
    """The mutants of a file, none if it is not there.

    Raises AssertionError if a line does not fit the format, a name stands twice, or a mutant has no edit or
    lacks one of the required fields.
    """
    mutants = {}
    for number, line in enumerate(_lines_in(path), 1):
        place = f"{path}:{number}"
        if title := TITLE.fullmatch(line):
            name, fields, edits = title[1], {"Mutant": title[2]}, []
            if name in mutants:
                raise AssertionError(f"{place}: {name} is there already")
            mutants[name] = fields, edits
            source, is_new = None, True
        elif not mutants:
            raise AssertionError(f"{place}: it does not begin with '## name: what is wrong'")
        elif line[:1] in (" ", "-", "+") and line:
            if is_new:
                edits.append((source, []))
            edits[-1][1].append(line)
            is_new = False
        elif line == "..." or line.startswith("in "):
            source, is_new = source if line == "..." else line[len("in ") :], True
        elif field := FIELD.fullmatch(line):
            fields[field[1]] = field[2]
        elif line:
            raise AssertionError(f"{place}: {line!r} is no line of a mutant")
    for name, (fields, edits) in mutants.items():
        missing = [field for field in required if field not in fields]
        if missing or not edits:
            raise AssertionError(f"{path}: {name} lacks {', '.join(missing) or 'an edit'}")
    return [
        Mutant(name, fields, tuple(Edit(source, tuple(lines)) for source, lines in edits))
        for name, (fields, edits) in mutants.items()
    ]


def _lines_in(path):
    return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []


def edits_between(old, new, source=None):
    """The edits that make the text `new` of `old`, with as few lines that stay as give each one place."""
    old, new = old.splitlines(), new.splitlines()
    groups = []
    for kind, *span in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            if groups and span[0] - groups[-1][-1][1] <= CLOSE:
                groups[-1].append(span)
            else:
                groups.append([span])
    return tuple(Edit(source, _lines_of(group, old, new)) for group in groups)


def _lines_of(group, old, new):
    begin, end = group[0][0], group[-1][1]
    for context in range(len(old) + 1):
        for after in range(context + 1):
            first, last = begin - context + after, end + after
            if 0 <= first < last <= len(old) and len(_places(old[first:last], old)) == 1:
                return tuple(_marked(group, old, new, first, last))
    raise AssertionError("a source of no lines has no place for an edit")


def _marked(group, old, new, first, last):
    for begin, end, new_begin, new_end in group:
        yield from (f" {line}" for line in old[first:begin])
        yield from (f"-{line}" for line in old[begin:end])
        yield from (f"+{line}" for line in new[new_begin:new_end])
        first = end
    yield from (f" {line}" for line in old[first:last])


def _places(block, lines):
    starts = [i for i, line in enumerate(lines) if block and line == block[0]]
    return [i for i in starts if lines[i : i + len(block)] == block]


def _changes(marked, at):
    """What the lines of an edit at this place replace: (begin, end, new lines), without those that stay."""
    changes, is_open = [], False
    for line in marked:
        if line[0] == " ":
            at, is_open = at + 1, False
            continue
        if not is_open:
            changes.append((at, at, []))
            is_open = True
        begin, _, new = changes[-1]
        if line[0] == "-":
            at += 1
        else:
            new.append(line[1:])
        changes[-1] = begin, at, new
    return changes
