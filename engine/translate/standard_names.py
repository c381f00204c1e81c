# SPDX-License-Identifier: MIT
"""Variables of a program that are named like something in namespace std, beside `using namespace std`.

The CPU backend's headers include more of the standard library than nvcc's, so that such a name can be
ambiguous here and not there. The program means its own variable: that gets another name.
"""

from __future__ import annotations

import re

from source_text import SourceText
from tokens import KEYWORDS, SHARED_MARKER, WORD, is_name

USING = re.compile(rf"(?<![{WORD}])using\s+namespace\s+std\s*;")
NAMES = (
    "any array atomic barrier begin byte count data empty end function hash latch list minus mutex "
    "optional plus ratio ref size span string thread variant vector"
).split()
NAME = re.compile(rf"(?<![{WORD}.])(?<!->)(?<!::)({'|'.join(NAMES)})(?![{WORD}])(?!\s*::)")
AFTER_VARIABLE = ("[", ";", "=", ",", "{")
TYPES = KEYWORDS - {"return", "else", "case", "goto", "delete", "new", "throw", "using", "typename"}


SUFFIX = "__"


def rename_variables(text: SourceText) -> set[str]:
    """Gives variables at namespace scope that are named like the library's a name of their own, with the
    SUFFIX; returns which."""
    if not USING.search(text.masked):
        return set()
    uses: dict[str, list[re.Match]] = {}
    declared, kept = set(), set()
    for match in text.own_matches(NAME):
        name = match[1]
        uses.setdefault(name, []).append(match)
        tokens, _ = text.tokens_before(match.start(), 100)
        before = tokens[-1].text if tokens else ";"
        is_declared = before in ("*", "&", ">") or is_name(before) or before in TYPES
        if not is_declared or text.next_token(match.end()).text not in AFTER_VARIABLE:
            continue
        scope = text.scope(match.start())
        if scope == "class" or SHARED_MARKER in [token.text for token in tokens[-4:]]:
            kept.add(name)  # a member, which is named after a dot as well; or one that is announced
        elif scope == "namespace" and "(" not in text.masked[tokens[-1].start : match.start()]:
            declared.add(name)
    for name in declared - kept:
        for match in uses[name]:
            text.insert(match.end(), SUFFIX)
    return declared - kept
