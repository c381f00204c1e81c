# SPDX-License-Identifier: MIT
"""The table of words.inc, and how the gaps of a row are filled. words.hpp does the same for C++."""

from __future__ import annotations

import functools
import json
import pathlib
import re
from typing import Callable

TABLE = pathlib.Path(__file__).parents[1] / "cpu_backend/execution/words.inc"

GAP = re.compile(r"\{([a-z_]+)(?::([a-z_]+))?\}")
OPTIONAL_PART = re.compile(r"\[([^\[\]{}]*\{([a-z_]+)[^\]]*)\]")


@functools.cache
def rows() -> dict[str, str]:
    """{code: text with gaps}."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    return dict(json.loads(f"[{line[1:-2]}]") for line in lines if line.startswith("{"))


def filled(
    code: str, is_there: Callable[[str], bool], word: Callable[[str, str | None], str]
) -> str:
    """What the row says, with word(name, form) in each gap, and without each [...] whose first gap names
    what is not there. Raises KeyError, if there is no such row."""
    kept = OPTIONAL_PART.sub(lambda part: part[1] if is_there(part[2]) else "", rows()[code])
    return GAP.sub(lambda gap: word(*gap.groups()), kept)
