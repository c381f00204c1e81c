# SPDX-License-Identifier: MIT
"""What a compiler says about a student's file, without what is about headers that are not the student's."""

import os
import re
from typing import NamedTuple

from engine.command.output import invocation
from engine.command.paths import ENGINE

# Lines that lead to a message or to its note, which comes after them; then the message itself.
LEADING = re.compile(
    "In file included from |\\s+from |\\s+inlined from |(?=.*[\u2019':,]$)(?:\\S.*: )?(?:In|At) "
    "|\\S.*:\\d+:   (?:recursively )?required "
)
MESSAGE = re.compile(r"(\S.*?):\d+:(?:\d+:)? (warning|(?:fatal )?error|sorry, unimplemented): ")
SOURCE = re.compile(r" +\d+ \| ")  # a line of it, and below it what the message points at
MARKS = re.compile(r" +\| ")
ESCAPES = re.compile(r"\x1b\[[0-9;]*[mK]")

# Of g++, about what a launch becomes: a call of an object of ours, in which a function without a
# name calls the kernel.
MISFIT = "the arguments of this launch do not fit the kernel's parameters"
LAUNCH_OBJECT = re.compile(r"no match for call to .\(cpu_backend::launch_by_(?:name|arguments)<")
INSTANTIATION = ": In instantiation of "
CALL_OF_KERNEL = re.compile(r"<lambda\(auto:\d+& \.\.\.\)>")
NOTE = re.compile(r"(\S.*?):\d+:(?:\d+:)? note: +(.*)")
REASON = re.compile(
    "no known conversion|candidate expects|mismatched types|deduced conflicting|could"
)
NUMBER = re.compile(r"conversion of argument (\d+) would be ill-formed")
PARAMETERS = re.compile(r"\bParameters = \{(.*?)\}")
COUNT = re.compile("too (?:few|many) arguments ")
CONVERSION = re.compile(".*(?:invalid|cannot|could not) conver|conversion from ")
OF_ARGUMENTS = re.compile(f"no matching function|{COUNT.pattern}|{CONVERSION.pattern}")


def readable(lines):
    """The compiler's lines in the form in which a student sees them."""
    return with_true_columns(with_plain_launches(without_own_warnings(lines)))


def without_own_warnings(lines):
    """The compiler's lines, less each warning that is about a line of a header that is not the student's,
    and each that was there before, of a template's other arguments.

    The code of a template that is inlined into the student's function is compiled there, with the
    student's values: g++ warns of it even if it was told not to warn of that header.
    """
    found, told = [], set()
    for group in message_groups(lines):
        message = group.message and MESSAGE.match(group.message)
        if not (message and message[2] == "warning"):
            found += [*group.leading, *group.lines]
        elif not _is_own(message[1]) and group.message not in told:
            told.add(group.message)
            found += _outside_of_templates(group.leading) + group.lines
    return found


def _outside_of_templates(leading):
    """Less how g++ came to a template's arguments: a warning is about the template's own line."""
    texts = [ESCAPES.sub("", line) for line in leading]
    if not any(INSTANTIATION in text for text in texts):
        return leading
    return [line for line, text in zip(leading, texts) if text.startswith("In file included")]


def with_plain_launches(lines):
    """The compiler's lines, with what it says of a launch's arguments as the student would put it.

    A launch is a call of an object of ours, and g++ tells of how that object looks for the kernel.
    """
    found = []
    launch = None  # the last message, if it is about a launch
    for group in message_groups(lines):
        if launch and launch.goes_on_with(group):
            launch.add(group)
            continue
        if launch:
            found += launch.shown()
        launch = _Launch(group) if _is_about_launch(group) else None
        if not launch:
            found += [*group.leading, *group.lines]
    return found + (launch.shown() if launch else [])


class MessageGroup(NamedTuple):
    """A message with the lines that lead to it, and with its notes."""

    message: str  # its line without colours; empty if there is none
    leading: list[str]
    lines: list[str]


def message_groups(lines):
    """The MessageGroups of a compiler's lines; the first one has what comes before the first message."""
    groups = [MessageGroup("", [], [])]
    leading = []
    for line in lines:
        text = ESCAPES.sub("", line)
        if MESSAGE.match(text):
            groups.append(MessageGroup(text, leading, [line]))
            leading = []
        elif LEADING.match(text):
            leading.append(line)
        else:
            groups[-1].lines.extend([*leading, line])
            leading = []
    groups[-1].lines.extend(leading)
    return groups


