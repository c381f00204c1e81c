# SPDX-License-Identifier: MIT
"""The command that the user has typed: its name stands in messages and in commands that they recommend.

The engine's own command is cudacheck. Another one that uses this package, as ./lab does, says so by
set_invocation() before anything else.
"""

import shlex
from typing import NamedTuple


class Invocation(NamedTuple):
    name: str  # in a sentence: 'lab'
    typed: str  # before a verb: './lab'
    check: str  # the verb that looks for races
    header_folders: tuple = ()  # whose headers are not the user's, besides the engine's own

    def command(self, *words):
        """A command with these words, as the user would type it."""
        return shlex.join([self.typed, *map(str, words)])


CUDACHECK = Invocation("cudacheck", "cudacheck", "check")

_current = CUDACHECK


def set_invocation(invocation):
    global _current
    _current = invocation


def invocation():
    """The Invocation in whose name this package speaks."""
    return _current
