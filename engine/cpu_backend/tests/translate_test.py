# SPDX-License-Identifier: MIT
"""The CPU backend's translate.py: what it rewrites, what it leaves alone, what it refuses."""

import contextlib
import pathlib
import re
import shutil
import subprocess
import sys
import time

import pytest

from engine.command.build_folder import lines_of, settings_of
from engine.command.paths import ENGINE
from engine.command.recipe import prerequisites
from test_setup import captured

sys.path.insert(0, str(ENGINE / "translate"))

from architecture import merged
from launches import CONFIGURE, CONFIGURED
from refusals import TranslationFailed
from rows_of_threads import BEGIN, END, NEXT_THREAD
from source_text import SHARED_MARKER, SourceText
from this_build import BUILD, ROOT
from translate import translate

BACKEND = ROOT / "engine/cpu_backend"
TRANSLATE = ROOT / "engine/translate/translate.py"

COMPILERS = [name for name in ("g++", "clang++") if shutil.which(name)]

# In these tables, a launch's kernel and configuration stand between « and ». Without the quotes
# the line is the input; what translate() must make of it follows from the two quoted parts.
MARKED_LAUNCH = re.compile(
    r"«([^»]*)»(\s*)<(\s*)<(\s*)<(\s*«[^»]*»\s*)>(\s*)>(\s*)>",
)

LAUNCHES = {
    "configurations of 1 to 4 arguments": """
        «k»<<<«1»>>>(x);
        «k»<<<«1, 2»>>>(x);
        «k»<<<«1, 2, 3»>>>(x);
        «k»<<<«1, 2, 3, 4»>>>();
        «k» <<< «1, 2» >>> (x);
    """,
    "white space that a preprocessor puts into the brackets": """
        «k»<< <«1, 2»>> >(x);
        «k» < < < «1, 2» > > > (x);
        «k»<<< «1, C<int> »>>>(x);
        «k»<< <«1, C<D<int>>»>>>(x);
    """,
    "names": """
        «::k»<<<«1, 1»>>>(x);
        «n::k»<<<«1, 1»>>>(x);
        «::n::m::k<T>»<<<«1, 1»>>>(x);
        «S<T>::k»<<<«1, 1»>>>(x);
        «S<T>::template k<U>»<<<«1, 1»>>>(x);
        «decltype(s)::k»<<<«1, 1»>>>(x);
        «kärnel»<<<«1, 1»>>>(x);
    """,
    "template argument lists": """
        «k<int>»<<<«1, 1»>>>(x);
        «k<>»<<<«1, 1»>>>(x);
        «k<a, b>»<<<«1, 1»>>>(x);
        «k<a, (b > c), sizeof(T)>»<<<«1, 1»>>>(x);
        «k<a<b>>»<<<«1, 1»>>>(x);
        «k<a<b<c>>>»<<<«1, 1»>>>(x);
        «k<a<b<c<d>>>>» <<<«1, 1»>>>(x);
        «k<1 << 3>»<<<«1, 1»>>>(x);
        «k<1<<3, 2<<4>»<<<«1, 1»>>>(x);
        «k<N < 4>»<<<«1, 1»>>>(x);
        «k<N <= 4, M >= 3>»<<<«1, 1»>>>(x);
        «k<&S::member, int (*)(int), T...>»<<<«1, 1»>>>(x);
        «k<[](int a) { return a > 1; }>»<<<«1, 1»>>>(x);
        «k<s->value>»<<<«1, 1»>>>(x);
        «k<'>', '<', '"'>»<<<«1, 1»>>>(x);
        «k<decltype(a > b)>»<<<«1, 1»>>>(x);
    """,
    "expressions": """
        «object.k»<<<«1, 1»>>>(x);
        «this->k»<<<«1, 1»>>>(x);
        «this->template k<T>»<<<«1, 1»>>>(x);
        «a.b->c.template d<e>»<<<«1, 1»>>>(x);
        «(flag ? k1 : k2)»<<<«1, 1»>>>(x);
        «(k<a, b>)»<<<«1, 1»>>>(x);
        «(*pointer)»<<<«1, 1»>>>(x);
        «get()»<<<«1, 1»>>>(x);
        «get<T>(x)»<<<«1, 1»>>>(x);
        «get(x)(y)»<<<«1, 1»>>>(x);
        «n::get<T>({1, 2})[3]»<<<«1, 1»>>>(x);
        «table[i > 3]»<<<«1, 1»>>>(x);
        «table[i][j].k»<<<«1, 1»>>>(x);
        «static_cast<void (*)(int*)>(k)»<<<«1, 1»>>>(x);
        «((void (*)(int*))k)»<<<«1, 1»>>>(x);
    """,
    "what comes before the kernel": """
        { «k»<<<«1, 1»>>>(x); }
        if (a > b) «k»<<<«1, 1»>>>(x); else «l»<<<«1, 1»>>>(x);
        if (a) «(b ? k : l)»<<<«1, 1»>>>(x);
        if constexpr (a) «(k)»<<<«1, 1»>>>(x);
        while (a) «(k)»<<<«1, 1»>>>(x);
        for (int i = 0; i < 3; ++i) «k<i>»<<<«1, 1»>>>(x);
        for (auto f : all) «(*f)»<<<«1, 1»>>>(x);
        switch (a) «(k)»<<<«1, 1»>>>(x);
        do «k»<<<«1, 1»>>>(x); while (a);
        switch (a) { case 1: «k»<<<«1, 1»>>>(x); default: «::k»<<<«1, 1»>>>(x); }
        label: «k»<<<«1, 1»>>>(x);
        [[likely]] «k»<<<«1, 1»>>>(x);
        return «k»<<<«1, 1»>>>(x);
        return «::k»<<<«1, 1»>>>(x);
        (void)«k»<<<«1, 1»>>>(x);
        (void)«(k)»<<<«1, 1»>>>(x);
        static_cast<void>(«k»<<<«1, 1»>>>(x));
        («k»<<<«1, 1»>>>(x), 0);
        (0, «k»<<<«1, 1»>>>(x));
        («k<I>»<<<«1, 1»>>>(I), ...);
        a < b ? «k»<<<«1, 1»>>>(x) : «k<c>»<<<«1, 1»>>>(x);
        auto f = [&] { «k»<<<«1, 1»>>>(x); };
        auto g = [](auto n) -> void { «k<decltype(n)>»<<<«1, n»>>>(x); };
        f(a < b, [&] { «k<c>»<<<«1, 1»>>>(x); });
        static_assert(requires { «k»<<<«1, 1»>>>(x); });
        «k»<<<«1, 1»>>>(x); «l»<<<«2, 2»>>>(y); a < b; «m<n>»<<<«3, 3»>>>(z);
    """,
    "'<' and '>' in the configuration": """
        «k»<<<«dim3(f<a<b<int>>>(x)), C<D<E<int>>>::value»>>>(args);
        «k»<<<«C<D<E<int>>>::value, 1»>>>(x);
        «k»<<<«C<D<E<int>>>{}, 1»>>>(x);
        «k»<<<«f<a<b<int>>>(x), 1»>>>(y);
        «k»<<<«f<a<b<c<int>>>>(x), 1»>>>(y);
        «k»<<<«1, f<a<b<int>>>(x)»>>>(y);
        «k»<<<«1, f<a>(x), g<h<i>>(y)»>>>(z);
        «k»<<<«1, v<int>»>>>(x);
        «k»<<<«1, v<w<int>>»>>>(x);
        «k»<<<«1, v<w<x<int>>>»>>>(x);
        «k»<<<«n >> 3, 256»>>>(x);
        «k»<<<«n>>3, 256»>>>(x);
        «k»<<<«1, n >> 3»>>>(x);
        «k»<<<«1 << n, 256 << 2»>>>(x);
        «k»<<<«(a > b), 1»>>>(x);
        «k»<<<«a > b, 1»>>>(x);
        «k»<<<«a < b ? 1 : 2, 32»>>>(x);
        «k»<<<«32, a < b ? 1 : 2»>>>(x);
        «k»<<<«a < b ? v<int> : w<v<int>>::value, c < d ? 1 : v<int>»>>>(x);
        «k»<<<«a<b, c<d»>>>(x);
        «k»<<<«a<b, c<d, e<f»>>>(x);
        («k»<<<«a<b, c<d, e<f»>>>(x), «k»<<<«a<b, c<d, e<f»>>>(x));
        «k»<<<«v<a> >> (3), 1»>>>(x);
        «k»<<<«v<a> >> 3, 1»>>>(x);
        «k»<<<«v<w<a>> > (3), 1»>>>(x);
        «k»<<<«a >= b, a <= b»>>>(x);
        «k»<<<«a->b, (a <=> b) > 0»>>>(x);
        «k»<<<«[&] { return a->b > 1 ? 2 : 3; }(), 1»>>>(x);
        «k»<<<«1, []<class T>(T a) -> int { return a; }(1)»>>>(x);
        «k»<<<«{1, 2}, {3, 4}»>>>(x);
        «k»<<<«a[b > c], '>'»>>>(x);
        «k»<<<«f(">>>("), 1»>>>(x);
    """,
    "commas in template arguments count as none": """
        «k»<<<«C<1, 2, 3>::value, D<4, E<5, 6>>::value, 7, 8»>>>(x);
        «k»<<<«C<1, 2, 3, 4, 5, 6>::value»>>>(x);
        «k»<<<«1, 2, 3, v<1, 2, 3>»>>>(x);
        «k»<<<«f(1, 2, 3), T{4, 5, 6}, a[(7, 8)], 9»>>>(x);
    """,
    "arguments": """
        «k»<<<«1, 1»>>>();
        «k»<<<«1, 1»>>>(T{1}, [&] { return 2; }, f({3}), a[i]);
        «k»<<<«1, 1»>>>(")", ')', "(", R"x()")x");
        «k»<<<«1, 1»>>>([&] { «l»<<<«1, 1»>>>(y); return 1; }());
        «k»<<<«1, 1»>>>(«l»<<<«1, 1»>>>(y));
    """,
    "launches after literals of every kind": """
        f("\\"", '"', '\\''); «k»<<<«1, 1»>>>(x);
        f(1'000, 0xF'F, 1'0.5e+1'0, 'a'); «k»<<<«1'000, 1'0»>>>(x);
        f(u8"a", L'"', LR"(")", u8R"("a"b")", R"(\\)"); «k»<<<«1, 1»>>>(x);
        case'"': «k»<<<«1, 1»>>>(x);
        return'"', «k»<<<«1, 1»>>>(x);
        FOR"(\\")"; «k»<<<«1, 1»>>>(x);
    """,
}

