# SPDX-License-Identifier: MIT
"""What stands in a student's file once it is preprocessed: assembler, attributes, pragmas, linkage.

This is the very text that is translated and compiled, with every macro expanded. So it makes no difference
how a word was put together, and what a comment or a string says is no word at all. The student's part of
it is what stands after a line marker with the student's file; that no marker is forged is seen in the
file itself. docs/grading-security.md says what all of this is worth.

A grade runs this file as a program, alone in the sandbox. The text goes by once, a token at a time: no
pattern can match a text in two ways, and nothing is kept of a token but whether it is refused.
"""

import array
import functools
import io
import itertools
import json
import os
import pathlib
import re
import sys
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[2]  # of the course: nothing else of it is there
PARTS = ("engine", "common", "chapters")
CUDA_HEADERS = ROOT / "engine/cpu_backend/include"
NO_NEED = "which no solution has a need for"

# `# 12 "FILE" 1 3`; only the preprocessor may write it, at each change of file.
LINE_MARKER = re.compile(r'# \d+ "(?P<file>[^"\\]*(?:\\.[^"\\]*)*)"(?P<flags>[ \d]*)')
PRAGMA = re.compile(
    r"#\s*pragma\s+(?:(?:unroll|nounroll|once)\b|(?:GCC|clang)\s+diagnostic\b|nv_\w+|STDC\b|hd_\w+)"
)
# Directives that the preprocessed text says nothing of: where the next line comes from, and macros that may
# change what stands in headers. Nothing is known here of comments and strings, so whatever may be one is
# taken for one: it is the first of its line, but for blanks and a comment's end. What a comment before its
# word hides is not looked for.
BLANKS = r"[ \t\f\v\r]*"
DIRECTIVE = re.compile(
    rf"(?:^|\*/){BLANKS}(?:\#|%:|\?\?=){BLANKS}"
    rf"(?:(?P<line>line\b|\d)|(?:define\b{BLANKS})?(?P<comment>/\*)"
    rf"|define\b{BLANKS}(?P<macro>[A-Za-z_]\w*))",
    re.MULTILINE,
)
RESERVED = re.compile(r"_[_A-Z]\w*|[a-z]\w*__\w*")
USUAL_MACROS = ("_GNU_SOURCE", "_USE_MATH_DEFINES")
WORD = re.compile(r"//.*|\b([a-z]\w+)")
JOINED_LINES = re.compile(r"(?:\\|\?\?/)[ \t\f\v\r]*\n")
CONTROL_CHARACTER = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")

# A string without an end, which no compiler takes, goes to the end of its line.
TOKEN = re.compile(
    r"""
    (?P<raw>(?:u8|[uUL])?R")
    | (?P<string>(?:u8|[uUL])?"[^"\\\n]*(?:\\.[^"\\\n]*)*"?)
    | (?:u8|[uUL])?'[^'\\\n]*(?:\\.[^'\\\n]*)*'?
    | \.?\d[\w.]*(?:'[\w.]+)*
    | (?P<name>[^\W\d][\w$]*)
    | (?P<sign><:(?!:(?![:>]))|:>|\S)
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
    | __cpu_backend_(?!(?:global|device|host|constant|managed|shared|cluster_dims|launch_bounds)__)\w+
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
OPENING, CLOSING, SQUARE = ("(", "[", "<:"), (")", "]", ":>"), ("[", "<:")
MOST_OBJECTIONS, LONGEST = 100, 200  # to one file, and characters of what each is to


def objections_to_source(source, preprocessed, folder=".", is_by_nvcc=False, answers=()):
    """Sentences about the student's file `source` and the bytes that it was preprocessed to.

    `folder` is where the preprocessor ran, for relative names of headers; `answers` are those that have what
    is to be written.
    """
    text = pathlib.Path(source).read_text(encoding="utf-8-sig", errors="replace")
    own = _OwnPart(set(), set())
    words = _unwanted_words(_own_lines(preprocessed, own), is_by_nvcc)
    found = set()
    for what in itertools.chain(
        _unwanted_directives(text), words, _unwanted_headers(own, source, folder, answers)
    ):
        found.add(what if len(what) <= LONGEST else f"{what[:LONGEST]}...")
        if len(found) == MOST_OBJECTIONS:
            break
    return [f"It has {what}, {NO_NEED}." for what in sorted(found)]


def _unwanted_directives(text):
    if CONTROL_CHARACTER.search(text):
        yield "a control character"
    for directive in DIRECTIVE.finditer(JOINED_LINES.sub("", text)):
        macro = directive["macro"]
        if directive["line"]:
            yield "a #line directive"
        elif directive["comment"]:
            yield "a comment after #"
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
    """The headers of which the student's part of the preprocessed text is made."""

    included: set  # that it names
    files: set  # all others that were read


def _own_lines(preprocessed, part):
    """Each line of the preprocessor's output that comes from the student's file, which is named first; the
    names of headers go into `part`.

    A raw string may have line markers inside. But its first line is one of the student's, and so it is
    refused.
    """
    name, is_own = None, True
    for line in io.BytesIO(preprocessed):
        line = line.decode("latin-1").removesuffix("\n")
        marker = LINE_MARKER.fullmatch(line)
        if not marker:
            if is_own:
                yield line
            continue
        name = name or marker["file"]
        if marker["file"] != name:
            is_begin = "1" in marker["flags"].split()
            (part.included if is_own and is_begin else part.files).add(_unescaped(marker["file"]))
        is_own = marker["file"] == name


def _unescaped(name):
    """A file's name as the compiler writes it in a line marker: g++ as it is, clang bytes in octal."""
    name = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), name)
    return os.fsdecode(re.sub(r"\\(.)", r"\1", name).encode("latin-1"))


