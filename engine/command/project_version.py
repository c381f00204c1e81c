# SPDX-License-Identifier: MIT
"""The version of this project, by semantic versioning: what Meson and every `--version` say."""

import re

from engine.command.errors import CommandError
from engine.command.paths import ENGINE

FILE = ENGINE / "VERSION"


def project_version(file=FILE):
    """'0.1.0'. Raises CommandError if the file is not there or holds anything else."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{file}: the version can't be read: {error}.") from error
    if not re.fullmatch(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?\n", text):
        raise CommandError(f"{file}: it must hold one line, a version such as 1.2.3.")
    return text.strip()