UNTOUCHED = (
    """
    std::operator<<<char>(a, b);
    operator<< <char>(a, b);
    auto f = &operator<<<T>;
    a << b; a <<= b; a < b; a <= b; a >> b; a >>= b; a <=> b; x<y<z<int>>>(a);
    "k<<<1, 1>>>(x)";
    R"(k<<<1, 1>>>(x))"; u8R"a(k<<<1, 1>>>(x))"k<<<1, 1>>>(x))a";
    '<'; '<<<'; L'<';
    // k<<<1, 1>>>(x)
    /* k<<<1,
       1>>>(x) */
    __null; f(__null);
"""
    + f"""
    "{SHARED_MARKER} int x;"; a{SHARED_MARKER}; {SHARED_MARKER}2;
# 7 "k<<<1, 1>>>(x)"
#pragma k<<<1, 1>>>(x) "
"""
)

# Line, beginning of the message, source. The file is a.cu and the source begins at line 10.
REFUSED = [
    (10, "the launch configuration is empty", "k<<<>>>(x);"),
    (10, "the launch configuration is empty", "k<<< >>>(x);"),
    (10, "argument 1 of the launch configuration is empty", "k<<<, 1>>>(x);"),
    (10, "argument 2 of the launch configuration is empty", "k<<<1, >>>(x);"),
    (10, "a launch configuration has 1 to 4 arguments", "k<<<1, 2, 3, 4, 5>>>(x);"),
    (10, "a launch configuration has 1 to 4 arguments", "k<<<1, a<b>::c, 3, 4, 5>>>(x);"),
    (10, "a '(' with the kernel's arguments must follow '>>>'", "k<<<1, 1>>>;"),
    (10, "a '(' with the kernel's arguments must follow '>>>'", "k<<<1, 1>>>{x};"),
    (10, "a '(' with the kernel's arguments must follow '>>>'", "k<<<1, v<int>>>>;"),
    (10, "a kernel argument can't be a list in braces", "k<<<1, 1>>>({1, 2});"),
    (11, "a kernel argument can't be a list in braces", "\nk<<<1, 1>>>(f({1}),\n {1});"),
    (10, "'<<<' begins a kernel launch, but no '>>>(' ends", "k<<<1, 1>>(x);"),
    (10, "'<<<' begins a kernel launch, but no '>>>(' ends", "k<<<1, 1;\n l<<<1, 1>>>(x);"),
    (10, "'<<<' begins a kernel launch, but no '>>>(' ends", "{ k<<<1, 1 }"),
    (10, "'<<<' begins a kernel launch, but no '>>>(' ends", "k<<<1, 1"),
    (10, "'<<<' begins a kernel launch, but no '>>>(' ends", "k<<<l<<<1, 1>>>(x), 1"),
    (10, "the '(' is never closed", "k<<<1, 1>>>(x;"),
    (10, "the '(' is never closed", "k<<<dim3(1, 1>>>(x);"),
    (10, "the '(' is never closed", "k<<<1, 1>>>(f[x)];"),
    (10, "can't tell which '>' end the launch configuration", "k<<<1, 1>>>>(x);"),
    (10, "can't tell which '>' end the launch configuration", "k<<<1, v<w>>>>>>(x);"),
    (
        10,
        "the launch configuration can end at more than one '>>>'",
        "k<<<f<g<h<int>>>(x), a<b, c<d, e<f>>>(y);",
    ),
    (10, "no kernel is named before '<<<'", "<<<1, 1>>>(x);"),
    (10, "no kernel is named before '<<<'", "3<<<1, 1>>>(x);"),
    (10, "no kernel is named before '<<<'", "else <<<1, 1>>>(x);"),
    (10, "no kernel is named before '<<<'", "if (x) <<<1, 1>>>(x);"),
    (10, "no kernel is named before '<<<'", "] <<<1, 1>>>(x);"),
    (10, "no kernel is named before '<<<'", ">> <<<1, 1>>>(x);"),
    (10, "no kernel is named before '<<<'", "a. <<<1, 1>>>(x);"),
    (10, "no kernel is named before '<<<'", "[&] { return k; }() <<<1, 1>>>(x);"),
    (11, "a kernel launch has no value and can't follow '3'", "int i = 3\nk<<<1, 1>>>(x);"),
    (10, "a kernel launch has no value and can't follow 'T'", "T k<<<1, 1>>>(x);"),
    (10, "a kernel launch has no value and can't follow '='", "a = k<<<1, 1>>>(x);"),
    (10, "a kernel launch has no value and can't follow '*'", "*k<<<1, 1>>>(x);"),
    (10, "more than three '<' in a row", "k<<<<1, 1>>>(x);"),
    (12, "more than three '<' in a row", "\n\n<<<<<<< HEAD"),
    (10, "the kernel's name contains another launch", "(l<<<1, 1>>>(y), k)<<<1, 1>>>(x);"),
    (12, "the launch configuration is empty", 'R"(\n)";\nk<<<>>>(x);'),
    (10, "an extern __shared__ array has no size of its own", "extern @ int x[4];"),
    (10, "an extern __shared__ variable must be an array", "extern @ int x;"),
    (10, "declare each extern __shared__ array in a statement", "extern @ int x[], y[];"),
    (10, "declare each extern __shared__ array in a statement", "extern @ int n, x[];"),
    (10, "this extern __shared__ declaration is not understood", "extern @ int (*x)[];"),
    (10, "this extern __shared__ declaration is not understood", "extern @ x[];"),
    (11, "a __shared__ variable can't be initialised", "\n@ int x = 0;"),
    (10, "a __shared__ variable can't be initialised", "@ int x{};"),
    (10, "a __shared__ variable can't be initialised", "@ int x[2] = {1, 2};"),
    (10, "a __shared__ variable can't be initialised", "@ T x(1), y;"),
    (10, "a __shared__ variable can't be initialised", "@ struct S x{};"),
    (10, "a __shared__ variable can't be initialised", "extern @ int x[] = {1};"),
    (10, "a ';' is missing after the declaration", "{ @ int x }"),
    (10, "a ';' is missing after the declaration", "@ int x"),
    (10, "a ';' is missing after the declaration", "@ int x[4]\nfor (int i = 0; i < 4; ++i) {}"),
    (10, "a ';' is missing after the declaration", "@ int x[4]\nx[i] = 0;"),
    (10, "a ';' is missing after the declaration", "@ int x\nif (i == 0) x = 0;"),
    (10, "__shared__ must be part of a declaration", "void f(@ int x);"),
    (10, "__shared__ must be part of a declaration", "int* @ x;"),
    (11, "a member of a class can't be", "template <class T> struct S : B<T> {\n@ T x; };"),
]

