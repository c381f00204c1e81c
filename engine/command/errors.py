# SPDX-License-Identifier: MIT
"""How a command ends: its exit codes, the exception that carries a sentence for the user, and what a
name in it may have been meant to be."""

import difflib
import re

WRONG_USE = 2
NOTHING_COULD_RUN = 77  # Meson's code for a skipped test, and the programs' if there is no device
INTERRUPTED = 130


class CommandError(Exception):
    """Ends the command with this message, one sentence for the user, on stderr and with this exit code.

    `further` are lines of their own below the sentence, such as commands to copy.
    """

    def __init__(self, message, code=1, further=()):
        super().__init__("\n".join([message, *further]))
        self.code = code
        self.sentence, self.further = message, further


MOST_NAMES = 3
CLOSE = 0.75  # of difflib's ratio, for a part of a name


def nearest(word, names):
    """Up to three of the names: those spelled nearly like the word, then those that have it in them,
    then those of which a part is spelled nearly like it."""
    by_spelling = {}
    for name in names:
        by_spelling.setdefault(name.lower(), name)
    word = word.lower()
    near = difflib.get_close_matches(word, by_spelling, MOST_NAMES)
    if len(word) > 2:
        near += [name for name in by_spelling if word in name]
        near += [name for name in by_spelling if _resembles_part(word, name)]
    return [by_spelling[name] for name in list(dict.fromkeys(near))[:MOST_NAMES]]


def least_different(word, names):
    """Three of the names, the likest first, however little they have of the word."""

    def likeness(name):
        return difflib.SequenceMatcher(None, name.lower(), word.lower()).ratio()

    return sorted(dict.fromkeys(names), key=likeness, reverse=True)[:MOST_NAMES]


def _resembles_part(word, name):
    return bool(difflib.get_close_matches(word, re.split(r"[_\W]", name), 1, CLOSE))


def listed(names, last="and"):
    """'a', 'a and b' or 'a, b and c'."""
    names = list(names)
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {last} {names[-1]}"


def hint(word, names, otherwise):
    """'did you mean a or b?', or else the other sentence."""
    near = nearest(word, names)
    return f"did you mean {listed(near, 'or')}?" if near else otherwise
