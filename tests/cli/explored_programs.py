# SPDX-License-Identifier: MIT
"""Programs for `./lab prove`, each with what is said of it: its declarations, and what the host does."""

from engine.prove.proving import OTHERWISE

# All are in one file, so that it is compiled once.
BEGINNING = """\
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <mutex>
#include <new>
#include <thread>
#include <unistd.h>
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
using Ref = cuda::atomic_ref<int, cuda::thread_scope_device>;
static int* zero_on_device() {
  int* pointer = nullptr;
  cudaMalloc(&pointer, sizeof(int));
  cudaMemset(pointer, 0, sizeof(int));
  return pointer;
}
"""
STREAMS = "cudaStream_t a, b; cudaStreamCreate(&a); cudaStreamCreate(&b); "
STORE = "__managed__ int v; __global__ void k() { v = 7; }"
PRINTED = 'std::printf("%d\\n", v);'
DENIED = {
    "asynchronous copy of what changes": (
        STORE,
        "int h = 1; cudaMemcpyToSymbolAsync(v, &h, 4); h = 2; k<<<1, 1>>>(); "
        f"cudaDeviceSynchronize(); {PRINTED}",
        "changes memory of its own that an asynchronous copy may still read",
    ),
    "asynchronous copy of what the C library changes": (
        STORE,
        'char h[8] = {}; cudaMemcpyToSymbolAsync(v, h, 4); std::snprintf(h, 8, "%d", 12); '
        f"k<<<1, 1>>>(); cudaDeviceSynchronize(); {PRINTED}",
        "changes memory of its own that an asynchronous copy may still read",
    ),
    "asynchronous copy of what is freed": (
        STORE,
        f"int* h = new int(1); cudaMemcpyToSymbolAsync(v, h, 4); delete h; k<<<1, 1>>>(); "
        f"cudaDeviceSynchronize(); {PRINTED}",
        "changes memory of its own that an asynchronous copy may still read",
    ),
    "query that counts": (
        STORE,
        "int n = 0; k<<<1, 1>>>(); while (cudaStreamQuery(0) == cudaErrorNotReady) ++n; "
        'std::printf("%d\\n", n);',
        "calls cudaStreamQuery()",
    ),
    "host function and the host": (
        STORE,
        "int n = 0; k<<<1, 1>>>(); cudaLaunchHostFunc(0, [](void* p) { *static_cast<int*>(p) = 8; }, &n); "
        'int seen = n; cudaDeviceSynchronize(); std::printf("%d\\n", seen);',
        "uses memory of its own that a function in a stream uses as well, in no order",
    ),
    "host functions of two streams": (
        "__global__ void k() {} static void add(void* p) { *static_cast<int*>(p) += 1; }",
        STREAMS
        + "int n = 0; k<<<1, 1>>>(); cudaLaunchHostFunc(a, add, &n); cudaLaunchHostFunc(b, add, &n); "
        'cudaDeviceSynchronize(); std::printf("%d\\n", n);',
        "uses memory of its own that a function in a stream uses as well, in no order",
    ),
    "host functions and a mutex": (
        "static std::mutex m; static int n; __global__ void k() {} "
        "static void set(void* p) { std::lock_guard l(m); n = *static_cast<int*>(p); }",
        STREAMS + "int one = 1, two = 2; k<<<1, 1>>>(); std::thread([] {}).join(); "
        "cudaLaunchHostFunc(a, set, &one); cudaLaunchHostFunc(b, set, &two); cudaDeviceSynchronize(); "
        'std::printf("%d\\n", n);',
        "uses memory of its own that a function in a stream uses as well, in no order",
    ),
    "variable of two host threads": (
        STORE,
        "int n = 0; std::thread other([&] { n = 1; }); k<<<1, 1>>>(); cudaDeviceSynchronize(); "
        'std::printf("%d\\n", n); other.join();',
        "uses memory in two host threads, in no order",
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
        "std::thread a([] { cudaDeviceSynchronize(); }); a.join(); k<<<1, 1>>>(); cudaDeviceSynchronize();",
        "calls the runtime from a second host thread",
    ),
    "atomics of two streams": (
        "__device__ int n; __global__ void k() { atomicAdd(&n, 1); }",
        STREAMS + "k<<<1, 1, 0, a>>>(); k<<<1, 1, 0, b>>>(); cudaDeviceSynchronize();",
        "uses a word by atomics in two works that may run at the same time",
    ),
    "flag between two streams": (
        "__device__ int flag, data; __global__ void k() { data = 1; __threadfence(); atomicExch(&flag, 1); } "
        "__global__ void l(int* o) { if (atomicAdd(&flag, 0) == 1) { __threadfence(); *o = data; } }",
        STREAMS + "int* o = zero_on_device(); k<<<1, 1, 0, a>>>(); l<<<1, 1, 0, b>>>(o); "
        "cudaDeviceSynchronize();",
        "uses a word by atomics in two works that may run at the same time",
    ),
    "one launch beside two": (
        "__device__ int n[3]; __global__ void k(int i) { n[i] = i; }",
        STREAMS
        + "k<<<1, 1, 0, a>>>(0); k<<<1, 1, 0, a>>>(1); k<<<1, 1, 0, b>>>(2); cudaDeviceSynchronize();",
        "gives one stream work beside several of another stream",
    ),
    "output of two streams": (
        '__global__ void k(int i) { printf("%d\\n", i); }',
        STREAMS + "k<<<1, 1, 0, a>>>(0); k<<<1, 1, 0, b>>>(1); cudaDeviceSynchronize();",
        "prints in a kernel that may run beside other work",
    ),
    "time of what has not ended": (
        STORE,
        "cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b); cudaEventRecord(a); k<<<1, 1>>>(); "
        "cudaEventRecord(b); float t; cudaEventElapsedTime(&t, a, b); cudaDeviceSynchronize();",
        "asks for a time on the host before it has waited for the device",
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
    "bytes of which one is unwritten": (
        "__global__ void k(const int* word, int* out) { *out = *word == 0; }",
        "int *word, *out = zero_on_device(); cudaMalloc(&word, 4); cudaMemset(word, 0, 3); "
        "k<<<1, 1>>>(word, out); copied_from(out);",
        "reads bytes together with some that nothing has written",
    ),
    "tiles that are not full": (
        "__device__ int v; __global__ void k() { "
        "auto tile = cooperative_groups::tiled_partition<8>(cooperative_groups::this_thread_block()); "
        "if (tile.meta_group_rank() == 0 && tile.thread_rank() == 0) v = 1; }",
        "k<<<1, 12>>>(); cudaDeviceSynchronize();",
        "divides a group into tiles that it does not fill",
    ),
    "the host prints before a kernel's output": (
        '__device__ int v; __global__ void k() { v = 1; printf("kernel\\n"); }',
        'k<<<1, 1>>>(); std::printf("host\\n"); cudaDeviceSynchronize();',
        "prints on the host before it has waited for a kernel that prints",
    ),
}
FENCES = (
    "__device__ int data, flag, out; __global__ void k() {{ "
    "if (blockIdx.x == 0) {{ data = 8; cuda::atomic_thread_fence(cuda::memory_order_{}, "
    "cuda::thread_scope_device); Ref(flag).store(1, cuda::memory_order_relaxed); }} "
    "else if (Ref(flag).load(cuda::memory_order_relaxed) == 1) {{ "
    "cuda::atomic_thread_fence(cuda::memory_order_{}, cuda::thread_scope_device); out = data; }} }}"
)
TWO_BLOCKS = "k<<<2, 1>>>(); cudaDeviceSynchronize();"
OTHER_ORDER = (
    "gets memory in another order, or the device or a host thread is late, and then it prints "
)
COMPILED = "is compiled otherwise, and then it prints "
# Another reason is said.
DENIED_FOR = {
    "two threads print": (
        '__device__ int v; __global__ void k() { if (threadIdx.x == 0) ++v; printf("%d\\n", threadIdx.x); }',
        "k<<<1, 2>>>(); cudaDeviceSynchronize();",
        "prints in several threads of a kernel, "
        "and nothing orders their lines: let one thread print, or the host",
    ),
    "two arrays of dynamic shared memory": (
        "__global__ void k(int* p) { extern __shared__ int a[]; extern __shared__ float b[]; "
        "a[0] = 1; b[0] = 2; *p = a[0]; }",
        "int* p = zero_on_device(); k<<<1, 1, 64>>>(p); copied_from(p);",
        "uses two arrays of dynamic shared memory in one function, "
        "which begin at one address: declare one, and divide it",
    ),
    "wait for a store without a notification": (
        "__device__ cuda::atomic<int, cuda::thread_scope_device> n; "
        "__global__ void k() { if (threadIdx.x == 0) n.store(1); else n.wait(0); }",
        "k<<<1, 2>>>(); cudaDeviceSynchronize();",
        "calls atomic::wait(), and no notification comes after the change that it waits for",
    ),
    "notification before the store": (
        "__device__ cuda::atomic<int, cuda::thread_scope_device> n; "
        "__global__ void k() { if (threadIdx.x == 0) { n.notify_all(); n.store(1); } else n.wait(0); }",
        "k<<<1, 2>>>(); cudaDeviceSynchronize();",
        "calls atomic::wait(), and no notification comes after the change that it waits for",
    ),
    "two waits and a notification of one": (
        "__device__ cuda::atomic<int, cuda::thread_scope_device> n; "
        "__global__ void k() { if (threadIdx.x == 0) { n.store(1); n.notify_one(); } else n.wait(0); }",
        "k<<<1, 3>>>(); cudaDeviceSynchronize();",
        "calls atomic::wait(), and no notification comes after the change that it waits for",
    ),
    "lanes that happen to run together": (
        "__device__ int v; __global__ void k() { "
        "v = cooperative_groups::coalesced_threads().thread_rank(); }",
        "k<<<1, 1>>>(); cudaDeviceSynchronize();",
        "calls coalesced_threads(), and which threads it groups is not explored",
    ),
    "any thread": (
        "__device__ int v; __global__ void k() { cooperative_groups::invoke_one("
        "cooperative_groups::this_thread_block(), [] { v = threadIdx.x; }); }",
        "k<<<1, 2>>>(); cudaDeviceSynchronize();",
        "calls invoke_one(), and which thread it takes is not explored",
    ),
    "copy onto itself": (
        "__global__ void k(int* p) { p[0] = p[1] = p[2] = threadIdx.x; }",
        "int* p; cudaMalloc(&p, 12); k<<<1, 1>>>(p); cudaMemcpy(p + 1, p, 8, cudaMemcpyDeviceToDevice);",
        "copies bytes to where some of them are, and what comes of that is undefined",
    ),
    "memcpy onto itself": (
        "__device__ char t[8]; __global__ void k(int n) { std::memcpy(t + 1, t, n); }",
        "k<<<1, 1>>>(4); cudaDeviceSynchronize();",
        "copies bytes to where some of them are, and what comes of that is undefined",
    ),
    "function in a stream that calls the runtime": (
        STORE,
        "k<<<1, 1>>>(); cudaLaunchHostFunc(0, [](void*) { cudaDeviceSynchronize(); }, nullptr); "
        "cudaDeviceSynchronize();",
        "calls the runtime in a function in a stream, which CUDA does not allow",
    ),
    "two host threads that print": (
        STORE,
        'k<<<1, 1>>>(); cudaDeviceSynchronize(); std::thread([] { std::cout << "here"; }).join();',
        "prints in a second host thread, whose other orders are not explored",
    ),
    "result in a file": (
        STORE,
        'k<<<1, 1>>>(); cudaDeviceSynchronize(); std::ofstream("/dev/null") << v;',
        "opens a file to write, and what is written there is not compared: print it",
    ),
    "shift by 32": (
        "__device__ unsigned v; __global__ void k(unsigned by) { v = 1u << by; }",
        "k<<<1, 1>>>(32); cudaDeviceSynchronize();",
        "shifts by as many bits as the number has, or by more, and what comes of that is undefined",
    ),
    "index of another member": (
        "struct entry { int a[2], b; }; __device__ entry v; __global__ void k(int i) { v.a[i] = 1; }",
        "k<<<1, 1>>>(2); cudaDeviceSynchronize();",
        "uses an index that is not one of its array's, and what comes of that is undefined",
    ),
    "number that no int holds": (
        "__device__ int v; __global__ void k(float f) { v = static_cast<int>(f); }",
        "k<<<1, 1>>>(3e9f); cudaDeviceSynchronize();",
        "converts a number to a type that can't hold it, and what comes of that is undefined",
    ),
    "signed overflow": (
        "__device__ int v; __global__ void k(int n) { v = n + 1; }",
        "k<<<1, 1>>>(2147483647); cudaDeviceSynchronize();",
        "computes what its signed type can't hold, or divides by 0, and what comes of that is undefined",
    ),
    "half of a copy": (
        "__global__ void k(int* p) { p[0] = p[1] = 2; }",
        "int *p, *h = static_cast<int*>(std::malloc(8)); cudaMalloc(&p, 8); k<<<1, 1>>>(p); "
        'cudaMemcpy(h, p, 4, cudaMemcpyDeviceToHost); std::printf("%x\\n", h[1]);',
        'gets other bytes where nothing has written any, and then it prints "fafafafa"',
    ),
    "launch that is refused": (
        "__global__ void k() {}",
        "k<<<1, 1, 64 << 10>>>(); cudaDeviceSynchronize();",
        "launches a kernel that does not start, because its configuration is refused",
    ),
    "padding of a structure": (
        "struct entry { int key; char tag; }; __device__ entry e; __global__ void k() { "
        "reinterpret_cast<char*>(&e)[7] = 1; }",
        "k<<<1, 1>>>(); cudaDeviceSynchronize();",
        "writes bytes between the members of a structure, which an assignment of it may overwrite",
    ),
    "output of a kernel that the host leaves": (
        '__device__ int v; __global__ void k() { v = 1; printf("kernel\\n"); }',
        "k<<<1, 1>>>();",
        "prints in a kernel for which the host does not wait, so its output may be lost",
    ),
    "address of a function": (
        "__host__ __device__ int twice(int x) { return 2 * x; } "
        "__global__ void k(int (*f)(int), int* p) { *p = f(21); }",
        "int* p = zero_on_device(); k<<<1, 1>>>(twice, p); copied_from(p);",
        "gives a kernel a pointer to what is the program's own on the host, as that of a function or in an "
        "object with virtual functions, which no kernel can follow on a GPU",
    ),
    "object with virtual functions": (
        "struct shape { int n; __host__ __device__ virtual int area() const { return n; } }; "
        "__global__ void k(const shape* s, int* p) { *p = s->area(); }",
        "shape mine, *s; cudaMalloc(&s, sizeof mine); int* p = zero_on_device(); "
        "cudaMemcpy((void*)s, (const void*)&mine, sizeof mine, cudaMemcpyHostToDevice); k<<<1, 1>>>(s, p); "
        "copied_from(p);",
        "gives a kernel a pointer to what is the program's own on the host, as that of a function or in an "
        "object with virtual functions, which no kernel can follow on a GPU",
    ),
    "address of shared memory": (
        "__device__ int *where, o; __global__ void k() { __shared__ int own; own = 1; where = &own; "
        "o = *where; }",
        "k<<<1, 1>>>(); cudaDeviceSynchronize();",
        "leaves the address of shared memory in global memory, where it means nothing to other blocks",
    ),
    "weak compare-and-swap without a loop": (
        "__device__ int own, o; __global__ void k() { int none = 0; "
        "o = Ref(own).compare_exchange_weak(none, 1); }",
        'k<<<1, 1>>>(); int h; cudaMemcpyFromSymbol(&h, o, 4); std::printf("%d\\n", h);',
        'calls compare_exchange_weak(), which may fail by chance, and then it prints "0"',
    ),
    "weak compare-and-swap that fails in one thread": (
        "__device__ int own[2], o[2]; __global__ void k() { int none = 0; "
        "o[threadIdx.x] = Ref(own[threadIdx.x]).compare_exchange_weak(none, 1); }",
        'k<<<1, 2>>>(); int h[2]; cudaMemcpyFromSymbol(h, o, 8); std::printf("%d\\n", h[0] == h[1]);',
        'calls compare_exchange_weak(), which may fail by chance, and then it prints "0"',
    ),
    "barrier tried once": (
        "__global__ void k(int* p) { __shared__ cuda::barrier<cuda::thread_scope_block> b; init(&b, 1); "
        "*p = b.try_wait(b.arrive()); }",
        'int* p = zero_on_device(); k<<<1, 1>>>(p); std::printf("%d\\n", copied_from(p));',
        'calls barrier::try_wait(), which may fail by chance, and then it prints "0"',
    ),
    "largest of lanes that are not there": (
        "__global__ void k(int* p) { int m = 5; for (int d = 2; d; d /= 2) "
        "m = max(m, __shfl_down_sync(~0u, m, d)); if (threadIdx.x == 0) *p = m; }",
        'int* p = zero_on_device(); k<<<1, 2>>>(p); std::printf("%d\\n", copied_from(p) > 9);',
        "gets an undefined value by __shfl_down_sync(), from a lane that does not take part, "
        'and then it prints "1"',
    ),
    "least of lanes that are not there": (
        "__global__ void k(int* p) { unsigned m = min(5u, __shfl_down_sync(~0u, 5u, 4)); "
        "if (threadIdx.x == 0) *p = m; }",
        'int* p = zero_on_device(); k<<<1, 2>>>(p); std::printf("%d\\n", copied_from(p));',
        "gets an undefined value by __shfl_down_sync(), from a lane that does not take part, "
        'and then it prints "0"',
    ),
    "latch tried once": (
        "using one = cuda::latch<cuda::thread_scope_block>; __global__ void k(int* p) { "
        "__shared__ alignas(8) char room[64]; one* l = new (room) one(1); l->count_down(); "
        "*p = l->try_wait(); }",
        'int* p = zero_on_device(); k<<<1, 1>>>(p); std::printf("%d\\n", copied_from(p));',
        'calls latch::try_wait(), which may fail by chance, and then it prints "0"',
    ),
    "lane that is not there": (
        "__global__ void k(int* p) { p[0] = __shfl_sync(~0u, 5, 9); }",
        'int* p = zero_on_device(); k<<<1, 1>>>(p); std::printf("%d\\n", copied_from(p));',
        "gets an undefined value by __shfl_sync(), from a lane that does not take part, "
        'and then it prints "-6"',
    ),
    "weak compare-and-swap that fails in one of five threads": (
        "__device__ int own[5], o[5]; __global__ void k() { int none = 0; "
        "o[threadIdx.x] = !Ref(own[threadIdx.x]).compare_exchange_weak(none, 1); }",
        "k<<<1, 5>>>(); int h[5]; cudaMemcpyFromSymbol(h, o, 20); "
        'std::printf("%d\\n", h[4] && !h[0] && !h[1] && !h[2] && !h[3]);',
        'calls compare_exchange_weak(), which may fail by chance, and then it prints "1"',
    ),
    "weak compare-and-swap three times": (
        "__device__ int own, o; __global__ void k() { int none = 0; o = 1; for (int i = 0; i < 3; ++i) "
        "if (Ref(own).compare_exchange_weak(none, 1)) o = 0; }",
        'k<<<1, 1>>>(); int h; cudaMemcpyFromSymbol(&h, o, 4); std::printf("%d\\n", h);',
        'calls compare_exchange_weak(), which may fail by chance, and then it prints "1"',
    ),
    "order of two allocations": (
        "__global__ void k(int* p) { *p = 1; }",
        "int *p = zero_on_device(), *q = zero_on_device(); k<<<1, 1>>>(p); cudaDeviceSynchronize(); "
        'std::printf("%d\\n", p < q);',
        OTHER_ORDER + '"0"',
    ),
    "order of memory of the host": (
        "__global__ void k(int* p) { *p = 1; }",
        "int* p = zero_on_device(); k<<<1, 1>>>(p); cudaDeviceSynchronize(); "
        'int *a = new int[999], *b = new int[999]; std::printf("%d\\n", a < b);',
        OTHER_ORDER + '"0"',
    ),
    "the C library reads what a kernel writes": (
        STORE,
        "v = 1; k<<<1, 1>>>(); int h = 0; ::swab(&v, &h, 4); cudaDeviceSynchronize(); "
        'std::printf("%d\\n", h == 256);',
        OTHER_ORDER + '"1"',
    ),
    "variable of the stack that is gone": (
        "__global__ void k(int* p) { *p = 1; } "
        "static void __attribute__((noinline)) send(int* p, cudaStream_t s) { "
        "volatile int own = 5; cudaMemcpyAsync(p, const_cast<int*>(&own), 4, cudaMemcpyHostToDevice, s); }",
        STREAMS
        + "int* p = zero_on_device(); k<<<1, 1>>>(zero_on_device()); send(p, a); cudaDeviceSynchronize(); "
        'std::printf("%d\\n", copied_from(p) == 5);',
        OTHER_ORDER + '"0"',
    ),
    "host thread that may be first": (
        STORE,
        "std::atomic<int> n = 0; k<<<1, 1>>>(); std::thread other([&] { "
        "std::this_thread::sleep_for(std::chrono::milliseconds(100)); n = 1; }); const int seen = n; "
        'other.join(); cudaDeviceSynchronize(); std::printf("%d\\n", seen);',
        OTHER_ORDER + '"1"',
    ),
    "two orders at a mutex": (
        STORE,
        "int n = 1; std::mutex m; k<<<1, 1>>>(); "
        "{ std::thread a([&] { std::lock_guard l(m); n += 2; }), b([&] { std::lock_guard l(m); n *= 3; }); "
        'a.join(); b.join(); } cudaDeviceSynchronize(); std::printf("%d\\n", n);',
        OTHER_ORDER + '"5"',
    ),
    "recursion": (
        "__device__ int deep(int n, const int* before) { int own[8]; for (int i = 0; i < 8; ++i) "
        "own[i] = before[i] + n; return n ? deep(n - 1, own) : own[3]; } "
        "__global__ void k(int* p, int n) { int zero[8] = {}; *p = deep(n, zero); }",
        "int* p = zero_on_device(); k<<<1, 1>>>(p, 100); copied_from(p);",
        "calls itself in a kernel so deep that the stack of a GPU's thread may be too small, "
        "and what is beyond its end is not explored",
    ),
    "long double": (
        "__global__ void k(int* p, double d) { *p = static_cast<int>((d + 1e-17L - d) * 1e18L); }",
        "int* p = zero_on_device(); k<<<1, 1>>>(p, 1.0); copied_from(p);",
        "computes with long double in device code, which is a double on a GPU",
    ),
    "__restrict__ pointers to one element": (
        "__global__ void k(int* __restrict__ a, int* __restrict__ b) { *a = 1; *b = 2; a[1] = *a; }",
        'int* p; cudaMalloc(&p, 8); k<<<1, 1>>>(p, p); std::printf("%d\\n", copied_from(p + 1));',
        COMPILED + f'"2": {OTHERWISE}',
    ),
    "local variable without a value": (
        "__device__ int sum(const int* a, int n) { int s = 0; for (int i = 0; i < n; ++i) s += a[i]; "
        "return s; } __global__ void k(int* p, int n) { int a[4]; for (int i = 0; i < n; ++i) a[i] = i; "
        "*p = sum(a, n + 1); }",
        "int* p = zero_on_device(); k<<<1, 1>>>(p, 3); "
        'std::printf("%d\\n", copied_from(p) == 3 - 0x01010102);',
        COMPILED + f'"1": {OTHERWISE}',
    ),
    "local variable after its scope": (
        '__device__ int* own(int x) { int n = x; int* p = &n; asm volatile("" : "+r"(p) : : "memory"); '
        "return p; } __global__ void k(int* p) { const int *a = own(4), *b = own(5); *p = *a + *b; }",
        'int* p = zero_on_device(); k<<<1, 1>>>(p); std::printf("%d\\n", copied_from(p));',
        COMPILED + f'"9": {OTHERWISE}',
    ),
    "product and sum": (
        "__global__ void k(float* p, float a, float b) { *p = a * a - b; }",
        "float* p; cudaMalloc(&p, 4); const float a = 1.0f + 1.0f / 8192; k<<<1, 1>>>(p, a, a * a); "
        'float h; cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost); std::printf("%d\\n", h == 0);',
        COMPILED + f'"0": {OTHERWISE}',
    ),
    "call after main()": (
        STORE,
        f"k<<<1, 1>>>(); cudaDeviceSynchronize(); std::atexit([] {{ cudaDeviceSynchronize(); }}); {PRINTED}",
        "calls the runtime before main() or after it, where it may not be there",
    ),
    "member function without an object": (
        "struct node { int v; __device__ bool is_none() const { return this == nullptr; } }; "
        "__global__ void k(const node* n, int* p) { *p = n->is_none(); }",
        'int* p = zero_on_device(); k<<<1, 1>>>(nullptr, p); std::printf("%d\\n", copied_from(p));',
        f"is compiled otherwise, and then it fails: {OTHERWISE}",
    ),
    "misaligned float4 in shared memory": (
        "__global__ void k(int* p) { __shared__ alignas(16) char own[64]; "
        "*reinterpret_cast<float4*>(own + 8) = float4{}; *p = own[8]; }",
        "int* p = zero_on_device(); k<<<1, 1>>>(p); copied_from(p);",
        f"is compiled otherwise, and then it fails: {OTHERWISE}",
    ),
}
CALL_FAILS = "has a call of the runtime that fails with cudaErrorInvalidValue"
NOT_KNOWN = ", and whether the program looks at that is not known"
for calls in (
    "cudaMemcpy(&h, p, 4, cudaMemcpyHostToDevice);",
    "cudaFree(p); cudaFree(p);",
    "cudaFree(p); copied_from(p);",
    "cudaMemcpy(two, p, 8, cudaMemcpyDeviceToHost);",
    "cudaMemcpyToSymbol(v, two, 8);",
):
    DENIED_FOR[calls] = (
        STORE,
        f'int h, two[2] = {{}}, *p = zero_on_device(); k<<<1, 1>>>(); {calls} std::printf("done\\n");',
        CALL_FAILS + NOT_KNOWN,
    )
# Races between the host and the device, or between streams.
RACES = {
    "managed variable read too early": (
        STORE,
        f"k<<<1, 1>>>(); {PRINTED} cudaDeviceSynchronize();",
    ),
    "managed memory copied too early": (
        "__global__ void k(int* p) { *p = 7; }",
        "int *p, h; cudaMallocManaged(&p, 4); *p = 0; k<<<1, 1>>>(p); std::memcpy(&h, p, 4); "
        "cudaDeviceSynchronize();",
    ),
    "pinned memory written too early": (
        "__global__ void k(int* p, int* o) { *o = *p; }",
        "int *p, *o = zero_on_device(); cudaMallocHost(&p, 4); *p = 1; k<<<1, 1>>>(p, o); *p = 2; "
        "copied_from(o);",
    ),
    "event recorded before the launch": (
        STORE,
        "cudaEvent_t e; cudaEventCreate(&e); cudaEventRecord(e); k<<<1, 1>>>(); cudaEventSynchronize(e); "
        f"{PRINTED} cudaDeviceSynchronize();",
    ),
    "two streams": (
        "__device__ int v; __global__ void k(int i) { v = i; }",
        STREAMS + "k<<<1, 1, 0, a>>>(1); k<<<1, 1, 0, b>>>(2); cudaDeviceSynchronize();",
    ),
}
NOT_ENDED = "seed 0: a kernel did not come to its end(?s:.*)"
DYNAMIC = "__global__ void k(int* p) { extern __shared__ int d[];"
# Found by racecheck itself, so these are refuted.
REFUTED = {
    "read-only load": (
        "__global__ void k(int* p) { *p = 1; *p += __ldg(p); }",
        "int* p = zero_on_device(); k<<<1, 1>>>(p); copied_from(p);",
        "read-only load of global memory that is written: ",
    ),
    "another thread's variable": (
        "__global__ void k(int* out) { __shared__ int* p; int a[4] = {1, 2, 3, 4}; "
        "if (threadIdx.x == 0) p = a; __syncthreads(); if (threadIdx.x == 1) *out = p[2]; "
        "__syncthreads(); }",
        "int* p = zero_on_device(); k<<<1, 2>>>(p); copied_from(p);",
        "another thread's local variable",
    ),
    "atomic on another thread's variable": (
        "__global__ void k(int* out) { __shared__ int* p; int mine = 0; if (threadIdx.x == 0) p = &mine; "
        "__syncthreads(); atomicAdd(p, 1); __syncthreads(); if (threadIdx.x == 0) *out = mine; }",
        "int* p = zero_on_device(); k<<<1, 2>>>(p); copied_from(p);",
        "(another thread's local variable|atomic on a local variable)",
    ),
    "read-only parameter": (
        "__global__ void k(const int* __restrict__ in, int* out) { out[threadIdx.x] = in[threadIdx.x] + 1; "
        "__syncthreads();\n  out[4 + threadIdx.x] = in[threadIdx.x ^ 1]; }",
        "int* p; cudaMalloc(&p, 32); cudaMemset(p, 0, 32); k<<<1, 4>>>(p, p); cudaDeviceSynchronize();",
        "read-only load of global memory that is written: ",
    ),
    "constant written": (
        "__constant__ int before = 1, c[2]; __global__ void k() { const_cast<int*>(c)[1] = before; }",
        "k<<<1, 1>>>(); cudaDeviceSynchronize();",
        "constant memory written: ",
    ),
    "constant written at a line that writes another variable": (
        "__device__ int d; __constant__ int c; __global__ void k() { "
        "for (int i = 0; i < 2; ++i) *(i ? const_cast<int*>(&c) : &d) = 4; }",
        "k<<<1, 1>>>(); cudaDeviceSynchronize();",
        "constant memory written: ",
    ),
    "fence that publishes nothing": (FENCES.format("acquire", "acquire"), TWO_BLOCKS, "race "),
    "fence that receives nothing": (FENCES.format("release", "release"), TWO_BLOCKS, "race "),
    "block larger than its bounds": (
        "__global__ void __launch_bounds__(4) k(int* p) { p[0] = 1; }",
        "int* p = zero_on_device(); k<<<1, 8>>>(p); cudaDeviceSynchronize();",
        "seed 0: a kernel did not come to its end",
    ),
    **{
        name: (
            kernel,
            f"int* p = zero_on_device(); {launch} copied_from(p);",
            f"{NOT_ENDED}{why}",
        )
        for name, kernel, launch, why in (
            (
                "static and dynamic shared memory",
                f"{DYNAMIC} __shared__ int s[10240]; s[0] = d[0] = 1; *p = s[0] + d[0]; }}",
                "k<<<1, 1, 20480>>>(p);",
                "61440 bytes of shared memory",
            ),
            (
                "more shared memory than a device has",
                f"{DYNAMIC} __shared__ int s[10240]; s[0] = d[0] = 1; *p = s[0] + d[0]; }}",
                "cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 204800); "
                "k<<<1, 1, 204800>>>(p);",
                "245760 bytes of shared memory",
            ),
            (
                "way that ends nowhere",
                "__device__ int f(int n) { if (n > 1) return n; __builtin_unreachable(); } "
                "__global__ void k(int* p) { *p = f(*p) + 1; }",
                "k<<<1, 1>>>(p);",
                "takes for unreachable",
            ),
            (
                "token of an old phase",
                "__global__ void k(int* p) { __shared__ cuda::barrier<cuda::thread_scope_block> b; "
                "init(&b, 1); auto t = b.arrive(), old = t; b.wait(std::move(t)); b.arrive_and_wait(); "
                "b.wait(std::move(old)); *p = 1; }",
                "k<<<1, 1>>>(p);",
                "a token of a phase before its last one",
            ),
            (
                "latch below zero",
                "using one = cuda::latch<cuda::thread_scope_block>; __global__ void k(int* p) { "
                "__shared__ alignas(8) char room[64]; one* l = new (room) one(1); l->count_down(2); }",
                "k<<<1, 1>>>(p);",
                "counted down below zero",
            ),
        )
    },
    "constant changed by an atomic": (
        "__constant__ int c; __global__ void k() { atomicAdd(const_cast<int*>(&c), 1); }",
        "k<<<1, 1>>>(); cudaDeviceSynchronize();",
        "constant memory written: ",
    ),
}
PROVED = {
    "a wait that a notification ends": (
        "__device__ cuda::atomic<int, cuda::thread_scope_device> n; "
        "__global__ void k() { if (threadIdx.x == 0) { n.store(1); n.notify_one(); } else n.wait(0); }",
        "k<<<1, 2>>>(); cudaDeviceSynchronize();",
    ),
    "host function, for which the host waits": (
        STORE,
        "int n = 0; k<<<1, 1>>>(); cudaLaunchHostFunc(0, [](void* p) { const int own = v; "
        "*static_cast<int*>(p) = own; }, &n); cudaDeviceSynchronize(); "
        'std::printf("%d\\n", n);',
    ),
    "fences of one kind each": (FENCES.format("release", "acquire"), TWO_BLOCKS),
    "read-only loads": (
        "__global__ void k(const int* __restrict__ in, int* out) { out[threadIdx.x] = in[0] + "
        "__ldg(in + 1); __syncthreads(); out[4] = out[0] + in[1]; }",
        "int* p; cudaMalloc(&p, 32); cudaMemset(p, 0, 32); k<<<1, 1>>>(p, p + 2); cudaDeviceSynchronize();",
    ),
    "packed structure": (
        "struct __attribute__((packed)) odd { char c; int v; }; __global__ void k(int* p) { "
        "__shared__ odd own[2]; own[1] = {1, 2}; *p = own[1].v; }",
        'int* p = zero_on_device(); k<<<1, 1>>>(p); std::printf("%d\\n", copied_from(p));',
    ),
    "block within its bounds": (
        "template <int most> __global__ void __launch_bounds__(most, 2) k(int* p) { p[threadIdx.x] = 1; }",
        "int* p; cudaMalloc(&p, 32); k<8><<<1, 8>>>(p); cudaDeviceSynchronize();",
    ),
    "weak compare-and-swap in a loop": (
        "__device__ int own; __global__ void k() { int none = 0; "
        "while (!Ref(own).compare_exchange_weak(none, none + 1)) {} }",
        'k<<<2, 1>>>(); int h; cudaMemcpyFromSymbol(&h, own, 4); std::printf("%d\\n", h);',
    ),
    "lanes that are not there and not used": (
        "__global__ void k(int* p) { int sum = 1 << threadIdx.x; "
        "for (int d = 2; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d); "
        "if (threadIdx.x == 0) *p = sum; }",
        'int* p = zero_on_device(); k<<<1, 4>>>(p); std::printf("%d\\n", copied_from(p));',
    ),
    "shared atomics": (
        "__global__ void k(unsigned* p) { "
        "__shared__ cuda::atomic<unsigned, cuda::thread_scope_block> own[64]; "
        "own[threadIdx.x].store(1); __syncthreads(); p[threadIdx.x] = own[63 - threadIdx.x].load(); }",
        "unsigned* p; cudaMalloc(&p, 256); k<<<1, 64>>>(p); cudaDeviceSynchronize();",
    ),
    "managed variable": (STORE, f"v = 1; k<<<1, 1>>>(); cudaDeviceSynchronize(); {PRINTED}"),
    "stream": (
        STORE,
        f"cudaStream_t a; cudaStreamCreate(&a); k<<<1, 1, 0, a>>>(); cudaDeviceSynchronize(); {PRINTED}",
    ),
    "stream of a host thread": (
        STORE,
        f"k<<<1, 1, 0, cudaStreamPerThread>>>(); cudaDeviceSynchronize(); {PRINTED}",
    ),
    "two streams and an event": (
        "__device__ int v; __global__ void k(int i) { v += i; }",
        "cudaStream_t a, b; cudaStreamCreate(&a); cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking); "
        "cudaEvent_t e; cudaEventCreate(&e); int* h; cudaMallocHost(&h, 4); k<<<1, 1, 0, a>>>(1); "
        "cudaEventRecord(e, a); cudaStreamWaitEvent(b, e, 0); k<<<1, 1, 0, b>>>(2); "
        "cudaMemcpyFromSymbolAsync(h, v, 4, 0, cudaMemcpyDeviceToHost, b); cudaStreamSynchronize(b); "
        'std::printf("%d\\n", *h);',
    ),
    "two streams that share nothing": (
        "__device__ int v[2]; __global__ void k(int i) { v[i] = i; }",
        STREAMS
        + "k<<<1, 1, 0, a>>>(0); k<<<1, 1, 0, b>>>(1); cudaStreamDestroy(a); cudaDeviceSynchronize();",
    ),
    "memset of managed memory": (
        "__global__ void k(int* p) { ++*p; }",
        "int* p; cudaMallocManaged(&p, 4); cudaMemset(p, 0, 4); *p = 3; k<<<1, 1>>>(p); "
        "cudaDeviceSynchronize();",
    ),
    "default stream": (STORE, f"k<<<1, 1>>>(); cudaStreamSynchronize(0); {PRINTED}"),
    "events": (
        STORE,
        "cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b); cudaEventRecord(a); k<<<1, 1>>>(); "
        f"cudaEventRecord(b); cudaEventSynchronize(b); float t; cudaEventElapsedTime(&t, a, b); {PRINTED}",
    ),
    "variable that a host thread hands over": (
        STORE,
        "int n = 0; std::mutex m; std::thread other([&] { std::lock_guard l(m); ++n; }); "
        "m.lock(); ++n; m.unlock(); other.join(); k<<<1, 1>>>(); cudaDeviceSynchronize(); "
        'std::printf("%d\\n", n + v);',
    ),
    "queries that wait": (
        STORE,
        "cudaEvent_t e; cudaEventCreate(&e); k<<<1, 1>>>(); cudaEventRecord(e); "
        "while (cudaEventQuery(e) != cudaSuccess) std::this_thread::yield(); "
        f"k<<<1, 1>>>(); while (cudaStreamQuery(0) == cudaErrorNotReady) {{ }} {PRINTED}",
    ),
    "asynchronous copies of pageable memory": (
        "__device__ int v; __global__ void k() { ++v; }",
        "int h = 1, after; cudaMemcpyToSymbolAsync(v, &h, 4); k<<<1, 1>>>(); "
        "cudaMemcpyFromSymbolAsync(&after, v, 4); cudaDeviceSynchronize(); h = 3; "
        'std::printf("%d %d\\n", h, after);',
    ),
    "memory in the order of a stream": (
        "__global__ void k(int* p) { *p = 7; }",
        "int least, greatest, *p, h; cudaDeviceGetStreamPriorityRange(&least, &greatest); cudaStream_t s; "
        "cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, greatest); "
        "for (int i = 0; i < 2; ++i) { cudaMallocAsync(&p, 4, s); k<<<1, 1, 0, s>>>(p); "
        "cudaMemcpyAsync(&h, p, 4, cudaMemcpyDeviceToHost, s); cudaFreeAsync(p, s); } "
        'cudaStreamSynchronize(s); std::printf("%d\\n", h);',
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


def buffering(one, other):
    """Of two blocks, each with its word `own` and the other one's, what they do."""
    return (
        "__device__ int x, y, o[2]; "
        "__global__ void k() { int& own = blockIdx.x ? x : y; int& others = blockIdx.x ? y : x; "
        f"if (blockIdx.x) {{ {one} }} else {{ {other} }} }}",
        "k<<<2, 1>>>(); int h[2]; cudaMemcpyFromSymbol(h, o, 8); "
        'std::printf("%d\\n", h[0] && h[1]);',
    )


READS = "const int seen = Ref(others).load(cuda::memory_order_relaxed); o[blockIdx.x] = seen; "
WRITES = "Ref(own).store(1, cuda::memory_order_relaxed);"
RELEASES = "Ref(own).store(1, cuda::memory_order_release);"
# What one reads may come from what it writes later.
LOAD_BUFFERING = {
    "both read, then write": buffering(READS + WRITES, READS + WRITES),
    "one writes if it has read": buffering(READS + f"if (seen) {WRITES}", READS + WRITES),
    "both release": buffering(READS + RELEASES, READS + RELEASES),
    "both add": buffering(
        "o[1] = atomicAdd(&x, 1); atomicAdd(&y, 1);", "o[0] = atomicAdd(&y, 1); atomicAdd(&x, 1);"
    ),
}
PROVED |= {
    "both fence between a read and a write": buffering(
        READS + "__threadfence(); " + WRITES, READS + "__threadfence(); " + WRITES
    ),
    "one acquires, and the other one releases": buffering(
        READS.replace("relaxed", "acquire") + WRITES, READS + RELEASES
    ),
    "both write only if they have read": buffering(
        READS + f"if (seen) {WRITES}", READS + f"if (seen) {WRITES}"
    ),
    "two counters in any order": (
        "__device__ int n[2]; __global__ void k() { atomicAdd(&n[blockIdx.x], 1); "
        "atomicAdd(&n[1 - blockIdx.x], 2); }",
        'k<<<2, 1>>>(); int h[2]; cudaMemcpyFromSymbol(h, n, 8); std::printf("%d %d\\n", h[0], h[1]);',
    ),
    "pointers that share no bytes": (
        "__global__ void k(int* __restrict__ a, int* __restrict__ b) { *a = 1; *b = 2; *a += *b; }",
        'int* p; cudaMalloc(&p, 8); k<<<1, 1>>>(p, p + 1); std::printf("%d\\n", copied_from(p));',
    ),
    "sums that are exact": (
        "__global__ void k(float* p) { *p = 3.0f * threadIdx.x + 0.5f; }",
        "float *p, h; cudaMalloc(&p, 4); k<<<1, 1>>>(p); cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost); "
        'std::printf("%g\\n", h);',
    ),
    "two orders at a mutex that are one": (
        STORE,
        "int n = 1; std::mutex m; k<<<1, 1>>>(); "
        "{ std::thread a([&] { std::lock_guard l(m); n += 2; }), b([&] { std::lock_guard l(m); n += 3; }); "
        'a.join(); b.join(); } cudaDeviceSynchronize(); std::printf("%d\\n", n);',
    ),
}


PROGRAMS = {**DENIED, **DENIED_FOR, **RACES, **REFUTED, **PROVED, **LOAD_BUFFERING}