# Source and result; @ stands for what cuda_runtime.h makes of __shared__, and DYNAMIC(T) for the
# call that returns the block's dynamic shared memory.
SHARED = [
    ("{ @ int x; }", "{ static thread_local int x; }"),
    ("@ int x;", "static thread_local int x;"),
    ("{ static @ int x[4]; }", "{ static thread_local int x[4]; }"),
    ("{ @ static int x[4]; }", "{ thread_local static int x[4]; }"),
    ("{ volatile @ int x; }", "{ volatile static thread_local int x; }"),
    ("{ float @ x; }", "{ float static thread_local x; }"),
    ("{ alignas(16) @ int x; }", "{ alignas(16) static thread_local int x; }"),
    ("{ @ alignas(16) int x; }", "{ alignas (16) static thread_local  int x; }"),
    ("{ @ struct { int a = 1; } x; }", "{ static thread_local struct { int a = 1; } x; }"),
    ("{ @ A<a == b, 3> x, y[3]; }", "{ static thread_local A<a == b, 3> x, y[3]; }"),
    ("{ case 1: @ int x; }", "{ case 1: static thread_local int x; }"),
    (
        "{ @ int x __attribute__((aligned(16))); }",
        "{ static thread_local int x __attribute__((aligned(16))); }",
    ),
    ("{ extern @ int x[]; }", "{ [[maybe_unused]] int (&x)[] = DYNAMIC(int); }"),
    ("void f() { extern @ int x[]; }", "void f() { [[maybe_unused]] int (&x)[] = DYNAMIC(int); }"),
    (
        "[](struct S s) { extern @ int x[]; };",
        "[](struct S s) { [[maybe_unused]] int (&x)[] = DYNAMIC(int); };",
    ),
    (
        "struct S { void f() { extern @ int x[]; } };",
        "struct S { void f() { [[maybe_unused]] int (&x)[] = DYNAMIC(int); } };",
    ),
    ("extern @ int x[];", "[[maybe_unused]] static thread_local int (&x)[] = DYNAMIC(int);"),
    (
        "namespace a::b { struct S {}; extern @ T x[]; }",
        "namespace a::b { struct S {}; [[maybe_unused]] static thread_local T (&x)[] = DYNAMIC(T); }",
    ),
    (
        "namespace { extern @ int x[]; }",
        "namespace { [[maybe_unused]] static thread_local int (&x)[] = DYNAMIC(int); }",
    ),
    (
        "{ extern @ __attribute__((aligned(16))) unsigned char s[]; }",
        "{ [[maybe_unused]] unsigned char (&s)[] = DYNAMIC(unsigned char); }",
    ),
    (
        "{ extern __attribute__((aligned(16))) @ float4 s[]; }",
        "{ [[maybe_unused]] float4 (&s)[] = DYNAMIC(float4); }",
    ),
    (
        "{ extern @ float4 s[] __attribute__((aligned(16))); }",
        "{ [[maybe_unused]] float4 (&s)[] = DYNAMIC(float4) ; }",
    ),
    (
        "{ alignas(16) extern @ float4 s[]; }",
        "{ [[maybe_unused]] float4 (&s)[] = DYNAMIC(float4); }",
    ),
    (
        "{ extern @ typename X<T, 3>::type s[]; }",
        "{ [[maybe_unused]] typename X<T, 3>::type (&s)[] = DYNAMIC(typename X<T, 3>::type); }",
    ),
    (
        "{ extern volatile @ int* s[]; }",
        "{ [[maybe_unused]] volatile int* (&s)[] = DYNAMIC(volatile int*); }",
    ),
    (
        "{ extern @ float s[][N < 3][32]; }",
        "{ [[maybe_unused]] float (&s)[][N < 3][32] = DYNAMIC(float[N < 3][32]); }",
    ),
]


def lines(table: str) -> list[str]:
    return [line.strip() for line in table.splitlines() if line.strip()]


def latin1(text: str) -> str:
    return text.encode().decode("latin-1")


def translated(kernel: str, configuration: str) -> str:
    """What a launch becomes when nothing but one blank separates its parts."""
    return CONFIGURE + kernel + CONFIGURED.format(kernel=kernel) + configuration + "))"


def unquoted(marked: str) -> str:
    return marked.replace("«", "").replace("»", "")


def expected(marked: str) -> str:
    def launch(match: re.Match) -> str:
        kernel, space, inner, inner2, configuration, outer, outer2 = match.groups()
        call = CONFIGURED.format(kernel=kernel)
        return f"{CONFIGURE}{kernel}{space}{call}{inner}{inner2}{configuration})){outer}{outer2}"

    return unquoted(MARKED_LAUNCH.sub(launch, marked))


def same_but_for_blanks(text: str) -> str:
    return re.sub(" +", " ", text)


# For racecheck, a __shared__ variable also says that it is there.


def observed(declaration: str) -> str:
    return translate(f"void k() {{ {declaration} }}", "a.cu", True)


@pytest.mark.parametrize(
    "declaration, names",
    {
        "__cpu_backend_shared__ int a;": ["a"],
        "__cpu_backend_shared__ int a[32][33];": ["a"],
        "__cpu_backend_shared__ T<1, 2> a, b[3];": ["a", "b"],
        "__cpu_backend_shared__ struct { int x; } s;": ["s"],
        "__cpu_backend_shared__ alignas(16) float v[4];": ["v"],
        "__cpu_backend_shared__ float v[4] alignas(16);": ["v"],
        "__cpu_backend_shared__ int (*row)[32];": ["row"],
        "__cpu_backend_shared__ int a[2], (*row)[32];": ["a", "row"],
        "__cpu_backend_shared__ void (*call)(int);": ["call"],
        "__cpu_backend_shared__ void (*calls[4])(int), *p;": ["calls", "p"],
    }.items(),
)
def test_each_variable_of_a_declaration(declaration, names):
    announced = (
        '::cpu_backend::shared_variable({name}, "{name}"); '
        "alignas(4096) [[gnu::used]] static thread_local char after_{name};"
    ).format
    result = observed(declaration)
    assert result.endswith("; " + " ".join(announced(name=name) for name in names) + " }")
    assert "shared_variable" not in translate(f"void k() {{ {declaration} }}", "a.cu")


def test_dynamic_shared_memory_needs_no_announcement():
    result = observed("extern __cpu_backend_shared__ int a[];")
    assert "shared_variable" not in result


def test_outside_of_a_function_it_is_announced_to_each_block():
    result = translate("namespace n { __cpu_backend_shared__ int a, b[2]; }", "a.cu", True)
    for name in ("a", "b"):
        assert (
            f" static const ::cpu_backend::shared_variable_of_file announced_{name}"
            "([](::cpu_backend::multiprocessor& to) { "
            f'::cpu_backend::announce_shared_variable(to, {name}, "{name}"); }});'
            f" alignas(4096) [[gnu::used]] static thread_local char after_{name};"
        ) in result


def test_an_extern_array_outside_of_a_function_has_one_address():
    result = translate("extern __cpu_backend_shared__ int a[][2];", "a.cu", True)
    assert same_but_for_blanks(result) == (
        "[[maybe_unused]] static int (&a)[][2] = *reinterpret_cast<"
        "::cpu_backend::array_without_size<int[2]>*>("
        "::cpu_backend::memory_of_extern_arrays.usable);"
    )


DISCARDED = """
    void f() { «atomicExch(p, 0)»; }
    ; «atomicExch(&slots[atomicAdd(n, 1)], g(0))»;
    if (a && (b || c)) «atomicExch(p, 0)»; else «atomicExch_block(p, 0)»;
    while (a) «::atomicExch_system(p, 0)»;
    for (;;) { «(void)atomicExch(p, 0)»; }
    do «atomicExch (p, 0)» ; while (a);
    x = atomicExch(p, 0);
    x = (int)atomicExch(p, 0);
    if (atomicExch(p, 0)) g();
    f(atomicExch(p, 0));
    return atomicExch(p, 0);
    x = a ? 1 : atomicExch(p, 0);
    ; n::atomicExch(p, 0);
    ; o.atomicExch(p, 0);
    ; atomicExch(p, 0) + 1;
    ; my_atomicExch(p, 0);
    inline int atomicExch(int* p, int v);
    "; atomicExch(p, 0);"
"""


# atomicExch() in the scheduled form: what follows tells that nobody uses its value.


@pytest.mark.parametrize("line", DISCARDED.strip().splitlines())
def test_only_calls_that_are_statements_are_marked(line):
    source = line.replace("«", "").replace("»", "")
    marked = line.replace("«", "")
    marked = marked.replace("»", ", ::cpu_backend::old_value_is_unused()")
    assert translate(source, "t.cu", is_scheduled=True) == marked
    assert translate(source, "t.cu") == source


WAITING = """
    while (cuda«StreamQuery»(s) == cudaErrorNotReady) {}
    while (::cuda«EventQuery»(events[i].done) != cudaSuccess) ;
    while (cuda«StreamQuery»(s) == cudaErrorNotReady) { std::this_thread::yield(); }
    while (cuda«EventQuery»(e) != cudaSuccess) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    while (cudaStreamQuery(s) == cudaErrorNotReady) ++n;
    while (cudaStreamQuery(s) == cudaErrorNotReady) { ++n; }
    while (cudaStreamQuery(next()) == cudaErrorNotReady) {}
    while (cudaStreamQuery(s) == cudaErrorNotReady && --patience) {}
    while (cudaStreamQuery(s) == cudaSuccess) {}
    if (cudaStreamQuery(s) == cudaErrorNotReady) {}
"""


# A loop that only asks, in the scheduled form: it waits.


@pytest.mark.parametrize("line", WAITING.strip().splitlines())
def test_a_loop_that_only_asks_waits(line):
    source = line.replace("«", "").replace("»", "")
    waits = re.sub("«(Stream|Event)Query»", r"\1Synchronize", line)
    assert translate(source, "t.cu", is_scheduled=True) == waits
    assert translate(source, "t.cu") == source


GLOBAL = "__cpu_backend_global__"
# Kernels whose threads can't wait, and how each `return` reads then.
ROWS = """
    void k(int* a, int n) {« int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] = i; »}
    void k(const float* __restrict__ a, float* b, std::size_t n) {«
      const auto i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
      if (i >= n) return;
      b[i] = sqrtf(static_cast<float>(n)) * (a[i] + (float)(i)) - max(a[i], 0.f);
    »}
    template <int width> void k(T* a, const unsigned n) {«
      if constexpr (width > 2) { a[threadIdx.x] = 1; } else { a[threadIdx.y] = n & 1; }
      for (int i = 0; i < width; ++i) { if (a[i] == n) return; }
      for (auto x : {1, 2}) { a[threadIdx.x] += x; }
    »}
    void n::k(some::type<3>* a) {« a[threadIdx.x].x = a[(int)(threadIdx.x - 1)].y > (1 + 2); »}
    void k(int* a) {« int b[] = {1, 2}; a[threadIdx.x] = b[0] - -b[1]; »}
    void k(int* a, int n) {«
      const unsigned stride = gridDim.x * blockDim.x;
      for (unsigned i = threadIdx.x; i < n; i += stride) { if (a[i] == n) continue; a[i] = 1; }
      for (unsigned i = n - 1; i > 0; i /= 2) { if (i == 4 && n == 3) break; a[i] = std::abs(n); }
      for (int i = 8; i >= 1; i >>= 1) switch (n) { case 1: break; default: a[(n)] = 0; }
    »}
"""

