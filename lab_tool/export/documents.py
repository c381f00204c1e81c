# SPDX-License-Identifier: MIT
"""Lessons and docs as a copy of the course has them: nothing in them leads to what is not there."""

import os
import re

from lab_tool.command_line import MODULES

LINK = re.compile(r'(!?)\[([^\]]*)\]\(([^)\s]+)(?:\s"[^"]*")?\)')
COMMAND = re.compile(r"\./lab ([a-z][a-z-]*)")
ANSWER = re.compile(
    r"^<details><summary>[^\n]*\bthe answer to exercise [\d.]+</summary>$.*?^</details>\n\n?",
    re.MULTILINE | re.DOTALL,
)
OF_MUTANTS = re.compile(r"\./lab test (?:--suite )?mutants")  # which no copy has
HEADING = re.compile(r"#+ ")


def document_of_copy(path, text, files):
    """The document's text without links to files that the copy lacks, without the answers to exercises, and
    without what is said about commands that it lacks: rows of tables, paragraphs, and sections that show one
    in a fence."""
    folders = {os.path.dirname(each) for each in files}
    verbs = {verb for verb, name in MODULES.items() if f"lab_tool/verbs/{name}.py" in files}

    def linked(match):
        target = match[3].partition("#")[0]
        if not target or re.match(r"[a-z]+:", target):
            return match[0]
        place = os.path.normpath(os.path.join(os.path.dirname(path), target))
        return match[0] if place in files or place in folders else match[2]

    def is_about_others(lines):
        text = "\n".join(lines)
        return bool(OF_MUTANTS.search(text)) or not all(
            verb in verbs for verb in COMMAND.findall(text)
        )

    kept = []
    for section in _sections(LINK.sub(linked, ANSWER.sub("", text)).split("\n")):
        blocks = _blocks(section)
        if any(block[0].startswith("```") and is_about_others(block) for block in blocks if block):
            continue
        for block in blocks:
            if block and block[0].startswith("|"):
                kept += [line for line in block if not is_about_others([line])]
            elif not is_about_others(block):
                kept += block
    return "\n".join(kept)


def _sections(lines):
    """Runs of lines, each of them with the heading that it is below."""
    found, is_fenced = [[]], False
    for line in lines:
        is_fenced ^= line.startswith("```")
        if HEADING.match(line) and not is_fenced:
            found.append([])
        found[-1].append(line)
    return found


def _blocks(lines):
    """Paragraphs, tables and fences, and the empty lines after them."""
    found, is_fenced, was_empty = [[]], False, False
    for line in lines:
        if line and was_empty and not is_fenced:
            found.append([])
        found[-1].append(line)
        is_fenced ^= line.startswith("```")
        was_empty = not line
    return found
