# SPDX-License-Identifier: MIT
"""What the linker sees of a submission: the names that its object file takes from outside and gives.

A student's code shares its process with the race checker, and may do whatever that process may do. So it
takes only what code that computes needs, and no name of it takes another one's place. A grade refuses a
submission for what it takes, and a check says so beforehand. docs/grading-security.md says what that is
worth.
"""

import functools
import re
from typing import NamedTuple

from engine.command.build_folder import lines_of
from engine.command.errors import CommandError
from engine.command.processes import output_of
from grader.inspection.source_tokens import NO_NEED

# What the CPU backend's headers call in translated code, and nothing else: beside it are functions that stop
# the race checker, or tell that it is there.
OF_THE_BACKEND = """
    launch as_seen_by_a_kernel this_multiprocessor calling_multiprocessor grid_barrier fence
    begin_atomic observe_atomic read_memory replace_memory misaligned_atomic old_value_is_unused
    observer::lane_is_absent observer::read_only_load observer::parameter_is_read_only
    observer::bytes_of_host_arrive
    form::fails_by_chance form::has_waited form::notifies
    memory_of_extern_arrays shared_variable_of_file device_variable_of_file form::used
    register_symbol symbol_address
    copy_to_symbol copy_to_symbol_async copy_from_symbol copy_from_symbol_async
    multiprocessor::start_thread multiprocessor::use_shared_variable
    multiprocessor::use_shared_variable_of_file
    block_execution::returned block_execution::other_fiber_to_run block_execution::next_runnable
    block_execution::launch_number block_execution::is_cooperative block_execution::fail_as
    block_execution::block_barrier block_execution::block_barrier_count block_execution::meet
    block_execution::wait_at_barrier block_execution::open_barrier
    block_execution::come_to_another_barrier block_execution::let_others_run block_execution::sleep
    block_execution::begin_stealing block_execution::steal_block
""".split()

# Names that code which computes takes from outside: the CUDA runtime and what the CPU backend and the
# compiler put in its place, memory, mathematics, printing, ending.
ALLOWED = re.compile(
    r"""
    cuda[A-Z]\w+ | threadIdx | blockIdx | blockDim | gridDim
    | __tsan_\w+ | __ubsan_handle_\w+ | _GLOBAL_OFFSET_TABLE_ | __dso_handle
    | __g(xx|cc)_personality_v0 | _Unwind_Resume
    | __cxa_(atexit|begin_catch|end_catch|throw|rethrow|allocate_exception|free_exception|guard_\w+
        |pure_virtual|bad_cast|throw_bad_array_new_length)
    | _Zn[aw]\w+ | _Zd[al]\w+ | malloc | calloc | realloc | free
    | __stack_chk_fail | __assert_fail | abort | exit | _ZSt9terminatev
    | mem(cpy|move|set|cmp|chr) | str(len|cmp|ncmp|chr)
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
BACKEND_NAME = re.compile(r"_Z(?:T[HW])?NK?11cpu_backend((?:\d+[a-z_]+)+)")
# The letters that nm has for names that are taken, and for those that stay within the object file. Of the
# others those of templates and inline functions are weak: each object that uses one has it.
TAKEN, LOCAL, WEAK = "Uvw", "abcdgnprst", "VWu"
SHARED_LIBRARIES = ("libstdc++.so.6", "libgcc_s.so.1", "libm.so.6", "libc.so.6")


class Libraries(NamedTuple):
    """The names that are defined outside of a submission."""

    ours: frozenset  # by what is linked with it
    of_system: frozenset  # by the shared libraries
    asked_for: frozenset  # what the exercise's driver takes from neither: the submission's part


def symbols_of(text):
    """[(name, nm's letter)] of what nm -P says of an object file, less what stays within it."""
    rows = [line.split(" ") for line in text.splitlines()]
    return sorted((row[0], row[1]) for row in rows if len(row) > 1 and row[1] not in LOCAL)


def objections_to_symbols(symbols, libraries, is_by_nvcc=False):
    """Sentences about what an object file takes and gives."""
    taken = [name for name, kind in symbols if kind in TAKEN and not _may_be_taken(name)]
    if is_by_nvcc:
        taken = [name for name in taken if not ALLOWED_TO_NVCC.fullmatch(name)]
    strong = [name for name, kind in symbols if kind not in (*TAKEN, *WEAK)]
    given = [name for name in strong if name in libraries.ours or name in libraries.of_system]
    return [
        *(f"It uses {name}, {NO_NEED}." for name in taken),
        *(f"It defines {name}, which is not its own." for name in given),
    ]


def names_to_keep(symbols, libraries):
    """The names by which other objects know something of this one; it keeps all others for itself.

    Of what weak names stand for, ours is taken wherever both have it. A driver asks for a whole
    program's main() as __real_main, which the linker makes of it (--wrap=main).
    """
    return [
        name
        for name, kind in symbols
        if kind not in TAKEN
        and (
            name in libraries.asked_for
            or f"__real_{name}" in libraries.asked_for
            or (kind in WEAK and name in libraries.ours)
        )
    ]


def _may_be_taken(name):
    of_backend = BACKEND_NAME.match(name)
    return bool(
        ALLOWED.fullmatch(name) or (of_backend and of_backend[1] in mangled_backend_names())
    )


@functools.lru_cache(None)
def mangled_backend_names():
    """As they stand in a mangled name: 15block_execution8returned."""
    return frozenset(
        "".join(f"{len(part)}{part}" for part in name.split("::")) for name in OF_THE_BACKEND
    )


@functools.lru_cache(None)
def _names(paths, *options):
    """(defined, taken): the names that these files define and take; nm is asked once for all of them."""
    printed = output_of(["nm", "-P", *options, *paths])
    if printed is None:  # without their names no definition could be told from a library's
        raise CommandError(f"nm can't read the names of {', '.join(paths)}.")
    symbols = symbols_of(printed)
    defined = {name.partition("@")[0] for name, kind in symbols if kind not in TAKEN}
    return frozenset(defined), frozenset(name for name, kind in symbols if kind in TAKEN)


def libraries_of(recipe):
    """The Libraries of a submission's Recipe, which names its driver first."""
    paths = tuple(path for path in recipe.libraries if not path.startswith("-"))
    ours, _ = _names(paths, "-g")
    of_system, _ = _names(_shared_libraries(tuple(lines_of(recipe.settings, "cxx"))), "-D")
    _, taken = _names(paths[:1], "-g")
    return Libraries(ours, of_system, taken - ours - of_system)


@functools.lru_cache(None)
def _shared_libraries(compiler):
    found = [output_of([*compiler, f"-print-file-name={name}"]) for name in SHARED_LIBRARIES]
    return tuple(path.strip() for path in found if path and path.strip().startswith("/"))