# One thing each because of which a kernel stays as it is.
NO_ROWS = """
    void k(int* a) { a[0] = blockIdx.x; }
    void k(int* a) { a[threadIdx.x] = f(1); }
    void k(int* a) { a[threadIdx.x] = f<3>(1); }
    void k(int* a) { a[threadIdx.x] = 1; __syncthreads(); }
    void k(int* a) { a[threadIdx.x] = 1; (*function)(a); }
    void k(int* a) { a[threadIdx.x] = table[1](a); }
    void k(int* a) { a[threadIdx.x] = [] { return 1; }(); }
    void k(int* a) { guard g{a}; a[threadIdx.x] = 1; }
    void k(int* a) { guard g(a); a[threadIdx.x] = 1; }
    void k(int* a) { while (a[threadIdx.x]) a[threadIdx.x] -= 1; }
    void k(int* a) { do a[threadIdx.x] -= 1; }
    void k(int* a) { for (; flag == 0;) {} a[threadIdx.x] -= 1; }
    void k(int* a) { for (;;) a[threadIdx.x] -= 1; }
    void k(int* a) { for (int i = 0; flag == 0; ++i) {} a[threadIdx.x] -= 1; }
    void k(int* a) { for (int i = 0; i < 2 || flag == 0; ++i) {} a[threadIdx.x] -= 1; }
    void k(int* a) { for (counter i = 0; i < 2; ++i) {} a[threadIdx.x] -= 1; }
    void k(int* a) { for (int i = b ? 1 : 2; flag == 0; ++i) {} a[threadIdx.x] -= 1; }
    void k(int* a) { a[threadIdx.x] = 1; return }
    void k(int* a) { < a[threadIdx.x] > (1); }
    void k(int* a) { a[threadIdx.x] = 1; for }
    void k(int* a) { a[threadIdx.x] = 1; for (int i = 0; i < 2 }
    void k(int* a) { again: a[threadIdx.x] -= 1; if (a[0]) goto again; }
    void k(int* a) { volatile int* b = a; b[threadIdx.x] = 1; }
    void k(volatile int* a) { a[threadIdx.x] = 1; }
    void k(int* a) { static int b; a[threadIdx.x] = b; }
    void k(int* a) { __cpu_backend_shared__ int b; a[threadIdx.x] = b; }
    void k(int* a) { struct s { int x; }; a[threadIdx.x] = 1; }
    void k(int* a) { a[threadIdx.x] = 1; return g; }
    void k(some_class c) { c.a[threadIdx.x] = 1; }
    void k(int& a) { a = threadIdx.x; }
    void k(int* a, int n = 3) { a[threadIdx.x] = n; }
    void k(int*) { a[threadIdx.x] = 1; }
    void k(T... a) { b[threadIdx.x] = 1; }
    void k(int (*f)[3]) { f[threadIdx.x][0] = 1; }
    void k(int* a, int n) { n += 1; a[threadIdx.x] = n; }
    void k(int* a, int n) { n <<= 1; a[threadIdx.x] = n; }
    void k(int* a, int n) { n = a[threadIdx.x]; }
    void k(int* a, int n) { a[threadIdx.x] = n++; }
    void k(int* a, int n) { a[threadIdx.x] = --n; }
    void k(int* a, int n) { int& m = n; a[threadIdx.x] = m; }
    void k(int* a, int n) { int* m = &n; a[threadIdx.x] = *m; }
    void k(int* a, int n) { (n) += threadIdx.x; a[n] = 1; }
    void k(int* a, int n) { ++(n); a[threadIdx.x] = n; }
    void k(int* a, int n) { auto&& m = n; m += threadIdx.x; a[n] = m; }
    void k(cursor<int*> c) { c.at += threadIdx.x; *c.at = 7; }
    void k(int* a) { a[threadIdx.x] = warp::max(1, 2); }
    void k(int* a) { a[threadIdx.x] = a->max(1, 2); }
    void k(int* a) { a[threadIdx.x] = limits<int>::max(); }
    void k(int* a) { auto max = &f; a[threadIdx.x] = max(1, 2); }
    void k(int* a, int n) { int i = threadIdx.x; if (i >= n) continue; a[i] = i; }
    void k(int* a, int n) { int i = threadIdx.x; if (i >= n) break; a[i] = i; }
    void k(int* a, int n) { switch (n) { case 1: continue; } a[threadIdx.x] = 1; }
    void k(int* a) { for (int i = 0; i == 0; i = ready) {} a[threadIdx.x] = 1; }
    void k(int* a) { for (int i = 0; i == ready;) {} a[threadIdx.x] = 1; }
    void k(int* a) { for (int i = 0; i < 1;) { i = ready; } a[threadIdx.x] = 1; }
    void k(int* a) { for (int i = 0; i < 1; i += ready) {} a[threadIdx.x] = 1; }
    void k(int* a) { for (int i = 0; i < 9; i += a[1]) {} a[threadIdx.x] = 1; }
    void k(int* a) { for (int i = 1; i > 0; ++i) { i -= ready; } a[threadIdx.x] = 1; }
    void k(int* a) { for (int i = 1; i > 0; ++i) {} a[threadIdx.x] = 1; }
    void k(int* a) { for (int i = 0; i < 2; ++i) { --(i); } a[threadIdx.x] = 1; }
    void k(int* a) { for (int i = 0; i < (ready ? 0 : 9); ++i) {} a[threadIdx.x] = 1; }
"""


# Kernels whose threads can't wait run a row of threads in one call.


def kernels(table: str) -> list[str]:
    return re.split(r"\n(?=    (?:void|template))", table.rstrip())[1:]


@pytest.mark.parametrize("kernel", kernels(ROWS))
def test_their_bodies_stand_in_a_loop(kernel):
    source = kernel.replace("void", f"{GLOBAL} void").replace("«", "")
    source = source.replace("»", "")
    result = translate(source, "a.cu")
    wanted = re.escape(kernel.replace("void", " void").replace("return", "RETURN"))
    wanted = wanted.replace("RETURN", f"goto {NEXT_THREAD}")
    wanted = wanted.replace("«", re.escape(BEGIN) + r"(?:\n# \d+ \"a.cu\"\n +)?")
    assert re.search(wanted.replace("»", re.escape(END)) + r"\Z", result)
    assert BEGIN not in translate(source, "a.cu", is_scheduled=True)


@pytest.mark.parametrize("kernel", kernels(NO_ROWS))
def test_other_kernels_are_left_alone(kernel):
    text = kernel.replace("void k", f"{GLOBAL} void k")
    assert "row_of_threads" not in translate(text, "a.cu")


def test_a_loop_that_waits_for_a_volatile_variable():
    loop = "for (int i = 0; i < flag; ++i) {} a[threadIdx.x] = 1;"
    kernel = f"{GLOBAL} void k(int* a) {{ {loop} }}"
    assert "row_of_threads" in translate(kernel, "a.cu")
    assert "row_of_threads" not in translate(f"volatile int flag; {kernel}", "a.cu")


def test_a_function_of_the_program_that_is_named_as_one_that_computes():
    kernel = f"{GLOBAL} void k(int* a) {{ a[threadIdx.x] = max(a[0], 1); }}"
    assert "row_of_threads" in translate(kernel, "a.cu")
    own = "__cpu_backend_device__ int max(int a, int b) { __syncthreads(); return a; }"
    assert "row_of_threads" not in translate(own + kernel, "a.cu")


def test_a_header_of_the_system_stays_one():
    kernel = f'# 1 "a.h" 1 3\n{GLOBAL} void k(int* a) {{ a[threadIdx.x] = 1; }}'
    assert '\n# 1 "a.h" 3\n' in translate(kernel, "a.cu")


def test_device_functions_are_left_alone():
    text = "__cpu_backend_device__ void f(int* a) { a[threadIdx.x] = 1; }"
    assert "row_of_threads" not in translate(text, "a.cu")


def test_what_stands_behind_the_brace_keeps_its_line_and_column():
    kernel = f"\n{GLOBAL} void k(int* a) {{ a[threadIdx.x] = 1; }}"
    lines = translate(kernel, "a.cu").splitlines()
    assert lines[2] == '# 2 "a.cu"'
    assert lines[3].index("a[threadIdx") == kernel.splitlines()[1].index("a[threadIdx")


def check(marked: str) -> None:
    source = unquoted(marked)
    assert expected(marked) != source
    assert translate(latin1(source), "a.cu") == latin1(expected(marked))


def test_white_space_between_the_tokens_is_kept():
    source = "k\n  <<<\n1,\n2\n>>>\n(\nx\n)\n;"
    call = CONFIGURED.format(kernel="k")
    assert translate(source, "a.cu") == f"{CONFIGURE}k\n  {call}\n1,\n2\n))\n(\nx\n)\n;"


def test_line_markers_stay_at_the_beginning_of_their_lines():
    marker = '\n# 3 "h.h" 3 4\n'
    pragma = '\n#pragma GCC poison ">>>("\n'
    source = (
        f"k{marker}<{pragma}int{marker}>{marker}<<{pragma}<1{marker},{pragma}2 >>{marker}> "
        f"{pragma}({marker}x);"
    )
    call = CONFIGURED.format(kernel="k < int >")
    assert translate(source, "a.cu") == (
        f"{CONFIGURE}k{marker}<{pragma}int{marker}>{marker}{call}{pragma}1{marker},{pragma}2 ))"
        f"{marker} {pragma}({marker}x);"
    )