def _unwanted_headers(own, source, folder, answers):
    """What was read and is neither the compiler's nor the course's: the file itself by another name, what
    it has been compiled to, files of the system. And what is included for its insides, or as the answer."""
    for name in own.included | own.files:
        if name.startswith("<") or name.endswith("//"):  # <built-in>, and the working folder
            continue
        path = pathlib.Path(os.path.realpath(os.path.join(folder, name)))
        is_answer = any(path == ROOT / "chapters" / each for each in answers)
        is_inside = name in own.included and _is_internal(path)
        if is_answer or is_inside or not _is_header(path, source):
            yield f"#include {name.removeprefix(f'{ROOT}{os.sep}')}"


def _is_header(path, source):
    own_folder = pathlib.Path(os.path.realpath(source)).parent
    if own_folder in path.parents and own_folder != ROOT:
        return False
    if ROOT in path.parents:
        parts = path.relative_to(ROOT).parts
        return parts[0] in PARTS or (parts[0].startswith("build") and parts[1] in PARTS)
    return "include" in path.parts or "include-fixed" in path.parts


def _is_internal(path):
    if path.name.endswith("intrin.h"):
        return True
    return ROOT / "engine" in path.parents and CUDA_HEADERS not in path.parents


def _unwanted_words(lines, is_by_nvcc):
    """Of tokens, none of which goes on in the next line; and pragmas, with other directives that have come
    through the preprocessor."""
    attributes = _Attributes(ATTRIBUTES_OF_NVCC if is_by_nvcc else ATTRIBUTES)
    placement = _PlacementNew()
    before = ""  # the token before this one
    for line in lines:
        if line.lstrip().startswith("#"):
            if not PRAGMA.match(line.lstrip()):
                words = line.split(None, 3)[:3]
                yield " ".join(words) if "pragma" in "".join(words[:2]) else words[0]
            continue
        for token in TOKEN.finditer(line):
            kind, text = token.lastgroup, token[0]
            yield from placement.take(text, before)
            if kind == "sign":
                attributes.take_sign(text, before)
            elif kind == "name":
                if UNWANTED_NAME.fullmatch(text):
                    yield text
                yield from attributes.take_name(text)
            elif kind == "raw":
                yield "a raw string literal"
            elif kind == "string" and before == "extern":
                yield f"extern {text}"
            before = text


class _PlacementNew:
    """Whether a `new` says where: g++ does not report what a call constructs there."""

    TOKENS = 5  # of `(std::nothrow`, which names no place

    def __init__(self):
        self.left = 0  # tokens in which `nothrow` may still come

    def take(self, text, before):
        if text == "new" and before != "operator":
            if 0 < self.left < self.TOKENS:
                yield "placement new"
            self.left = self.TOKENS
        elif self.left:
            is_first = self.left == self.TOKENS
            self.left = 0 if text == "nothrow" or (is_first and text != "(") else self.left - 1
            if self.left == 0 and text != "nothrow" and not is_first:
                yield "placement new"


class _Attributes:
    """Which names stand between two brackets of `__attribute__((name, name(arguments)))` or of `[[name]]`,
    where one list may stand within another."""

    def __init__(self, of_gnu):
        self.of_gnu = of_gnu  # the names that the first form may have
        self.depth = 0  # of brackets
        self.around = array.array("q")  # the depths around the lists that this place is in
        self.is_gnu = bytearray()  # of the same lists

    def take_sign(self, text, before):
        if text in OPENING:
            if text in SQUARE and before in SQUARE:
                self._begin(self.depth - 1, False)
            self.depth += 1
        elif text in CLOSING:
            self.depth -= 1
            self._end(self.depth)

    def take_name(self, text):
        """Yields the name if it may not stand here."""
        place = len(self.around) - 1
        while place >= 0 and self.around[place] >= self.depth - 2:
            if self.around[place] == self.depth - 2:
                allowed = self.of_gnu if self.is_gnu[place] else STANDARD_ATTRIBUTES
                if text.strip("_") not in allowed:
                    yield ("__attribute__(({}))" if self.is_gnu[place] else "[[{}]]").format(text)
            place -= 1
        if text in ("__attribute__", "__attribute"):
            self._end(self.depth)  # no list has followed the last one
            self._begin(self.depth, True)

    def _begin(self, around, is_gnu):
        self.around.append(around)
        self.is_gnu.append(is_gnu)

    def _end(self, depth):
        while self.around and self.around[-1] >= depth:
            self.around.pop()
            self.is_gnu.pop()


def main(words):
    """Prints what objections_to_source() says of `SOURCE PREPROCESSED [nvcc] [ANSWERS]` in this folder, as
    JSON."""
    source, preprocessed, *more = words
    answers = [word for word in more if word != "nvcc"]
    with open(preprocessed, "rb") as file:
        found = objections_to_source(source, file.read(), ".", "nvcc" in more, answers)
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
