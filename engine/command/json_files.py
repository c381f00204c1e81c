# SPDX-License-Identifier: MIT
"""JSON files that people write."""

import json

from engine.command.errors import CommandError, hint, listed


def json_object(root, path, needed, others=True):
    """The object in the file of this path from the root, which must have the needed keys, and may have
    others only if that is said.

    Raises CommandError, one sentence that names the file and what is wrong with it.
    """
    try:
        value = json.loads((root / path).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise CommandError(f"{path}: there is no such file.") from error
    except ValueError as error:  # no JSON, or no UTF-8
        raise CommandError(f"{path}: it can't be read as JSON: {error}.") from error
    if not isinstance(value, dict):
        raise CommandError(f"{path}: it holds no object, which is keys and values between braces.")
    for key in value:
        if not others and key not in needed:
            more = hint(key, needed, f"its keys are {listed(needed)}.")
            raise CommandError(f'{path}: it has no use for a key "{key}"; {more}')
    missing = [f'"{key}"' for key in needed if key not in value]
    if missing:
        raise CommandError(f"{path}: it lacks {listed(missing)}.")
    return value