def test_a_line_stays_a_line():
    source = '# 1 "a.cu"\n' + "\n".join(lines("".join(LAUNCHES.values())))
    source = latin1(unquoted(source))
    result = translate(source, "a.cu")
    assert result.count("\n") == source.count("\n")
    assert "<<<" not in result


@pytest.mark.parametrize(
    "source", (UNTOUCHED, *lines(UNTOUCHED.replace("/* k<<<1,\n       1>>>(x) */", "")))
)
def test_what_is_no_launch_is_left_alone(source):
    assert translate(source, "a.cu") == source


def test_null_becomes_a_pointer_of_any_type():
    assert (
        translate("k<<<1, 1, 0, __null>>>(__null, f(__null), 1 + __null, \n __null );", "a.cu")
        == translated("k", "1, 1, 0, __null") + "(nullptr, f(__null), 1 + __null, \n nullptr );"
    )


def test_a_kernel_name_longer_than_any_window():
    long = "k<" + "a_type_with_a_long_name, " * 4000 + "int>"
    check(f"f(); «{long}»<<<«1, 1»>>>(x);")
    check(f"f(); «{long.replace(' ', '')}»<<<«1, 1»>>>(x);")


def test_many_launches_on_many_lines():
    line = "f(a < b); " + "k<int><<<1, C<D<E<int>>>::value>>>(x); " * 5 + "\n"
    one = translated("k<int>", "1, C<D<E<int>>>::value") + "(x); "
    assert translate(line * 100, "a.cu") == ("f(a < b); " + one * 5 + "\n") * 100


@pytest.mark.parametrize(
    "marked",
    [
        pytest.param(marked, id=f"{name}: {marked}")
        for name, table in LAUNCHES.items()
        for marked in lines(table)
    ],
)
def test_launches(marked):
    check(marked)


@pytest.mark.parametrize("source, result", SHARED)
def test_declarations(source, result):
    result = re.sub(
        r"DYNAMIC\((.*)\)( ?);",
        r"::cpu_backend::dynamic_shared_memory<\1>()\2;",
        result,
    )
    assert same_but_for_blanks(
        translate(source.replace("@", SHARED_MARKER), "a.cu")
    ) == same_but_for_blanks(result)


def test_line_markers_inside_a_declaration_are_kept():
    marker = '\n# 3 "h.h" 3 4\n'
    source = f"{{ extern{marker}{SHARED_MARKER}{marker}float{marker}x{marker}[{marker}]; }}"
    assert translate(source, "a.cu") == (
        f"{{ [[maybe_unused]] {marker}{marker}float{marker}(&x){marker}[{marker}]"
        " = ::cpu_backend::dynamic_shared_memory<float>(); }"
    )


def refused(source: str) -> list[str]:
    with pytest.raises(TranslationFailed) as caught:
        translate(source, "input.cu")
    return caught.value.messages


@pytest.mark.parametrize("line, message, source", REFUSED)
def test_each_names_its_line(line, message, source):
    before = '# 1 "input.cu"\nx;\n"# 77 \\"b.cu\\"";\n# 10 "a.cu" 2\n'
    messages = refused(before + source.replace("@", SHARED_MARKER))
    assert messages[0].startswith(f"a.cu:{line}: error: {message}"), messages[0]
    assert "\n" not in messages[0]


def test_without_a_line_marker_it_is_the_line_of_the_input():
    assert refused("\n\nk<<<>>>(x);")[0].startswith("input.cu:3: error: ")


def test_a_raw_string_holds_no_line_marker():
    messages = refused('# 5 "a.cu"\nR"(\n# 70 "b.cu"\n)";\nk<<<>>>(x);')
    assert messages[0].startswith("a.cu:8: error: "), messages[0]


def test_a_file_name_is_unescaped():
    messages = refused('# 5 "a \\"b\\" \\\\ c.cu"\nk<<<>>>(x);')
    assert messages[0].startswith('a "b" \\ c.cu:5: error: '), messages[0]


def test_all_mistakes_are_reported_in_order():
    wrong = f"k<<<>>>(x);\n{SHARED_MARKER} int x = 1;\nl<<<1>>>(y);\nm<<<1>>(z);"
    messages = refused(wrong)
    assert [message.split(":")[1] for message in messages] == ["1", "2", "4"]


