# SPDX-License-Identifier: MIT
"""How a command ends: its exit codes, and the one exception that carries a message for the user."""

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
