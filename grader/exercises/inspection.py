# SPDX-License-Identifier: MIT
"""What a submission asks of the system: a solution computes, and has no need to open files.

A student's code shares its process with the race checker, and may do whatever that process may do. So
this looks at the names that the object file takes from outside and gives to others, after macros,
templates and aliases have become what they are; and in the source, for the ways around names.
A grade refuses a submission for it, and a check says so beforehand. docs/grading-security.md says what
that is worth.
"""

import functools
import re

from grader.paths import ROOT

# Names that code which computes takes from outside: the CUDA runtime and what the CPU backend and the
# compiler put in its place, memory, mathematics, printing, ending.
ALLOWED = re.compile(
    r"""
    cuda[A-Z]\w+ | threadIdx | blockIdx | blockDim | gridDim
    | _Z\w*11cpu_backend\w*
    | __tsan_\w+ | _GLOBAL_OFFSET_TABLE_ | __dso_handle
    | __gxx_personality_v0 | _Unwind_Resume
    | __cxa_(atexit|begin_catch|end_catch|throw|rethrow|allocate_exception|free_exception|guard_\w+
        |pure_virtual|bad_cast|throw_bad_array_new_length)
    | _Zn[aw]\w+ | _Zd[al]\w+ | malloc | calloc | realloc | free
    | __stack_chk_fail | __assert_fail | abort | exit | _ZSt9terminatev
    | mem(cpy|move|set|cmp|chr) | str(len|cmp|ncmp|chr) | __mem(cpy|move|set)_chk
    | printf | puts | putchar | fputs | fputc | putc | fwrite | fprintf | fflush | snprintf
    | __(f|sn)?printf_chk | stdout | stderr
    | _ZSt\d+__throw_\w+ | _ZSt4(cout|cerr|clog) | _ZStls\w+ | _ZNSo\w+ | _ZNSt8ios_base4Init\w+
    | _ZSt4endl\w+ | _ZSt5flush\w+ | _ZSt16__ostream_insert\w+ | _ZNKSt5ctype\w+ | _ZSt16__throw\w+
    | _ZNK?St7__cxx1112basic_string\w+ | _ZNK?Ss\w+
    | _ZT[IVS]S\w+ | _ZT[IVS]N10__cxxabiv1\w+ | _ZT[IVS][a-z] | _ZNK?St9exception\w+
    | _ZNSt(13runtime_error|11logic_error|16invalid_argument|12out_of_range|12length_error)\w+
    | _ZSt(18|28|29)_Rb_tree\w+ | _ZNSt8__detail15_List_node\w+
    | _ZNKSt8__detail20_Prime_rehash_policy\w+ | _ZSt11_Hash_bytes\w+ | _ZSt7nothrow
    | _ZNSt6chrono3_V212(steady|system)_clock3nowEv
    | (a?(sin|cos|tan)h?|atan2|exp|exp2|expm1|log|log2|log10|log1p|pow|sqrt|cbrt|hypot|fabs|floor|ceil
       |round|trunc|rint|nearbyint|fmod|fmin|fmax|fma|ldexp|frexp|modf|copysign|remainder|lround
       |llround|lrint|llrint|erf|erfc|lgamma|tgamma)[fl]?
    """,
    re.VERBOSE,
)
# What nvcc puts into each object that has kernels, besides.
ALLOWED_TO_NVCC = re.compile(
    r"__cuda(RegisterFatBinary(End)?|UnregisterFatBinary|Register(Function|(Managed)?Var)|InitModule"
    r"|GetKernel|LaunchKernel\w*|P(ush|op)CallConfiguration) | atexit",
    re.VERBOSE,
)
OF_OURS_AND_NOT_ALLOWED = re.compile(
    r"9output_of|19quoted_program_path|16make_source_line|9scheduled"
)
OURS = re.compile(r"_ZN?K?V?(11cpu_backend|9racecheck|9exercises|3lab|4cuda)|_ZN?K?S[tabsiod]")
OF_C = re.compile(r"racecheck|environ$|std(in|out|err)$")
OF_THE_RUNTIME = re.compile(r"\bcuda[A-Z]\w+")
ALLOCATOR = re.compile(r"_Zn[aw]|_Zd[al]")
# The letters that nm has for names that are taken, and for those that stay within the object file. Any
# other one is a name that it gives: T, D and the like, V and W of templates, i and u.
TAKEN, LOCAL = "Uvw", "abcdgnprst"
INNERMOST = re.compile("9racecheck|9exercises")

