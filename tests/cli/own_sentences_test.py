# SPDX-License-Identifier: MIT
"""No program takes another one's sentences apart: what our Python looks for in a text, by a regular
expression or otherwise, is in no sentence of the backend, its translator, the race checker or the
exercises' runner. What g++, clang, nvcc, Meson or Catch2 says is not ours."""

import ast
import itertools
import re

import pytest

from engine.translate.words import rows as rows_of_words
from this_build import ROOT

try:
    from re import _constants, _parser
except ImportError:  # before Python 3.11
    import sre_constants as _constants
    import sre_parse as _parser

PARTS = ("engine", "grader", "lab_tool", "common", "chapters", "docs")
SPEAKERS = ("common", "engine", "grader")
WORDS_OF_CUDA = ROOT / "engine/cpu_backend/runtime/error.cpp"
OF_RE = {"compile", "search", "match", "fullmatch", "sub", "subn", "findall", "finditer", "split"}
OF_TEXT = {
    "startswith", "endswith", "replace", "partition", "rpartition", "split", "rsplit", "find", "rfind",
    "index", "rindex", "count", "removeprefix", "removesuffix", "strip",
}  # fmt: skip
WORD = re.compile(r"[A-Za-z_]{2,}")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
GAP = re.compile(r"\{\w+(?::\w+)?\}")
SAMPLES = {
    "launched_at": "own.cu:12", "at": "own.cu:12", "other_at": "own.cu:9", "block": "(3,0,0)",
    "overtaken_at": "own.cu:9", "thread": "(5,0,0)", "command": "./lab racecheck",
    "accessed": "0x7f00", "address": "0x7f00",
}  # fmt: skip


def sentences_of_tables():
    """What the backend and its translator say, with something in each gap. (The names of diagnoses are
    ordinary words.)"""
    rows = {
        name: row.replace("[", "").replace("]", "")
        for name, row in rows_of_words().items()
        if "." not in name
    }
    for row in rows.values():
        fill = {**SAMPLES, "what": rows["stopped"], "why": rows["time_was_over"]}
        yield GAP.sub(lambda gap, fill=fill: fill.get(gap[0][1:-1].split(":")[0], "7"), row)
        yield row


def sentences_of_sources():
    """The texts in our programs' sources."""
    for part in SPEAKERS:
        for path in sorted((ROOT / part).rglob("*.[ch]*")):
            is_ours = "tests" not in path.parts and path != WORDS_OF_CUDA
            if is_ours and path.suffix in (".cpp", ".hpp", ".cu", ".cuh"):
                yield from literals_of(path.read_text(encoding="utf-8"))


def literals_of(text):
    """The string literals of C++, those that follow one another as one."""
    code = "\n".join(
        line for line in text.splitlines() if not line.lstrip().startswith(("//", "#"))
    )
    whole, end = "", 0
    for match in LITERAL.finditer(code):
        if code[end : match.start()].strip():
            yield whole
            whole = ""
        whole += match[1].replace('\\"', '"').replace("\\n", "\n")
        end = match.end()
    yield whole


def searched_texts(tree):
    """(line, text) of each text of several words that the module looks for in another."""
    constants = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name, of = node.func.attr, node.func.value
            if isinstance(of, ast.Name) and of.id == "re" and name in OF_RE and node.args:
                for text in texts_of(node.args[0], constants):
                    yield from ((node.lineno, run) for run in literal_runs(text))
            elif name in OF_TEXT and node.args:
                yield from ((node.lineno, text) for text in texts_of(node.args[0], constants))
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            yield from ((node.lineno, text) for text in texts_of(node.left, constants))


def texts_of(node, constants):
    """The texts that an expression has in it, as far as they are written there."""
    if isinstance(node, ast.Name) and node.id in constants:
        node = constants[node.id]
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, (str, bytes)):
            text = part.value
            yield text.decode("latin-1") if isinstance(text, bytes) else text


def literal_runs(pattern):
    """What a match of the pattern has in it letter by letter."""
    try:
        parsed = _parser.parse(pattern)
    except re.error:  # a part of one
        return [pattern]
    runs, letters = [], []

    def walk(items):
        for kind, value in items:
            if kind is _constants.LITERAL:
                letters.append(chr(value))
                continue
            runs.append("".join(letters))
            letters.clear()
            parts = value if isinstance(value, (tuple, list)) else (value,)
            for part in itertools.chain.from_iterable(
                part if isinstance(part, list) else (part,) for part in parts
            ):
                if isinstance(part, _parser.SubPattern):
                    walk(part)
                    runs.append("".join(letters))
                    letters.clear()

    walk(parsed)
    return [*runs, "".join(letters)]


class OurSentences:
    def __init__(self):
        self.tables = "\0".join(sentences_of_tables())
        parts = {text.strip() for text in sentences_of_sources()}
        self.parts = [text for text in parts if len(WORD.findall(text)) >= 3]
        self.sources = "\0".join(self.parts)

    def hold(self, text):
        """Whether the text is a part of one of them, or has one in it; of those whose words others
        use as well, two words are no part yet."""
        text, words = text.strip(), len(WORD.findall(text))
        return (
            (words >= 2 and text in self.tables)
            or (words >= 3 and text in self.sources)
            or any(part in text for part in self.parts)
        )

    def searched_for(self, code):
        """(line, text) of those that the Python module looks for."""
        return [found for found in searched_texts(ast.parse(code)) if self.hold(found[1])]


@pytest.fixture(scope="module")
def ours():
    return OurSentences()


def test_no_module_looks_for_a_sentence_of_ours(ours):
    modules = [
        path
        for part in PARTS
        for path in sorted((ROOT / part).rglob("*.py"))
        if not path.name.endswith("_test.py") and "tests" not in path.parts
    ]
    assert len(modules) > 100
    found = []
    for path in modules:
        for line, text in ours.searched_for(path.read_text(encoding="utf-8")):
            found.append(f"{path.relative_to(ROOT)}:{line}: {text!r}")
    assert found == []


@pytest.mark.parametrize(
    "code",
    (
        r're.compile(r"^kernel launched at .*?: (block \(.*)$", re.MULTILINE)',
        r're.compile(r"; \./lab racecheck FILE names [a-z, ]+")',
        r're.compile(r"the launch' + "'" + r's dynamic shared memory, element (\d+)")',
        r're.compile(r"deadlock: [^\n]*; not started, because [^\n]*:$")',
        r're.compile(r" +block \((\d+),\d+,\d+\), thread \((\d+),\d+,\d+\): Stopped at .*:(\d+): ")',
        r're.compile(r" +block \d+ thread \d+ loops at .*, and the loop does not read memory again$")',
        r're.compile(r" +(?:the|its) loop (polls without an atomic, .*)$")',
        r're.sub(r"(, made at| and allocated at) [^\s:]+:\d+", "", fault)',
        r're.sub(r"it accessed 0x[0-9a-f]+, ", "", fault)',
        r'"looks like a deadlock" in output',
        r'output.partition("is launched, and it is no kernel")',
        'WORDS = "ran out of stack"\nlines = [line for line in output if WORDS in line]',
    ),
)
def test_what_there_once_was_is_seen(ours, code):
    assert ours.searched_for(code)


@pytest.mark.parametrize(
    "code",
    (
        r're.compile(r"undefined reference to [`' + "'" + r"](.*)" + "'" + r'")',
        r're.compile("no known conversion|candidate expects|mismatched types")',
        r're.compile(r"^(\d+) passed$")',
    ),
)
def test_what_others_say_may_be_looked_for(ours, code):
    assert ours.searched_for(code) == []
