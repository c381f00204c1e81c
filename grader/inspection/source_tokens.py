# SPDX-License-Identifier: MIT
"""What stands in a student's file once it is preprocessed: assembler, attributes, pragmas, linkage.

This is the very text that is translated and compiled, with every macro expanded. So it makes no difference
how a word was put together, and what a comment or a string says is no word at all. The student's part of
it is what stands after a line marker with the student's file; that no marker is forged is seen in the
file itself. docs/grading-security.md says what all of this is worth.
"""

import functools
import os
import pathlib
import re
from typing import NamedTuple

from grader.paths import ROOT

HOUSES = ("engine", "common", "chapters")
CUDA_HEADERS = ROOT / "engine/cpu_backend/include"
NO_NEED = "which no solution has a need for"

# `# 12 "FILE" 1 3`; the preprocessor writes it at each change of file, and nobody else may.
LINE_MARKER = re.compile(r'# \d+ "(?P<file>(?:[^"\\]|\\.)*)"(?P<flags>[ \d]*)')
PRAGMA = re.compile(
    r"#\s*pragma\s+(?:(?:unroll|nounroll|once)\b|(?:GCC|clang)\s+diagnostic\b|nv_\w+|STDC\b|hd_\w+)"
)
# Directives that the preprocessed text says nothing of: where the next line comes from, and macros that may
# change what stands in headers. Nothing is known here of comments and strings, so whatever may be one is
# taken for one: it is the first of its line, but for blanks and a comment's end.
DIRECTIVE = re.compile(
    r"(?:^|\*/)[ \t\f\v\r]*(?:\#|%:|\?\?=)(?:\s|/\*.*?\*/)*"
    r"(?:(?P<line>line\b|\d)|define(?:\s|/\*.*?\*/)+(?P<macro>[A-Za-z_]\w*))",
    re.MULTILINE | re.DOTALL,
)
RESERVED = re.compile(r"_[_A-Z]\w*|[a-z]\w*__\w*")
USUAL_MACROS = ("_GNU_SOURCE", "_USE_MATH_DEFINES")
WORD = re.compile(r"//.*|\b([a-z]\w+)")
JOINED_LINES = re.compile(r"(?:\\|\?\?/)[ \t\f\v\r]*\n")
CONTROL_CHARACTER = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")

TOKEN = re.compile(
    r"""
    (?P<raw>(?:u8|[uUL])?R")
    | (?P<string>(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*")
    | (?:u8|[uUL])?'(?:[^'\\\n]|\\.)+'
    | \.?\d(?:'?[\w.]|[eEpP][+-])*
    | (?P<name>[^\W\d][\w$]*)
    | (?P<attributes>\[\s*\[|<:\s*<:|\[\s*<:|<:\s*\[)
    | (?P<sign>\S)
    """,
    re.VERBOSE,
)
# What CUDA's and the standard library's macros become, and builtin functions that only compute.
BUILTIN = r"""
    (?:nans?|infi?|huge_val)(?:[fl]|f\d+x?)?
    | offsetof | expect | unreachable | trap | assume | assume_aligned | is_constant_evaluated
    | constant_p | choose_expr | types_compatible_p | source_location | bit_cast
    | FILE | LINE | FUNCTION | COLUMN
    | (?:popcount|clz|ctz|ffs|parity)(?:ll?)? | bswap(?:16|32|64) | (?:add|sub|mul)_overflow
    | isnan | isinf | isinf_sign | isfinite | isnormal | signbit[fl]? | fpclassify
    | isgreater | isgreaterequal | isless | islessequal | islessgreater | isunordered
"""
UNWANTED_NAME = re.compile(
    rf"""
    _?_?asm(?:__)? | gnu | __gnu__ | clang | _Clang | __declspec | _mm\d*_\w+
    | cpu_backend | racecheck\w* | exercises | __c11_atomic_\w+ | construct_at
    | _fileno | _IO_\w+
    | __(?:tsan|asan|ubsan|sanitizer|real|wrap|cxa|cuda|nv|sync)_\w+
    | __cpu_backend_(?!(?:global|device|host|constant|managed|shared|cluster_dims)__)\w+
    | __builtin_(?!(?:{BUILTIN})\Z)\w+
    """,
    re.VERBOSE,
)
ATTRIBUTES = frozenset(
    ["aligned", "always_inline", "noinline", "flatten", "unused", "deprecated", "fallthrough"]
)
# What CUDA's own words become for nvcc; the CPU backend's headers make something else of them.
ATTRIBUTES_OF_NVCC = ATTRIBUTES | frozenset(
    """global device host shared constant managed launch_bounds grid_constant cluster_dims
    maxnreg""".split()
)
STANDARD_ATTRIBUTES = frozenset(
    """assume deprecated fallthrough likely maybe_unused nodiscard noreturn no_unique_address
    unlikely""".split()
)
OPENING, CLOSING = ("(", "[", "<:"), (")", "]", ":>")


def objections_to_source(source, preprocessed, folder=".", is_by_nvcc=False):
    """Sentences about the student's file `source` and the bytes that it was preprocessed to.

    `folder` is where the preprocessor ran, for relative names of headers.
    """
    text = pathlib.Path(source).read_text(encoding="utf-8-sig", errors="replace")
    own = _own_part(preprocessed.decode("latin-1"))
    code = "\n".join(line for line in own.lines if not _is_directive(line))
    found = {
        *_unwanted_directives(text),
        *_unwanted_headers(own, source, folder),
        *_unwanted_pragmas(own.lines),
        *_unwanted_tokens(code, ATTRIBUTES_OF_NVCC if is_by_nvcc else ATTRIBUTES),
    }
    return [f"It has {what}, {NO_NEED}." for what in sorted(found)]