TOKEN = re.compile(
    r"""
    (?P<comment>//[^\n]*|/\*.*?\*/)
    | (?P<raw>(?:u8|[uUL])?R")
    | (?P<string>(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*")
    | (?P<character>(?:u8|[uUL])?'(?:[^'\\\n]|\\.)+')
    | (?P<number>\.?\d(?:'?[\w.]|[eEpP][+-])*)
    | (?P<name>[A-Za-z_]\w*)
    | (?P<pasting>\#\#|%:%:)
    """,
    re.VERBOSE | re.DOTALL,
)
UNWANTED_NAME = re.compile(
    r"_?_?asm(__)?|__attribute(__)?|gnu|__gnu__|clang|cpu_backend|racecheck\w*|exercises|__tsan\w*"
    r"|__builtin_ia32\w*|_mm\d*_\w+"
)
INCLUDE = re.compile(r"^\s*(?:#|%:)\s*include(?:_next)?\b(?P<what>.*)$", re.MULTILINE)
UNWANTED_HEADER = re.compile(
    r"\.\.|cpu_backend|racecheck|exercises|intrin|/(proc|dev|sys|etc|home)\b"
)
NO_NEED = "which no solution has a need for"


def objections_to_names(text, is_by_nvcc=False):
    """Sentences about what an object file takes and gives; `text` is what nm -P says of it."""
    rows = [line.split(" ") for line in text.splitlines()]
    symbols = sorted((row[0], row[1]) for row in rows if len(row) > 1 and row[1] not in LOCAL)
    taken = [name for name, kind in symbols if kind in TAKEN and not _may_be_taken(name)]
    if is_by_nvcc:
        taken = [name for name in taken if not ALLOWED_TO_NVCC.fullmatch(name)]
    given = [name for name, kind in symbols if kind not in TAKEN and not _may_be_given(name, kind)]
    return [
        *(f"It uses {name}, {NO_NEED}." for name in taken),
        *(f"It defines {name}, which is not its own." for name in given),
    ]


def _may_be_taken(name):
    return bool(ALLOWED.fullmatch(name)) and not OF_OURS_AND_NOT_ALLOWED.search(name)


def _may_be_given(name, kind):
    """Whether it takes the place of nothing of ours or of the C library's."""
    if name.startswith("DW.ref."):
        return True
    if kind in "BDRCGS" and not name.startswith("_"):
        # A variable: the linker refuses it if ours has its name.
        return not OF_C.match(name) and name not in _names_of_the_runtime()
    if not name.startswith("_Z") or INNERMOST.search(name) or ALLOCATOR.match(name):
        return False
    return kind in "VWu" or not OURS.match(name)  # templates of ours are compiled into each object


@functools.lru_cache(None)
def _names_of_the_runtime():
    """All that CUDA's headers name. A student's own variable may begin as they do: cudaCounter."""
    found = set()
    for header in sorted((ROOT / "engine/cpu_backend/include").glob("*.h")):
        found.update(OF_THE_RUNTIME.findall(header.read_text(encoding="utf-8")))
    return found


def objections_to_source(text):
    """Sentences about assembler, attributes and names of ours in a student's file."""
    text = re.sub(r"\\[ \t]*\r?\n", "", text)  # as the compiler joins lines
    found = set()
    for token in TOKEN.finditer(text):
        if token.lastgroup == "raw":
            found.add("a raw string literal")
        elif token.lastgroup == "pasting":
            found.add("## in a macro")
        elif token.lastgroup == "name" and UNWANTED_NAME.fullmatch(token[0]):
            found.add(token[0])
    for include in INCLUDE.finditer(text):
        if UNWANTED_HEADER.search(include["what"]):
            found.add(f"#include {include['what'].strip()}")
    return [f"It has {what}, {NO_NEED}." for what in sorted(found)]
