# SPDX-License-Identifier: MIT
"""`./lab prove`: what is not on the list of what it explores is denied, and what is on it stays proved; a
guard in which every thread fences has very many orders of its fences, and one verdict."""

import re

import pytest

from engine.prove.trace import rows
from lab_runs import lab, needs_racecheck
from this_build import BUILD, ROOT

BACKEND = ROOT / "engine/cpu_backend"
HEADERS = [*BACKEND.glob("device_functions/*"), *BACKEND.glob("include/**/*")]

# All are in one file, so that it is compiled once: each with its declarations, and what the host does.
BEGINNING = """\
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda/atomic>
#include <cuda/barrier>
#include <thread>
#include <vector>

struct with_pointer {
  int* pointer;
  int others[20];
};
static int copied_from(const int* pointer) {
  int value = 0;
  cudaMemcpy(&value, pointer, sizeof value, cudaMemcpyDeviceToHost);
  return value;
}
static int* zero_on_device() {
  int* pointer = nullptr;
  cudaMalloc(&pointer, sizeof(int));
  cudaMemset(pointer, 0, sizeof(int));
  return pointer;
}
"""
STORE = "__managed__ int v; __global__ void k() { v = 7; }"
PRINTED = 'std::printf("%d\\n", v);'
DENIED = {
    "stream": (
        STORE,
        f"cudaStream_t a; cudaStreamCreate(&a); k<<<1, 1, 0, a>>>(); cudaDeviceSynchronize(); {PRINTED}",
        "creates a stream",
    ),
    "stream of a host thread": (
        STORE,
        f"k<<<1, 1, 0, cudaStreamPerThread>>>(); cudaDeviceSynchronize(); {PRINTED}",
        "uses the stream of a host thread",
    ),
    "asynchronous copy": (
        "__global__ void k(int* p) { *p = 7; }",
        "int *p = zero_on_device(), h; k<<<1, 1>>>(p); cudaMemcpyAsync(&h, p, 4, cudaMemcpyDeviceToHost);",
        "calls cudaMemcpyAsync()",
    ),
    "host function": (
        STORE,
        "k<<<1, 1>>>(); cudaLaunchHostFunc(0, [](void*) { v = 8; }, nullptr); cudaDeviceSynchronize();",
        "gives a stream a function of the host",
    ),
    "attribute of a launch": (
        "__device__ int v; __global__ void k(int x) { v = x; }",
        "cudaLaunchAttribute a[1] = {}; a[0].id = cudaLaunchAttributeProgrammaticStreamSerialization; "
        "cudaLaunchConfig_t c = {}; c.gridDim = c.blockDim = 1; c.attrs = a; c.numAttrs = 1; "
        "cudaLaunchKernelEx(&c, k, 1); cudaLaunchKernelEx(&c, k, 2); cudaDeviceSynchronize();",
        "launches a kernel with an attribute",
    ),
    "second host thread": (
        STORE,
        "std::thread a([] { k<<<1, 1>>>(); }); k<<<1, 1>>>(); a.join(); cudaDeviceSynchronize();",
        "calls the runtime from a second host thread",
    ),
    "managed variable read too early": (
        STORE,
        f"k<<<1, 1>>>(); {PRINTED} cudaDeviceSynchronize();",
        "accesses memory on the host before it has waited for the device",
    ),
    "managed memory copied too early": (
        "__global__ void k(int* p) { *p = 7; }",
        "int *p, h; cudaMallocManaged(&p, 4); *p = 0; k<<<1, 1>>>(p); std::memcpy(&h, p, 4); "
        "cudaDeviceSynchronize();",
        "accesses memory on the host before it has waited for the device",
    ),
    "pinned memory written too early": (
        "__global__ void k(int* p, int* o) { *o = *p; }",
        "int *p, *o = zero_on_device(); cudaMallocHost(&p, 4); *p = 1; k<<<1, 1>>>(p, o); *p = 2; "
        "copied_from(o);",
        "accesses memory on the host before it has waited for the device",
    ),
    "event recorded before the launch": (
        STORE,
        "cudaEvent_t e; cudaEventCreate(&e); cudaEventRecord(e); k<<<1, 1>>>(); cudaEventSynchronize(e); "
        f"{PRINTED} cudaDeviceSynchronize();",
        "accesses memory on the host before it has waited for the device",
    ),
    "memset of managed memory": (
        "__global__ void k(int* p) { ++*p; }",
        "int* p; cudaMallocManaged(&p, 4); cudaMemset(p, 0, 4); *p = 3; k<<<1, 1>>>(p); "
        "cudaDeviceSynchronize();",
        "accesses memory on the host before it has waited for the device",
    ),
    "time of what has not ended": (
        STORE,
        "cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b); cudaEventRecord(a); k<<<1, 1>>>(); "
        "cudaEventRecord(b); float t; cudaEventElapsedTime(&t, a, b); cudaDeviceSynchronize();",
        "asks for a time on the host before it has waited for the device",
    ),
    "read-only load": (
        "__global__ void k(int* p) { *p = 1; *p += __ldg(p); }",
        "int* p = zero_on_device(); k<<<1, 1>>>(p); copied_from(p);",
        "calls __ldg()",
    ),
    "clock": (
        "__device__ int v; __global__ void k() { v = clock64() % 2 == 3; }",
        "k<<<1, 1>>>(); cudaDeviceSynchronize();",
        "reads a clock",
    ),
    "active lanes": (
        "__device__ unsigned v; __global__ void k() { v = __activemask(); }",
        "k<<<1, 1>>>(); cudaDeviceSynchronize();",
        "calls __activemask()",
    ),
    "scope of a thread": (
        "__device__ int v; __global__ void k() { "
        "cuda::atomic_ref<int, cuda::thread_scope_thread>(v).fetch_add(1, cuda::memory_order_relaxed); }",
        "k<<<1, 1>>>(); cudaDeviceSynchronize();",
        "uses an atomic or a fence of the scope thread",
    ),
    "another thread's variable": (
        "__global__ void k(int* out) { __shared__ int* p; int a[4] = {1, 2, 3, 4}; "
        "if (threadIdx.x == 0) p = a; __syncthreads(); if (threadIdx.x == 1) *out = p[2]; "
        "__syncthreads(); }",
        "int* p = zero_on_device(); k<<<1, 2>>>(p); copied_from(p);",
        "accesses a local variable of another thread",
    ),
    "atomic on another thread's variable": (
        "__global__ void k(int* out) { __shared__ int* p; int mine = 0; if (threadIdx.x == 0) p = &mine; "
        "__syncthreads(); atomicAdd(p, 1); __syncthreads(); if (threadIdx.x == 0) *out = mine; }",
        "int* p = zero_on_device(); k<<<1, 2>>>(p); copied_from(p);",
        "accesses a local variable of another thread",
    ),
    "constant written": (
        "__constant__ int before = 1, c[2]; __global__ void k() { const_cast<int*>(c)[1] = before; }",
        "k<<<1, 1>>>(); cudaDeviceSynchronize();",
        "writes constant memory in a kernel",
    ),
    "constant written at a line that writes another variable": (
        "__device__ int d; __constant__ int c; __global__ void k() { "
        "for (int i = 0; i < 2; ++i) *(i ? const_cast<int*>(&c) : &d) = 4; }",
        "k<<<1, 1>>>(); cudaDeviceSynchronize();",
        "writes constant memory in a kernel",
    ),
    "constant changed by an atomic": (
        "__constant__ int c; __global__ void k() { atomicAdd(const_cast<int*>(&c), 1); }",
        "k<<<1, 1>>>(); cudaDeviceSynchronize();",
        "writes constant memory in a kernel",
    ),
    "variable of the host": (
        "static int of_host; __global__ void k(with_pointer a) { *a.pointer = 3; }",
        "k<<<1, 1>>>(with_pointer{&of_host, {}}); cudaDeviceSynchronize();",
        "accesses a variable that is not known to be the device's",
    ),
    "local variable of the host": (
        "__global__ void k(with_pointer a) { *a.pointer = 3; }",
        "int h = 0; k<<<1, 1>>>(with_pointer{&h, {}}); cudaDeviceSynchronize();",
        "accesses memory that is neither the device's nor the thread's own",
    ),
    "kernel's malloc": (
        "__global__ void k() { free(malloc(8)); }",
        "k<<<2, 1>>>(); cudaDeviceSynchronize();",
        "allocates memory in a kernel",
    ),
    "unwritten bytes": (
        "__global__ void k(int* p) { *p = 1; }",
        "int *p, h[2]; cudaMalloc(&p, 8); k<<<1, 1>>>(p); cudaMemcpy(h, p, 8, cudaMemcpyDeviceToHost);",
        "copies bytes that nobody has written",
    ),
    "unwritten bytes, copied twice": (
        "__global__ void k(int* p) { *p = 1; }",
        "int *p, *q; cudaMalloc(&p, 8); cudaMalloc(&q, 8); k<<<1, 1>>>(p); "
        "cudaMemcpy(q, p, 8, cudaMemcpyDeviceToDevice); copied_from(q + 1);",
        "copies bytes that nobody has written",
    ),
    "two threads print": (
        '__device__ int v; __global__ void k() { if (threadIdx.x == 0) ++v; printf("%d\\n", threadIdx.x); }',
        "k<<<1, 2>>>(); cudaDeviceSynchronize();",
        "prints in several threads of a kernel",
    ),
    "the host prints before a kernel's output": (
        '__device__ int v; __global__ void k() { v = 1; printf("kernel\\n"); }',
        'k<<<1, 1>>>(); std::printf("host\\n"); cudaDeviceSynchronize();',
        "prints on the host before it has waited for a kernel that prints",
    ),
}
PROVED = {
    "shared atomics": (
        "__global__ void k(unsigned* p) { "
        "__shared__ cuda::atomic<unsigned, cuda::thread_scope_block> own[64]; "
        "own[threadIdx.x].store(1); __syncthreads(); p[threadIdx.x] = own[63 - threadIdx.x].load(); }",
        "unsigned* p; cudaMalloc(&p, 256); k<<<1, 64>>>(p); cudaDeviceSynchronize();",
    ),
    "managed variable": (STORE, f"v = 1; k<<<1, 1>>>(); cudaDeviceSynchronize(); {PRINTED}"),
    "default stream": (STORE, f"k<<<1, 1>>>(); cudaStreamSynchronize(0); {PRINTED}"),
    "events": (
        STORE,
        "cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b); cudaEventRecord(a); k<<<1, 1>>>(); "
        f"cudaEventRecord(b); cudaEventSynchronize(b); float t; cudaEventElapsedTime(&t, a, b); {PRINTED}",
    ),
    "copy after two launches": (
        "__global__ void k(int* p) { ++*p; }",
        'int* p = zero_on_device(); k<<<1, 1>>>(p); k<<<1, 1>>>(p); std::printf("%d\\n", copied_from(p));',
    ),
    "copy of what was written": (
        "__global__ void k(int* p) { *p = 1; }",
        'int* p; cudaMalloc(&p, 4096); k<<<1, 1>>>(p); std::printf("%d\\n", copied_from(p));',
    ),
    "host computes meanwhile": (
        "static int count; __global__ void k(int* p) { *p = 1; }",
        "int* p = zero_on_device(); k<<<1, 1>>>(p); std::vector<int> own(100); "
        "for (int& each : own) each = ++count; copied_from(p);",
    ),
    "constants": (
        "__constant__ int c[2], d = 3; __constant__ float table[] = {1, 2}; __device__ int o; "
        "__global__ void k() { o = c[1] + d + static_cast<int>(table[1]); }",
        "int two[2] = {1, 2}, h; cudaMemcpyToSymbol(c, two, 8); k<<<1, 1>>>(); "
        'cudaMemcpyFromSymbol(&h, o, 4); std::printf("%d\\n", h);',
    ),
    "pinned memory": (
        "__global__ void k(int* p) { ++*p; }",
        "int *h, *p = zero_on_device(); cudaMallocHost(&h, 4); *h = 2; "
        "cudaMemcpy(p, h, 4, cudaMemcpyHostToDevice); k<<<1, 1>>>(p); "
        'cudaMemcpy(h, p, 4, cudaMemcpyDeviceToHost); std::printf("%d\\n", *h);',
    ),
    "mapped memory": (
        "__global__ void k(int* p) { *p = 7; }",
        "int *h, *p; cudaHostAlloc(&h, 4, cudaHostAllocMapped); *h = 0; "
        "cudaHostGetDevicePointer(&p, h, 0); k<<<1, 1>>>(p); cudaDeviceSynchronize(); "
        'std::printf("%d\\n", *h);',
    ),
    "structure as an argument": (
        "__global__ void k(with_pointer x, const with_pointer y) { *x.pointer = x.others[3] + y.others[9]; }",
        "with_pointer x = {}; x.pointer = zero_on_device(); k<<<1, 1>>>(x, x); copied_from(x.pointer);",
    ),
    "own array by pointer": (
        "__device__ int sum(const int* a) { int s = 0; for (int i = 0; i < 8; ++i) s += a[i]; return s; } "
        "__global__ void k(int* p) { int a[8]; for (int i = 0; i < 8; ++i) a[i] = i * threadIdx.x; "
        "if (threadIdx.x == 1) *p = sum(a); }",
        "int* p = zero_on_device(); k<<<1, 4>>>(p); copied_from(p);",
    ),
    "literals and tables": (
        "static constexpr __device__ int table[] = {3, 1, 2}; __global__ void k(int* p) { "
        'const char* t = "abc"; static constexpr int own[3] = {5, 6, 7}; '
        "*p = t[threadIdx.x] + table[threadIdx.x] + own[*p % 3]; }",
        "int* p = zero_on_device(); k<<<1, 1>>>(p); copied_from(p);",
    ),
    "lanes and groups": (
        "namespace cg = cooperative_groups; __global__ void k(int* p) { auto b = cg::this_thread_block(); "
        "auto t = cg::tiled_partition<4>(b); int s = cg::reduce(t, 1, cg::plus<int>()); "
        "s += __shfl_down_sync(~0u, s, 1); b.sync(); if (b.thread_rank() == 0) *p = s; }",
        "int* p = zero_on_device(); k<<<1, 32>>>(p); copied_from(p);",
    ),
    "barrier in shared memory": (
        "__global__ void k(int* p) { __shared__ cuda::barrier<cuda::thread_scope_block> b; __shared__ int v; "
        "if (threadIdx.x == 0) init(&b, 2); __syncthreads(); if (threadIdx.x == 0) v = 3; "
        "b.arrive_and_wait(); if (threadIdx.x == 1) *p = v; }",
        "int* p = zero_on_device(); k<<<1, 2>>>(p); copied_from(p);",
    ),
    "atomic variable": (
        "__device__ cuda::atomic<int, cuda::thread_scope_device> n{0}; __device__ int o[2], *q = o, r; "
        "__global__ void k() { o[n.fetch_add(1)] = blockIdx.x + (q == o) + r; }",
        "k<<<2, 1>>>(); int h[2]; cudaMemcpyFromSymbol(h, o, 8);",
    ),
    "one thread prints": (
        '__device__ int n; __global__ void k() { if (atomicAdd(&n, 1) == 1) printf("last\\n"); }',
        'k<<<2, 1>>>(); cudaDeviceSynchronize(); std::printf("end\\n");',
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("explored")
    parts, calls = [BEGINNING], []
    for number, (declarations, host, *_) in enumerate([*DENIED.values(), *PROVED.values()]):
        body = re.sub("; (?=[^)]*)", ";\n  ", host)
        parts.append(f"namespace case_{number} {{\n{declarations}\nvoid run() {{\n  {body}\n}}\n}}")
        calls.append(f"  if (number == {number}) case_{number}::run();")
    parts += ["int main(int, char** words) {", "  const int number = std::atoi(words[1]);", *calls]
    (made / "own.cu").write_text("\n".join([*parts, "}", ""]))
    return made


def prove(folder, number, *words):
    return lab("prove", "own.cu", "--build", str(BUILD), *words, "--", str(number), folder=folder)


@needs_racecheck
@pytest.mark.parametrize("name", DENIED)
def test_what_is_not_explored_is_denied(folder, name):
    number = [*DENIED].index(name)
    denial = re.escape(f"{DENIED[name][2]}, whose other orders are not explored.\n")
    said = rf"lab: not proved: own\.cu:\d+ {denial}"
    result = prove(folder, number)
    assert re.search(said, result.stderr), result
    assert result.returncode == 1
    assert "\nproved" not in result.stdout


@needs_racecheck
@pytest.mark.parametrize("name", PROVED)
def test_what_is_explored_is_proved(folder, name):
    result = prove(folder, len(DENIED) + [*PROVED].index(name))
    assert result.returncode == 0, result
    assert "\nproved: " in f"\n{result.stdout}"


@needs_racecheck
def test_a_replay_is_denied_as_well(folder):
    (folder / "list").write_text("")
    result = prove(folder, [*DENIED].index("clock"), "--replay", "list")
    assert result.returncode == 1
    assert "reads a clock, whose other orders are not explored" in result.stderr


def explored(kind):
    return next(set(row["explored"]) for row in rows() if row["kind"] == kind)


RECORDS_CALL = re.compile(
    r"call_without_device|call_without_waiting|call_that_waits|copy_in_stream|blocking_copy|wait_for\(|"
    r"launch_with_pointers|launch_function|cpu_backend::(?:copy_|symbol_)\w+|\b_?cuda[A-Z]\w+\("
)


def test_every_runtime_function_is_written_down_or_listed():
    """A call that is written down and is not on the list is denied."""
    headers = [
        *BACKEND.glob("include/*.h"),
        BACKEND / "runtime/overloads.hpp",
        BACKEND / "execution/launch.hpp",
    ]
    declared = {
        name
        for header in headers
        for name in re.findall(r"\b(cuda[A-Z]\w*)\(", re.sub(r"//.*", "", header.read_text()))
    }
    assert len(declared) > 90
    texts = [
        path.read_text() for path in [*BACKEND.glob("runtime/*"), BACKEND / "execution/launch.hpp"]
    ]
    silent = set()
    for name in declared:
        definitions = [
            text[match.end() : text.find("\n}\n", match.end())]
            for text in texts
            for match in re.finditer(rf"^(?!\s)[^\n/]*\b{name}\([^;{{]*\{{", text, re.M)
        ]
        if not definitions or not all(
            RECORDS_CALL.search(each.split("\n}\n")[0]) for each in definitions
        ):
            silent.add(name)
    assert silent <= explored("call"), silent - explored("call")


def test_every_header_of_device_functions_is_listed_or_its_functions_are():
    names = {str(path.relative_to(BACKEND)) for path in HEADERS if path.is_file()}
    whole = explored("header")
    assert whole <= names
    records = re.compile(
        r"in_kernel\(|form::used\(|meet_lanes\(|shuffle\(|reduce_lanes\(|fence\(|device_nanoseconds\(|volatile_"
    )
    silent = set()
    for name in names - whole:
        text = re.sub(r"//.*", "", (BACKEND / name).read_text())
        for match in re.finditer(
            r"^(?:inline |T )?[\w:]*[ *]?\b(__\w+|clock\w*|device_\w+|current_\w+)\((?!\()",
            text,
            re.M,
        ):
            body = text[match.start() : text.find("\n}", match.start())]
            if not records.search(body):
                silent.add(match[1])
    assert silent <= explored("device"), silent - explored("device")


def test_the_page_shows_the_list():
    page = (ROOT / "docs/prove.md").read_text(encoding="utf-8")
    for row in rows():
        names = ", ".join(f"`{name}`" for name in row["explored"]) or "none"
        assert f"| {row['title']} | {names} |\n" in page


# Options: whether the last block's threads fence after the ticket, and whether all others do; whether
# there is a race in shared memory; and one of two blocks that have nothing to do with the guard.
PROGRAM = """\
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

__managed__ unsigned part[9], tickets, result[3], other;

__global__ void sum(bool last_fences, bool all_fence, bool shared_race, bool global_race) {
  __shared__ unsigned ticket, seen[3];
  part[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  seen[threadIdx.x] = threadIdx.x;
  if (global_race && threadIdx.x == 1) other = 1;
  __threadfence();
  if (shared_race) part[blockIdx.x * blockDim.x + threadIdx.x] = seen[2 - threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) ticket = atomicAdd(&tickets, 1);
  __syncthreads();
  if (all_fence) __threadfence();
  if (ticket != gridDim.x - 1) return;
  if (last_fences) __threadfence();
  for (unsigned block = 0; block < gridDim.x; ++block)
    result[threadIdx.x] += part[block * blockDim.x + threadIdx.x];
}

int main(int, char** words) {
  const auto is_set = [&](int i) { return std::atoi(words[i]) != 0; };
  sum<<<3, 3>>>(is_set(1), is_set(2), is_set(3), is_set(4));
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  std::printf("%u %u %u\\n", result[0], result[1], result[2]);
}
"""
RIGHT = "proved: 6 executions of 3 blocks of 3 threads; no race"
# By the options: what is said.
VERDICTS = {
    "1 0 0 0": [RIGHT, 'one result: "3 3 3"'],
    "1 1 0 0": [RIGHT, 'one result: "3 3 3"'],
    "0 1 0 0": [RIGHT, 'one result: "3 3 3"'],
    "0 0 0 0": ["refuted by execution 1", "race (global memory) on part", "missing acquire"],
    "1 0 1 0": ["refuted by execution 1", "race (shared memory) on seen", "missing __syncwarp()"],
    "1 1 0 1": ["refuted by execution 1", "race (global memory) on other"],
}


@pytest.fixture(scope="module")
def guard_folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("prove")
    (made / "own.cu").write_text(PROGRAM)
    return made


@needs_racecheck
@pytest.mark.parametrize("options", VERDICTS)
def test_a_race_that_no_order_repairs_is_found(guard_folder, options):
    words = ["prove", "own.cu", "--build", str(BUILD), "--", *options.split()]
    result = lab(*words, folder=guard_folder)
    assert result.returncode == (VERDICTS[options][0] != RIGHT), result
    assert [each for each in VERDICTS[options] if each not in result.stdout] == [], result