def test_every_beginning_of_a_launch_ends_in_a_message_or_a_result():
    source = latin1(
        f"{{ extern {SHARED_MARKER} T<a, b> x[]; if (a < b) n::k<a, (b > c)>"
        '<<<dim3(f<g<h>>>(x)), C<D<E<int>>>::value, a < b>>>({1}, R"(x)", 1\'0); }'
    )
    for end in range(len(source)):
        for begin in (0, end // 2):
            try:
                translate(source[begin:end], "a.cu")
            except TranslationFailed as failure:
                assert ": error: " in failure.messages[0]


# The command as the build calls it, with the compilers that are here.


def test_a_compiler_is_here():
    assert COMPILERS, "neither g++ nor clang++ was found"


def write_file(tmp_path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")


def run_in_folder(tmp_path, command: list[str]) -> subprocess.CompletedProcess:
    return captured(command, cwd=tmp_path, timeout=300)


def run_translate(tmp_path, compiler: str, *arguments: str) -> subprocess.CompletedProcess:
    command = [sys.executable, str(TRANSLATE), "--compiler", compiler]
    command += ["--output", "out.cpp", "--depfile", "out.d", "a.cu", "--", "-std=c++20"]
    command += ["-D__CUDACC__=1"]  # else __global__ says nothing
    include = ["-I", str(ROOT / "engine"), "-include", "cuda_runtime.h"]
    for folder in ("include", "concurrent/include"):
        include += ["-I", str(BACKEND / folder)]
    return run_in_folder(tmp_path, [*command, *include, *arguments])


def run_compiler(tmp_path, compiler: str, *arguments: str) -> subprocess.CompletedProcess:
    command = [compiler, "-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-x", "c++-cpp-output"]
    return run_in_folder(tmp_path, [*command, "out.cpp", *arguments])


def files_of(tmp_path) -> set[str]:
    return {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_compiler_error_has_the_students_line(tmp_path, compiler):
    write_file(tmp_path, "a.cu", MULTI_LINE_LAUNCH + 'int broken = "text";\n')
    line = MULTI_LINE_LAUNCH.count("\n") + 1
    assert run_translate(tmp_path, compiler).returncode == 0
    result = run_compiler(tmp_path, compiler, "-fsyntax-only")
    assert result.returncode != 0
    assert re.search(rf"(?m)^a\.cu:{line}:\d+: error: ", result.stderr)
    assert len(re.findall("error: ", result.stderr)) == 1, result.stderr


@pytest.mark.parametrize("compiler", COMPILERS)
def test_debug_information_has_the_students_lines(tmp_path, compiler):
    write_file(
        tmp_path, "a.cu", MULTI_LINE_LAUNCH + 'extern "C" int after_it() {\n  return 3;\n}\n'
    )
    line = MULTI_LINE_LAUNCH.count("\n") + 1
    assert run_translate(tmp_path, compiler).returncode == 0
    result = run_compiler(tmp_path, compiler, "-g", "-S", "-o", "out.s")
    assert result.returncode == 0, result.stderr
    assembly = (tmp_path / "out.s").read_text(encoding="utf-8")
    body = assembly.split("\nafter_it:")[1]
    file, first = re.search(r"\.loc\s+(\d+)\s+(\d+)", body).groups()
    assert int(first) == line
    assert re.search(rf'\.file\s+{file}\s+.*"a\.cu"', assembly)


def test_debug_information_is_of_lines_alone(tmp_path):
    """Types and variables would take a third of the time to compile."""
    settings = settings_of(BUILD)
    arguments = lines_of(settings, "compile_arguments")
    levels = [word for word in arguments if re.fullmatch(r"-g\d?", word)]
    if levels[-1:] == ["-g"]:
        pytest.skip("this build is to be debugged")
    write_file(
        tmp_path, "a.cpp", "struct pair { int first; };\nint f(pair of) { return of.first; }\n"
    )
    compiler = lines_of(settings, "compiler")
    compiled = run_in_folder(tmp_path, [*compiler, *arguments, "-c", "a.cpp", "-o", "a.o"])
    assert (compiled.returncode, compiled.stderr) == (0, "")
    told = run_in_folder(tmp_path, ["readelf", "--debug-dump=abbrev", "a.o"]).stdout
    assert "DW_TAG_compile_unit" in told
    assert "DW_TAG_structure_type" not in told


@pytest.mark.parametrize("compiler", COMPILERS)
def test_launches_in_headers_and_macros(tmp_path, compiler):
    write_file(tmp_path, "a.h", "inline void in_header() {\n  kernel<<<1,\n  1>>>(NULL, 1);\n}\n")
    write_file(tmp_path, "a.cu", MACRO_LAUNCHES)
    assert run_translate(tmp_path, compiler).stderr == ""
    result = run_compiler(tmp_path, compiler, "-Werror", "-fsyntax-only")
    assert result.stderr == ""


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_launch_that_is_not_understood_in_a_header(tmp_path, compiler):
    write_file(tmp_path, "a.h", "inline void f() {\n\n  kernel<<<>>>(1);\n}\n")
    write_file(
        tmp_path, "a.cu", '#include "a.h"\n#define LAUNCH k<<<1,1>>>;\nvoid g() {\n LAUNCH\n}\n'
    )
    result = run_translate(tmp_path, compiler)
    assert result.returncode == 1
    first, second = result.stderr.splitlines()
    assert re.search(r"\A(\./)?a\.h:3: error: the launch configuration is empty", first)
    assert re.search(r"\Aa\.cu:4: error: a '\(' with the kernel's arguments", second)
    assert files_of(tmp_path) == {"a.cu", "a.h"}


@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_depfile_names_every_header(tmp_path, compiler):
    write_file(tmp_path, "a.h", "#define WIDTH 3\n")
    write_file(tmp_path, "a.cu", '#include "a.h"\nint width = WIDTH;\n')
    assert run_translate(tmp_path, compiler).returncode == 0
    rule = (tmp_path / "out.d").read_text(encoding="utf-8")
    assert rule.startswith("out.cpp:"), rule[:80]
    assert "a.h" in rule.split()
    assert "a.cu" in rule.split()
    assert files_of(tmp_path) == {"a.cu", "a.h", "out.cpp", "out.d"}


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_folder_whose_name_has_other_letters(compiler, tmp_path):
    """The compilers write it each in their own way: the backend's headers must be known as such, and
    every message and prerequisite must name the user's file as the system does."""
    tmp_path /= "K\u00fcche \u65b0 $x#"
    engine = tmp_path / "engine"
    shutil.copytree(
        ENGINE / "translate", engine / "translate", ignore=shutil.ignore_patterns("__py*")
    )
    shutil.copytree(BACKEND, engine / "cpu_backend")
    include = [f"-I{engine}", "-include", "cuda_runtime.h"]
    for name in ("include", "concurrent/include"):
        include.append(f"-I{engine / 'cpu_backend' / name}")
    header, file, output = (tmp_path / name for name in ("a.h", "a.cu", "out.cpp"))
    command = [
        sys.executable, str(engine / "translate/translate.py"), "--compiler", compiler,
        "--output", str(output), "--depfile", "out.d", str(file), "--", "-std=c++20",
        "-D__CUDACC__=1", *include,
    ]  # fmt: skip
    write_file(tmp_path, "a.h", "__global__ void k() {\n#ifdef __CUDA_ARCH__\n#endif\n}\n")
    write_file(tmp_path, "a.cu", f'#include "{header}"\nint main() {{ k<<<1, 1>>>(); }}\n')
    result = run_in_folder(tmp_path, command)
    assert (result.returncode, result.stderr) == (0, "")
    result = run_compiler(tmp_path, compiler, "-Werror", "-fsyntax-only")
    assert (result.returncode, result.stderr) == (0, "")
    named = prerequisites(tmp_path / "out.d")
    for path in (file, header, engine / "translate/translate.py"):
        assert str(path) in named
    assert all(pathlib.Path(path).exists() for path in named), named

    write_file(tmp_path, "a.h", "__global__ void k() {\n  tex1D<float>(0, 0);\n}\n")
    result = run_in_folder(tmp_path, command)
    assert result.returncode == 1
    assert result.stderr.startswith(f"{header}:2: error: textures"), result.stderr


@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_compilers_own_errors_are_shown(tmp_path, compiler):
    write_file(tmp_path, "a.cu", '#include "missing.h"\n')
    result = run_translate(tmp_path, compiler)
    assert result.returncode == 1
    assert re.search(r"a\.cu:1:10: fatal error: .*missing\.h", result.stderr)
    assert files_of(tmp_path) == {"a.cu"}


def test_a_failure_leaves_the_old_output_as_it_was(tmp_path):
    write_file(tmp_path, "a.cu", "k<<<>>>(x);\n")
    write_file(tmp_path, "out.cpp", "old")
    assert run_translate(tmp_path, COMPILERS[0]).returncode == 1
    assert (tmp_path / "out.cpp").read_text(encoding="utf-8") == "old"


def test_bytes_that_are_not_utf8_survive(tmp_path):
    text = b'const char* text = "\xff\xe4 \xc3\xa4 k<<<1, 1>>>(x)";\n'
    (tmp_path / "a.cu").write_bytes(text)
    assert run_translate(tmp_path, COMPILERS[0]).returncode == 0
    assert (tmp_path / "out.cpp").read_bytes().endswith(text)


def test_a_compiler_with_options_of_its_own(tmp_path):
    write_file(tmp_path, "a.cu", "int value = VALUE;\n")
    assert run_translate(tmp_path, COMPILERS[0] + " -DVALUE=42").returncode == 0
    assert "int value = 42;" in (tmp_path / "out.cpp").read_text(encoding="utf-8")


def test_bad_usage_is_one_sentence(tmp_path):
    write_file(tmp_path, "a.cu", "")
    result = run_translate(tmp_path, "no_such_compiler")
    assert result.returncode == 1
    assert result.stderr == "translate.py: error: no_such_compiler: No such file or directory\n"
    command = [sys.executable, str(TRANSLATE)]
    compiler = ["--compiler", COMPILERS[0]]
    result = run_in_folder(tmp_path, [*command, *compiler, "--output", "missing/out.cpp", "a.cu"])
    assert result.returncode == 1
    assert result.stderr == "translate.py: error: missing/out.cpp: No such file or directory\n"
    for usage in (["a.cu"], ["--compiler", "'", "--output", "out.cpp", "a.cu"], compiler):
        result = run_in_folder(tmp_path, [*command, *usage])
        assert result.returncode == 2
        assert re.search(r"\Ausage: .*\ntranslate\.py: error: .*\n\Z", result.stderr)


MULTI_LINE_LAUNCH = """\
template <class T, int N = 2>
__global__ void kernel(T* values, int n) {
  extern __shared__
      T shared[];
  __shared__
  int count;
  if (n > N) values[0] = shared[0] + count;
}
void launch(float* values) {
  kernel
    <float, 3>
    <<<dim3(1,
            1),
       dim3(2)
    >>>(
      values,
      3
    );
  kernel<<<1, 1>>>(static_cast<int*>(
      NULL), 1);
}
"""

MACRO_LAUNCHES = """\
#include <cstddef>
__global__ void kernel(int* values, int n) { if (values) values[0] = n; }
template <class T, int N> __global__ void typed(T* values) { values[0] = N; }
#include "a.h"
#define OPEN <<<
#define CLOSE >>>
#define LAUNCH(k, grid, block, ...) k<<<grid, block>>>(__VA_ARGS__)
#define CHECKED(...) do { _Pragma("GCC diagnostic push") static_cast<void>(__VA_ARGS__); \\
  _Pragma("GCC diagnostic pop") } while (false)
template <int... I> void for_each(int* values) { (typed<int, I><<<1, I>>>(values), ...); }
template <class T> struct launcher {
  template <int N> void run(T* values) { typed<T, N><<<1, 1>>>(values); }
};
void launch(int* values) {
  in_header();
  kernel OPEN 1, 1 CLOSE(values, 1);
  LAUNCH(kernel, 1, 32, NULL, 2);
  LAUNCH((typed<int, 3>), 1, 32, values);
  CHECKED(kernel<<<1, 1>>>(values, 3));
  CHECKED(LAUNCH(kernel,
    1, dim3(1, 2),
    NULL,
    2));
  for_each<1, 2>(values);
  launcher<int>{}.template run<3>(values);
  const auto generic = [&](auto n) { typed<decltype(n), 4><<<n, 1>>>(values); };
  generic(1);
}
"""

DEVICE = "__cpu_backend_device__"

HOST = "__cpu_backend_host__"


# What is said about kernels and device functions, from the markers that the keywords become.


def messages(text):
    for keyword in ("global", "device", "host", "cluster_dims"):
        text = text.replace(f"__{keyword}__", f"__cpu_backend_{keyword}__")
    try:
        translate(text, "a.cu")
    except TranslationFailed as failure:
        return failure.messages
    return []


def refuses(text, line, says):
    found = messages(text)
    assert len(found) == 1, found
    assert found[0].startswith(f"a.cu:{line}: error: "), found[0]
    assert says in found[0]


@pytest.mark.parametrize(
    "head",
    (
        "__global__ int k",
        "template <class T>\n__global__ float k",
        'extern "C" __global__ static unsigned long k',
        "__global__ __attribute__((noinline)) double* k",
    ),
)
def test_a_kernel_that_returns_something(head):
    refuses(f"{head}(int* p) {{ }}", head.count("\n") + 1, "must return void")


@pytest.mark.parametrize(
    "head",
    (
        "__global__ void k",
        "static __global__ void k",
        "template <class T, int N = (1 > 2)> __global__ void k",
        "template <class T, int N = 0> __global__ void k",
        'extern "C" void __global__ k',
        "__global__ typename std::enable_if<(N > 1), void>::type k",
    ),
)
def test_a_kernel_that_returns_void(head):
    assert messages(f"{head}(int* p) {{ }}") == []


@pytest.mark.parametrize(
    "call", ("k(p);", "x, k(p);", "if (a) k (p);", "t<int>(p);", "return t<a<int>>(p);")
)
def test_a_kernel_that_is_called(call):
    kernel = "__global__ void k(int* p);\ntemplate <class T> __global__ void t(T* p) { }\n"
    refuses(f"{kernel}void f() {{\n  {call}\n}}", 4, "is called like a function")


@pytest.mark.parametrize(
    "head",
    (
        "void k(int* p) { }",
        "static void k(int* p);",
        "template <class T> void k(T* p) { }",
        "__device__ void k(int* p) { }",
    ),
)
@pytest.mark.parametrize("launch", ("k<<<1, 1>>>(p);", "k<int><<<1, 1>>>(p);"))
def test_a_launch_of_what_is_no_kernel(head, launch):
    refuses(f"{head}\nvoid f() {{ {launch} }}", 2, "it is no kernel")


@pytest.mark.parametrize(
    "text",
    (
        "__global__ void k(int* p);\nvoid f() { k<<<1, 1>>>(p); }",
        "template <class T> __global__ void k(T* p) { }\nvoid f() { k<int><<<1, 1>>>(p); }",
        "void f(void (*k)(int*)) { k<<<1, 1>>>(p); }",
        "template <class K> void f(K k) { k<<<1, 1>>>(p); }",
        "void f() { auto k = s ? one : other; k<<<1, 1>>>(p); }",
        "struct s { void k(); };\n__global__ void k() { }\nvoid f() { k<<<1, 1>>>(); }",
    ),
)
def test_launches_of_what_may_be_a_kernel(text):
    assert messages(text) == []


def test_declarations_end_where_they_do():
    text = "template <int N = 0> __global__ void k() { }\n__device__ int f() { k<<<1, 1>>>(); }"
    refuses(text, 2, "dynamic parallelism")
    text = "__device__ int x = {1}; __device__ int y{2};\n__global__ int k() { }"
    refuses(text, 2, "must return void")


@pytest.mark.parametrize(
    "rest",
    (
        "void f() { k<<<1, 1>>>(p); }",
        "void f() { launch(k, 1); launch(&k, 2); }",
        "void f() { object.k(p); pointer->k(p); other::k(p); std::k(p); }",
        "void k(int blocks) { } void f() { k(5); }",
        "struct s { void k(int); void g() { k(5); } };",
        "void f() { auto k = [](int) { }; k(5); }",
    ),
)
def test_names_that_are_no_calls_of_the_kernel(rest):
    kernel = "__global__ void k(int* p);\n"
    assert messages(kernel + rest) == []


@pytest.mark.parametrize(
    "head",
    (
        "__global__ void outer() {",
        "__device__ void f(int a) {",
        "struct s {\n__device__ s(int a) : a(a), b{1} {",
        "void h() {\nauto f = [=] __device__ (int i) {",
    ),
)
def test_a_launch_in_device_code(head):
    line = head.count("\n") + 2
    refuses(f"{head}\n  k<<<1, 1>>>(p);\n}}", line, "dynamic parallelism")


def test_a_launch_on_the_host():
    assert messages("__global__ void g() { }\nvoid f() { g<<<1, 1>>>(); }") == []
    assert messages("__host__ __device__ void f() { k<<<1, 1>>>(); }") == []


@pytest.mark.parametrize(
    "code", ('asm("membar.gl;");', '__asm__ volatile("mov.u32 %0, %laneid;" : "=r"(x));')
)
def test_inline_assembly_in_device_code(code):
    refuses(f"__device__ int f() {{\n{code}\n}}", 2, "inline PTX (asm)")


def test_inline_assembly_that_says_nothing_to_the_device():
    assert messages('__device__ void f() { asm volatile("" ::: "memory"); }') == []
    assert messages('void f() { asm("nop"); }') == []


@pytest.mark.parametrize(
    "call, says",
    {
        "p[0] = std::max(p[0], n);": "calls std::max(), which is a host function: use CUDA's max()",
        "p[0] = ::std::min<int>(p[0], 4);": "use CUDA's min(), without std::",
        "std::swap(p[0], p[1]);": "calls std::swap(), which is a host function: write the three",
        "p[0] = *std::max_element(p, p + 3);": "calls std::max_element(), which is a host function",
        "constexpr int c = std::max(3, 4);": "calls std::max()",
        "__cpu_backend_shared__ int tile[std::max(4, 5)];": "calls std::max()",
        "p[0] = std::numeric_limits<int>::max();": "std::numeric_limits::max(), which is a host",
        "auto l = [&](int i) { return std::gcd(i, n); }; p[0] = l(3);": "calls std::gcd()",
        "if (n > 3) { for (;;) { p[0] = std::clamp(n, 1, 3); } }": "calls std::clamp()",
        "if constexpr (N) { n = 3; } else n = 4; std::swap(p[0], p[1]);": "calls std::swap()",
    }.items(),
)
def test_a_standard_function_of_the_host_in_device_code(call, says):
    refuses(f"__global__ void k(int* p, int n) {{\n  {call}\n}}", 2, says)
    refuses(
        f"template <int N>\n__device__ void f(int* p, int n) {{ {call} }}\n"
        "__global__ void k(int* p, int n) { f<3>(p, n); }",
        2,
        "the function f runs on the device and " if "auto l" in call else says,
    )


OF_HOST = "the kernel k runs on the device and calls f, which is a host function: write __device__"


@pytest.mark.parametrize(
    "head",
    (
        "int f(int x)",
        "static inline constexpr int f(int x)",
        "constexpr auto f(int x) -> int",
        "__host__ int f(int x)",
        "template <class T> T f(T x)",
        "int f(int x);\nunsigned long f(unsigned x) { return x; }\nint f(int x)",
        "namespace n { int g(int x) { return x; } }\nconst int& f(const int& x)",
    ),
)
@pytest.mark.parametrize(
    "call",
    (
        "p[0] = f(n);",
        "p[0] = 2 * f(n);",
        "p[f(3)] = n;",
        "return f(n), void();",
    ),
)
def test_a_function_of_the_programs_host_in_device_code(head, call):
    text = f"{head} {{ return x; }}\n__global__ void k(int* p, int n) {{ {call} }}"
    refuses(text, head.count("\n") + 2, OF_HOST)


@pytest.mark.parametrize("call", ("n::inner::f(n)", "::n::inner::f(n)", "inner::f(n)"))
def test_a_function_of_the_hosts_namespace_in_device_code(call):
    refuses(
        "namespace n::inner { int f(int x) { return x; } }\n"
        f"namespace n {{ __global__ void k(int* p, int n) {{ p[0] = {call}; }} }}",
        2,
        OF_HOST,
    )


def test_a_function_of_the_programs_host_in_a_lambda_of_the_device():
    lambda_ = "auto l = [=] __device__ (int x) { return f(x); };"
    refuses(
        f"int f(int x) {{ return x; }}\nvoid g() {{ {lambda_} }}", 2, "a __device__ lambda runs"
    )


@pytest.mark.parametrize(
    "text",
    (
        # What nvcc accepts.
        "__host__ __device__ int k(int x) { return f(std::max(x, 3)); }",
        "__global__ void k(int* p) { p[0] = sizeof(f(3)) + sizeof(std::max(3, 4)); }",
        "__global__ void k(int* p) { decltype(f(3)) x = p[0]; p[1] = noexcept(f(3)) + x; }",
        "template <class T> __global__ void k(T* p) { if constexpr (sizeof(T) == 1) f(3); }",
        "template <class T> __device__ T unused(T x) { return f(std::max(x, 3)); }",
        "__global__ void k(int* p) { struct s { int g() { return f(3); } }; }",
        "__global__ void k(int* p) { auto l = [](auto x) { return f(x); }; }",
        "__global__ void k(int* p) { p[0] = std::move(p[1]) + std::abs(p[2]) + max(p[3], 4); }",
        "void g(int* p) { k<<<1, 1>>>(p, f(3)); p[0] = std::max(p[0], 3); }",
        "__global__ void k(int* p) { p[0] = cuda::std::max(p[0], 3) + other::f(3); }",
        "constexpr int three = f(3); __global__ void k(int* p) { p[0] = three; }",
        # What else may have that name.
        "__device__ int f(float x) { return 3; } __global__ void k(int* p) { p[0] = f(3); }",
        "__global__ void k(int* p, int (*f)(int)) { p[0] = f(3); }",
        "__global__ void k(int* p) { auto f = [](int x) { return x; }; p[0] = f(3); }",
        "struct f { int x; }; __global__ void k(int* p) { p[0] = f(3).x; }",
        "struct s { __device__ int f(int); }; __global__ void k(s o) { o.f(3); o.g.f(3); }",
        "template <class f> __global__ void k(int* p) { p[0] = f(3); }",
    ),
)
def test_calls_that_may_be_no_calls_of_the_host(text):
    assert messages(f"int f(int x) {{ return x; }}\n{text}") == []


@pytest.mark.parametrize(
    "text",
    (
        "namespace reference { int f(int x) { return x; } }\n"
        "__global__ void k(int* p) { p[0] = f(3); }",
        "struct s { int f(int x) { return x; } };\n__global__ void k(int* p) { p[0] = f(3); }",
        "float max(float x, float y) { return x; }\n"
        "__global__ void k(float* p) { p[0] = max(p[0], p[1]); }",
        "float fabsf(float x) { return x; }\n__global__ void k(float* p) { p[0] = fabsf(p[0]); }",
    ),
)
def test_calls_of_what_may_be_another_function(text):
    assert messages(text) == []


def test_clusters():
    refuses("\n__global__ void __cluster_dims__ k() { }", 2, "__cluster_dims__")


@pytest.mark.parametrize(
    "code, says",
    (
        ("cudaGraph_t graph;", "CUDA graphs (cudaGraph_t)"),
        ("cudaStreamBeginCapture(s, m);", "CUDA graphs (cudaStreamBeginCapture)"),
        ("cudaTextureObject_t texture;", "textures, surfaces and CUDA arrays"),
        ("texture<float, 2, cudaReadModeElementType> t;", "textures, surfaces and CUDA arrays"),
        ("x = tex2D<float>(t, 1, 2);", "textures, surfaces and CUDA arrays (tex2D)"),
        ("cudaMemPool_t pool;", "memory pools"),
        ("cuInit(0);", "the CUDA driver API (cuInit)"),
        ("CUdevice device;", "the CUDA driver API (CUdevice)"),
        ("x = __shfl_down(v, 1);", "use __shfl_down_sync"),
        ("cudaIpcGetMemHandle(&h, p);", "is not supported by the CPU backend"),
    ),
)
def test_parts_of_cuda_that_are_not_here(code, says):
    refuses(f"void f() {{\n\n  {code}\n}}", 3, says)


@pytest.mark.parametrize(
    "code",
    (
        "float tex2D(int a, int b) { return a; } void f() { tex2D(1, 2); }",
        "int __any(int a); void f() { __any(1); }",
        "template <class T> struct texture { }; texture<s> t;",
        "void f() { cuckoo(1); cuInitial = 3; }",
    ),
)
def test_names_that_a_program_declares_itself(code):
    assert messages(code) == []


@pytest.mark.parametrize(
    "cast", ("(void*)", "( const void * ) ", "reinterpret_cast<const void*>", "(void *)&")
)
def test_a_cast_kernel_that_a_function_launches(cast):
    name = "(k)" if cast.endswith(">") else "k"
    kept = "&" if cast.endswith("&") else ""
    text = f"void f() {{ cudaLaunchCooperativeKernel({cast}{name}, a, b); }}"
    expected = f"void f() {{ cudaLaunchCooperativeKernel({kept}{name}, a, b); }}"
    assert translate(text, "a.cu") == expected


def test_the_clock_of_a_kernel():
    text = f"{DEVICE} long f() {{ return clock(); }} long g() {{ return clock(); }}"
    expected = " long f() { return ::cpu_backend::device_clock(); } long g() { return clock(); }"
    assert translate(text, "a.cu") == expected


@pytest.mark.parametrize(
    "loop",
    (
        "while (*flag == 0)« »;",
        "while (flag[1] != 0) {« »}",
        "while (*(volatile int*)p) {« » x(); }",
        "do {« » v = *flag; } while (v == 0);",
        "for (; *flag == 0;)« »;",
        "while (true) {« » if (*flag) break; }",
        "do {« » } while (*flag == 0); x();",
        "do «{»++spins;« }» while (*flag == 0);",
        "do ++spins; while (spins < 9); while (*flag == 0)« »;",
        "while (*flag == 0) «{»++spins;« }» x();",
        "for (;;) «{»if (*flag) break;« }» x();",
        "for (;;) «{»if (i < 3) { ++i; } else if constexpr (b) x(); else if (*flag) break;« }» x();",
        "if (i) while (*flag) «{»v[f(1, [] { return 2; })] = 3;« }» else x();",
        "for (;;) «{»switch (*flag) { case 1: return; }« }»",
        "for (;;) «{»do «{»v = *flag;« }» while (v);« }»",
        "for (;;) x();",
        "while (i < n) { sum += flag[i++]; }",
        "for (int i = 0; i < n; ++i) sum += flag[i];",
        "while (*p == 0);",
    ),
)
def test_loops_that_wait_for_volatile_memory(loop):
    waits = " ::cpu_backend::polled();"
    text = f"{DEVICE} void f(volatile int* flag, int* p) {{ {loop} }}"
    plain = re.sub("«.*?»", "", text)
    expected = text.replace("« »", waits).replace("«{»", "{" + waits + " ")
    expected = expected.replace("« }»", " }").replace(DEVICE, "")
    assert translate(plain, "a.cu") == expected
    host = re.sub("«.*?»", "", f"void f(volatile int* flag) {{ {loop} }}")
    assert translate(host, "a.cu") == host


def test_variables_named_like_the_standard_librarys():
    text = (
        "using namespace std;\nint data[4]; int size = 3;\n"
        "void f(int data) { x.data = data; std::size(v); }"
    )
    expected = text.replace("int data", "int data__").replace("= data;", "= data__;")
    expected = expected.replace("int size", "int size__")
    assert translate(text, "a.cu") == expected
    for kept in (
        text.replace("using namespace std;", ""),
        "using namespace std; struct s { int data; }; int data; int g() { return data; }",
        "using namespace std; vector<int> v; int h() { int count = 1; return count; }",
    ):
        assert translate(kept, "a.cu") == kept


def test_device_code_of_one_of_several_files():
    text = (
        f"{DEVICE} int a;\n{DEVICE} int f(int x) {{ return x; }}\n"
        f"{GLOBAL} void k() {{ }}\nextern {DEVICE} int e;\n"
        f"{HOST} {DEVICE} int h() {{ return 1; }}\n"
        f"struct s {{ {DEVICE} void m(); }};\n{DEVICE} void s::m() {{ }}\n"
        f"template <class T> {DEVICE} T t(T x) {{ return x; }}\n"
    )
    lines = translate(text, "a.cu", has_own_device_code=True).splitlines()
    own = [number for number, line in enumerate(lines) if "[[maybe_unused]] static" in line]
    assert own == [0, 1]


# One text out of what is preprocessed without and with __CUDA_ARCH__.


def merged_lines(host, device):
    text = "".join(
        f"{line}\n" for line in merged(host, device, "a.cu").splitlines() if line[:2] != "# "
    )
    return " ".join(text.split())


def kernel(body, head="__cpu_backend_global__ void k()"):
    return f"int before;\n{head} {{ {body} }}\nint behind;\n"


def test_a_kernel_is_the_devices():
    for head in ("__cpu_backend_global__ void k()", "__cpu_backend_device__ int f(int a)"):
        host, device = kernel("a();", head), kernel("b();", head)
        assert merged_lines(host, device) == " ".join(device.split())


def test_a_function_of_the_host_is_the_hosts():
    for head in ("void f()", "__cpu_backend_host__ void f()", "template <class T> T f(T t)"):
        host, device = kernel("a();", head), kernel("b();", head)
        assert merged_lines(host, device) == " ".join(host.split())


def test_a_function_of_both_asks():
    both = "__cpu_backend_host__ __cpu_backend_device__"
    template = f"template <class T, int N = 1> {both} inline T f(T a = 2)"
    for head in (f"{both} int f()", template):
        result = merged_lines(kernel("a();", head), kernel("b();", head))
        body = "{ if (::cpu_backend::on_device()) { b(); } else { a(); } }"
        assert result == f"int before; {head} {body} int behind;"


def test_members_and_namespaces():
    head = "namespace n { struct s { int x; __cpu_backend_host__ __cpu_backend_device__ s() : x(1)"
    result = merged_lines(head + " { a(); } int y; }; }", head + " { b(); } int y; }; }")
    body = "{ if (::cpu_backend::on_device()) { b(); } else { a(); } }"
    assert result == f"{head} {body} int y; }}; }}"


def test_a_device_function_on_one_side_alone():
    function = "__cpu_backend_device__ double atomicAdd(double* a, double b) { return *a; }\n"
    assert merged_lines("int a;\n" + function + "int b;\n", "int a;\nint b;\n") == "int a; int b;"
    expected = " ".join(f"int a; {function} int b;".split())
    assert merged_lines("int a;\nint b;\n", "int a;\n" + function + "int b;\n") == expected


def test_a_lambda_of_the_device_in_a_function_of_the_host():
    text = "void f() {{ {0}; g([=] __cpu_backend_device__ (int i) {{ {0}; }}); }}"
    expected = "void f() { a; g([=] __cpu_backend_device__ (int i) { b; } ); }"
    assert merged_lines(text.format("a"), text.format("b")) == expected


@pytest.mark.parametrize(
    "host, device",
    (
        ("int x = 1;", "int x = 2;"),
        ("using t = int;", "using t = float;"),
        ("struct s { int a; };", "struct s { int a, b; };"),
    ),
)
def test_what_cannot_be_had_in_one_compilation(host, device):
    with pytest.raises(TranslationFailed) as caught:
        merged(f"\n{host}\n", f"\n{device}\n", "a.cu")
    assert "a.cu:2: error: this declaration is one thing" in caught.value.messages[0]


def test_lines_are_those_of_the_file():
    host = '# 1 "a.cu"\nint a;\n\n\n\n__cpu_backend_global__ void k() { x(); }\nint b;\n'
    device = host.replace("x();", "y();")
    unit = SourceText(merged(host, device, "a.cu"), "a.cu")
    assert unit.place(unit.source.index("y();")) == ("a.cu", 5)
    assert unit.place(unit.source.index("int b")) == ("a.cu", 6)


# What stands somewhere and is begun again and again. Each of them took a time that grew with its square, or
# Python's limit of recursion.
REPEATED = {
    "brackets": "(",
    "braces": "{ [",
    "attributes": "[[",
    "strings without an end": '"\\',
    "raw strings without an end": 'R"(',
    "members": "a.",
    "launches": "k<<<1, 1>>>(1);",
    "launches without an end": "k<<<",
    "conditions": "if (1) ",
    "loops": "do while (v) ",
    "else": "if (1) ; else ",
    "volatile": "volatile ",
    "graphs": "cudaGraph;",
    "closed braces": "{ } ",
}


@pytest.mark.parametrize("name", REPEATED)
def test_time_grows_with_the_text_and_no_nesting_is_too_deep(name):
    times = []
    for size in (20_000, 80_000):
        piece = REPEATED[name]
        repeated = (piece * size)[:size]
        text = (
            "__cpu_backend_global__ void k(int* p) { volatile int v; while (v) { } "
            f"{repeated} }} void f() {{ {repeated}k<<<1, 1>>>(p); }}"
        )
        start = time.process_time()
        with contextlib.suppress(TranslationFailed):
            translate(text, "a.cu")
        times.append(time.process_time() - start)
    assert times[1] < 8 * times[0] + 0.5