def _is_about_launch(group):
    if LAUNCH_OBJECT.search(group.message):
        return True
    leading = [ESCAPES.sub("", line) for line in group.leading]
    innermost = next((line for line in leading if INSTANTIATION in line), "")
    of = innermost.partition(INSTANTIATION)[2]
    return bool(CALL_OF_KERNEL.search(of) and OF_ARGUMENTS.match(_sentence(group)))


class _Launch:
    """What is to be said of one launch whose arguments do not fit."""

    def __init__(self, group):
        self.place = _place(group)
        self.leading = [line for line in group.leading if ": In function " in ESCAPES.sub("", line)]
        to_sentence = re.match(rf".*?error: (?:{ESCAPES.pattern})*", group.lines[0])[0]
        self.title = re.sub(r"(:\d+):\d+(?=:)", r"\1", to_sentence, count=1) + MISFIT
        self.source = [line for line in group.lines[1:2] if SOURCE.match(ESCAPES.sub("", line))]
        self.reasons = []
        self.declared = []  # where the kernel stands
        self.number = None  # of the argument that the next message is about
        self.add(group)

    def goes_on_with(self, group):
        """g++ may go on with messages of their own, about the same call."""
        text = _sentence(group)
        return _place(group) == self.place and bool(COUNT.match(text) or CONVERSION.match(text))

    def add(self, group):
        if not LAUNCH_OBJECT.search(group.message):
            about = f"argument {self.number}: " if self.number else ""
            self.reasons.append(about + _as_given(_sentence(group)))
        self.number = None
        of_kernel = False
        for line in group.lines[1:]:
            text = ESCAPES.sub("", line)
            note = NOTE.match(text)
            if note:
                is_own = _is_own(note[1])
                of_kernel = not is_own and note[2].startswith(("candidate: ", "declared here"))
                if REASON.match(note[2]):
                    self.reasons.append(note[2])
                if number := NUMBER.match(note[2]):
                    self.number = number[1]
                parameters = PARAMETERS.search(note[2])
                if parameters and is_own and not self.declared:
                    self.declared = [
                        f"{self.place}: note: the kernel's parameters: {parameters[1]}"
                    ]
            elif not SOURCE.match(text) and not MARKS.match(text):
                of_kernel = False
            if of_kernel and line not in self.declared:
                self.declared.append(line)

    def shown(self):
        # Where their number is wrong, the types that meet mean little.
        counts = [reason for reason in self.reasons if COUNT.match(reason)]
        reasons = dict.fromkeys(counts or self.reasons)
        notes = [f"{self.place}: note: {reason}" for reason in reasons]
        return [*self.leading, self.title, *self.source, *notes, *self.declared]


def _place(group):
    """FILE:LINE of the message."""
    at = re.match(r"(.*?:\d+):", group.message)
    return at and at[1]


def _sentence(group):
    return re.sub(r" \[-f\w+\]$", "", re.sub(r"^.*? error: ", "", group.message))


def _as_given(text):
    """Without what lies between the launch and the call, which takes `const int&` for an `int`."""
    return re.sub(r"\bconst (\w[\w: ]*)&", r"\1", text.replace(" const&", ""))


def with_true_columns(lines):
    """The compiler's lines, less the columns that are none of the student's.

    A launch becomes a longer text before it is compiled. What g++ points at behind it lies beyond the
    end of the line that it shows.
    """
    found = []
    message = source = None  # of which line of `found` the last one of each kind is
    beyond = False
    for line in lines:
        text = ESCAPES.sub("", line)
        if MESSAGE.match(text):
            message, source, beyond = len(found), None, False
        elif SOURCE.match(text):
            source, beyond = len(found), False
        elif source is not None and MARKS.match(text):
            end = len(ESCAPES.sub("", found[source]))
            beyond = beyond or len(text) - len(text.lstrip(" |")) > end
            if beyond:
                found[message] = re.sub(r"(:\d+):\d+(?=:)", r"\1", found[message], count=1)
                continue
        found.append(line)
    return found


def _is_own(path):
    folders = (ENGINE, *invocation().header_folders)
    return os.path.realpath(path).startswith(tuple(f"{folder}{os.sep}" for folder in folders))