def _unwanted_directives(text):
    if CONTROL_CHARACTER.search(text):
        yield "a control character"
    for directive in DIRECTIVE.finditer(JOINED_LINES.sub("", text)):
        macro = directive["macro"]
        if directive["line"]:
            yield "a #line directive"
        elif macro not in USUAL_MACROS and (
            RESERVED.fullmatch(macro) or macro in _words_of_headers()
        ):
            yield f"#define {macro}"


@functools.lru_cache(None)
def _words_of_headers():
    """Keywords, and other names in the backend's headers: a macro of that name would change them."""
    headers = [path for path in CUDA_HEADERS.parent.rglob("*") if "tests" not in path.parts]
    texts = [
        path.read_text(encoding="utf-8")
        for path in headers
        if path.is_file() and path.suffix in ("", ".h", ".hpp")
    ]
    return frozenset(WORD.findall("\n".join(texts))) - {""}


class _OwnPart(NamedTuple):
    """What comes from the student's file."""

    lines: list
    included: set  # the headers that it names
    files: set  # all others that were read


def _own_part(preprocessed):
    """Of the preprocessor's output, in which the student's file is named first.

    A raw string may have line markers inside. But its first line is one of the student's, and so it is
    refused.
    """
    name, part, is_own = None, _OwnPart([], set(), set()), True
    for line in preprocessed.split("\n"):
        marker = LINE_MARKER.fullmatch(line)
        if not marker:
            if is_own:
                part.lines.append(line)
            continue
        name = name or marker["file"]
        if marker["file"] != name:
            is_begin = "1" in marker["flags"].split()
            (part.included if is_own and is_begin else part.files).add(_unescaped(marker["file"]))
        is_own = marker["file"] == name
    return part


def _unescaped(name):
    """A file's name as the compiler writes it in a line marker: g++ as it is, clang bytes in octal."""
    name = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), name)
    return os.fsdecode(re.sub(r"\\(.)", r"\1", name).encode("latin-1"))


def _unwanted_headers(own, source, folder):
    """What was read and is neither the compiler's nor the course's: the file itself by another name, what
    it has been compiled to, files of the system. And what is included for its insides."""
    for name in own.included | own.files:
        if name.startswith("<") or name.endswith("//"):  # <built-in>, and the working folder
            continue
        path = pathlib.Path(os.path.realpath(os.path.join(folder, name)))
        if not _is_header(path, source) or (name in own.included and _is_internal(path)):
            yield f"#include {name.removeprefix(f'{ROOT}{os.sep}')}"


def _is_header(path, source):
    own_folder = pathlib.Path(os.path.realpath(source)).parent
    if own_folder in path.parents and own_folder != ROOT:
        return False
    if ROOT in path.parents:
        parts = path.relative_to(ROOT).parts
        return parts[0] in HOUSES or (parts[0].startswith("build") and parts[1] in HOUSES)
    return "include" in path.parts or "include-fixed" in path.parts


def _is_internal(path):
    if path.name.endswith("intrin.h"):
        return True
    return ROOT / "engine" in path.parents and CUDA_HEADERS not in path.parents


def _is_directive(line):
    return line.lstrip().startswith("#")


def _unwanted_pragmas(lines):
    """Pragmas, and other directives that have come through the preprocessor."""
    for line in filter(_is_directive, lines):
        if not PRAGMA.match(line.lstrip()):
            words = line.split()
            yield " ".join(words[:3]) if "pragma" in "".join(words[:2]) else words[0]


def _unwanted_tokens(code, attributes):
    tokens = list(TOKEN.finditer(code))
    for place, token in enumerate(tokens):
        kind, text = token.lastgroup, token[0]
        if kind == "raw":
            yield "a raw string literal"
        elif kind == "attributes":
            yield from _unwanted_attributes(tokens, place + 1, STANDARD_ATTRIBUTES, "[[{}]]")
        elif kind != "name":
            continue
        elif UNWANTED_NAME.fullmatch(text):
            yield text
        elif text in ("__attribute__", "__attribute"):
            yield from _unwanted_attributes(tokens, place + 1, attributes, "__attribute__(({}))")
        elif text == "new" and _names_a_place(tokens, place + 1):
            yield "placement new"
        elif text == "extern" and tokens[place + 1 :][:1]:
            following = tokens[place + 1]
            if following.lastgroup == "string":
                yield f"extern {following[0]}"


def _names_a_place(tokens, place):
    """Whether a `new` before this token says where: g++ tells nobody of what a call constructs there."""
    texts = [token[0] for token in tokens[place : place + 5]]
    return texts[:1] == ["("] and "nothrow" not in texts


def _unwanted_attributes(tokens, place, allowed, as_written):
    """Those names that stand between two brackets of `((name, name(arguments)))`, or of `[[name]]` when
    `place` is after its first two."""
    depth = 2 if allowed is STANDARD_ATTRIBUTES else 0
    for token in tokens[place:]:
        if token[0] in OPENING:
            depth += 1
        elif token[0] in CLOSING:
            depth -= 1
            if depth == 0:
                return
        elif token.lastgroup == "name" and depth == 2 and token[0].strip("_") not in allowed:
            yield as_written.format(token[0])
