# SPDX-License-Identifier: MIT
"""Right solutions in other styles than ours: a limit refuses what is wrong, and nothing else."""

# Each block takes neighbouring values; in our solutions a thread's are a grid's width apart.
NEIGHBOURING_VALUES = [
    (
        "  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;\n",
        "  const std::size_t share = (count + gridDim.x - 1) / gridDim.x;\n"
        "  const std::size_t begin = blockIdx.x * share;\n"
        "  const std::size_t end = begin + share < count ? begin + share : count;\n",
    ),
    (
        "i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride",
        "i = begin + threadIdx.x; i < end; i += blockDim.x",
    ),
]

# What 04.2's solution does after its barrier, and the loop that looks for the fullest bin.
FULLEST = """\
      unsigned best = 0;
      for (unsigned bin = 1; bin < 256; ++bin) {
        if (bins[bin] > bins[best]) best = bin;
      }
      *fullest = best;
"""
LAST_OF_BINS = f"""\
  if (threadIdx.x == 0) {{
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> tickets(*arrived);
    if (tickets.fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1) {{
{FULLEST}      tickets.store(0, cuda::memory_order_relaxed);  // ready for the next launch
    }}
  }}
"""
FENCES_OF_ONE = """\
  __shared__ bool last;
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(arrived, 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
"""

# (exercise, in which style, [(a piece of our solution, what stands there instead)])
STYLES = [
    (
        "01.1",
        "few blocks, whose threads go on by a grid's stride",
        [
            (
                "  if (i < n) y[i] = alpha * x[i] + y[i];\n",
                "  for (std::size_t k = i; k < n; k += std::size_t{gridDim.x} * blockDim.x) {\n"
                "    y[k] = alpha * x[k] + y[k];\n  }\n",
            ),
            ("  const unsigned threads = 256;\n", "  const unsigned threads = 32;\n"),
            (
                "add_scaled<<<blocks, threads>>>",
                "add_scaled<<<blocks < 20 ? blocks : 20, threads>>>",
            ),
        ],
    ),
    (
        "01.1",
        "eight neighbouring elements for each thread",
        [
            (
                "  if (i < n) y[i] = alpha * x[i] + y[i];\n",
                "  for (std::size_t k = 8 * i; k < 8 * i + 8 && k < n; ++k) y[k] += alpha * x[k];\n",
            ),
            ("  const unsigned threads = 256;\n", "  const unsigned threads = 64;\n"),
            ("(n + threads - 1) / threads", "(n + 8 * threads - 1) / (8 * threads)"),
        ],
    ),
    (
        "01.1",
        "a structure of two elements by a pointer to a function",
        [
            (
                "__global__ void",
                "struct two {\n  float of[2];\n};\n"
                "__device__ two scaled(float alpha, two x, two y) {\n"
                "  for (int k = 0; k < 2; ++k) y.of[k] = alpha * x.of[k] + y.of[k];\n  return y;\n}\n"
                "__device__ two plain(float, two x, two y) {\n"
                "  for (int k = 0; k < 2; ++k) y.of[k] += x.of[k];\n  return y;\n}\n\n__global__ void",
            ),
            (
                "  if (i < n) y[i] = alpha * x[i] + y[i];\n",
                "  two (*const combine)(float, two, two) = alpha == 1 ? plain : scaled;\n"
                "  two* const to = reinterpret_cast<two*>(y) + i;\n"
                "  if (2 * i + 1 < n) {\n"
                "    *to = combine(alpha, reinterpret_cast<const two*>(x)[i], *to);\n"
                "  } else if (2 * i < n) {\n    y[2 * i] += alpha * x[2 * i];\n  }\n",
            ),
        ],
    ),
    (
        "01.1",
        "a virtual function of one of two objects",
        [
            (
                "__global__ void",
                "struct step {\n  __device__ virtual float operator()(float x, float y) const = 0;\n};\n"
                "struct scaled : step {\n  float by;\n"
                "  __device__ explicit scaled(float factor) : by(factor) {}\n"
                "  __device__ float operator()(float x, float y) const override { return by * x + y; }\n"
                "};\n"
                "struct plain : step {\n"
                "  __device__ float operator()(float x, float y) const override { return x + y; }\n};\n\n"
                "__global__ void",
            ),
            (
                "  if (i < n) y[i] = alpha * x[i] + y[i];\n",
                "  const scaled one(alpha);\n  const plain other;\n"
                "  const step& take = alpha == 1 ? static_cast<const step&>(other) : one;\n"
                "  if (i < n) y[i] = take(x[i], y[i]);\n",
            ),
        ],
    ),
    (
        "01.2",
        "blocks of 1,024 threads",
        [("  const unsigned threads = 256;\n", "  const unsigned threads = 1024;\n")],
    ),
    (
        "01.5",
        "notes whether a call has failed, and looks at that at the end",
        [
            (
                '  std::fprintf(stderr, "%s: %s\\n", what, cudaGetErrorString(error));\n'
                "  std::exit(EXIT_FAILURE);\n",
                '  std::fprintf(stderr, "failed\\n");\n  failed = what;\n',
            ),
            (
                "  check(cudaMemcpy(device_a,",
                "  if (failed) return 2;\n  check(cudaMemcpy(device_a,",
            ),
            ("void check(", "const char* failed = nullptr;\n\nvoid check("),
            (
                "  for (const int sum : sums)",
                "  if (failed) return 3;\n  for (const int sum : sums)",
            ),
        ],
    ),
    (
        "01.5",
        "asserts that no call has failed",
        [
            ("#include <charconv>\n", "#include <cassert>\n#include <charconv>\n"),
            ("  if (error == cudaSuccess) return;\n", "  assert(error == cudaSuccess);\n"),
            (
                '  std::fprintf(stderr, "%s: %s\\n", what, cudaGetErrorString(error));\n'
                "  std::exit(EXIT_FAILURE);\n",
                "  (void)error, (void)what;\n",
            ),
        ],
    ),
    (
        "01.5",
        "managed memory, and no copies",
        [
            ("cudaMalloc(&device_a", "cudaMallocManaged(&device_a"),
            ("cudaMalloc(&device_b", "cudaMallocManaged(&device_b"),
            ("cudaMalloc(&device_sums", "cudaMallocManaged(&device_sums"),
            (
                '  check(cudaMemcpy(device_a, a.data(), bytes, cudaMemcpyHostToDevice), "copy of a");\n'
                '  check(cudaMemcpy(device_b, b.data(), bytes, cudaMemcpyHostToDevice), "copy of b");\n',
                "  for (std::size_t i = 0; i < count; ++i) {\n"
                "    device_a[i] = a[i];\n    device_b[i] = b[i];\n  }\n",
            ),
            (
                "  check(cudaMemcpy(sums.data(), device_sums, bytes, cudaMemcpyDeviceToHost), "
                '"copy of the sums");\n',
                '  check(cudaDeviceSynchronize(), "kernel");\n'
                "  for (std::size_t i = 0; i < count; ++i) sums[i] = device_sums[i];\n",
            ),
        ],
    ),
    (
        "02.1",
        "the first warp looks at all values of its block",
        [
            (
                "  largest[thread] = i < n ? values[i] : INT_MIN;\n",
                "  largest[thread] = INT_MIN;\n"
                "  for (unsigned k = thread; k < blockDim.x && thread < 32; k += 32) {\n"
                "    const std::size_t of = std::size_t{blockIdx.x} * blockDim.x + k;\n"
                "    const int value = of < n ? values[of] : INT_MIN;\n"
                "    if (value > largest[thread]) largest[thread] = value;\n  }\n  (void)i;\n",
            ),
            ("live = blockDim.x; live > 1;", "live = blockDim.x < 32 ? blockDim.x : 32; live > 1;"),
        ],
    ),
    (
        "02.2",
        "an atomic for each warp in shared memory",
        [
            (
                "  if (lane == 0) sums[warp] = sum;\n  __syncthreads();\n",
                "  if (thread == 0) sums[0] = 0;\n  __syncthreads();\n"
                "  if (lane == 0) atomicAdd(reinterpret_cast<unsigned long long*>(&sums[0]),\n"
                "                           static_cast<unsigned long long>(sum));\n"
                "  __syncthreads();\n"
                "  if (thread == 0) partials[blockIdx.x] = sums[0];\n",
            ),
            (
                "  if (warp != 0) return;\n"
                "  const unsigned warps = blockDim.x / 32;\n"
                "  sum = sum_of_warp(lane < warps ? sums[lane] : 0);\n"
                "  if (lane == 0) partials[blockIdx.x] = sum;\n",
                "",
            ),
            ("  const unsigned warp = thread / 32;\n", ""),
        ],
    ),
    (
        "02.3",
        "the whole block takes part in the last steps",
        [
            ("half > 32; half /= 2", "half > 0; half /= 2"),
            ("  if (thread < 32) {  // 64 sums are left, for one warp\n", "  {\n"),
            (
                "    for (unsigned half = 32; half > 0; half /= 2) {\n",
                "    for (unsigned half = 0; half > 0;) {\n",
            ),
        ],
    ),
    (
        "02.3",
        "one thread adds up the last 64 sums",
        [
            ("  if (thread < 32) {  // 64 sums are left, for one warp\n", "  if (thread == 0) {\n"),
            (
                "      if (thread < half) sums[thread] += sums[thread + half];\n      __syncwarp();\n",
                "      for (unsigned k = 0; k < half; ++k) sums[k] += sums[k + half];\n",
            ),
        ],
    ),
    (
        "02.5",
        "the threads without a value end, and so no barrier waits for them",
        [
            (
                "    if (thread < length) tile[thread] = values[first + thread];\n",
                "    if (thread >= length) return;\n    tile[thread] = values[first + thread];\n",
            ),
        ],
    ),
    (
        "03.1",
        "one thread merges what the blocks have left",
        [
            (
                "k = threadIdx.x; k < blocks; k += blockDim.x",
                "k = 0; k < blocks && threadIdx.x == 0; ++k",
            ),
        ],
    ),
    (
        "03.1",
        "each block has neighbouring values",
        [
            *NEIGHBOURING_VALUES,
        ],
    ),
    (
        "03.2",
        "one thread merges all partial sums",
        [
            (
                "  for (unsigned k = threadIdx.x; k < count; k += blockDim.x) total += partials[k];\n",
                "  for (unsigned k = 0; k < count && threadIdx.x == 0; ++k) total += partials[k];\n",
            ),
        ],
    ),
    (
        "04.1",
        "a release and an acquire of cuda::atomic_ref, and a store that sets the counter back",
        [
            ("#include <cstddef>\n", "#include <cstddef>\n#include <cuda/atomic>\n"),
            ("    __threadfence();\n    last = ", "    last = "),
            (
                "atomicInc(counter, gridDim.x - 1) == gridDim.x - 1;\n    __threadfence();\n",
                "cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*counter).fetch_add(1) ==\n"
                "           gridDim.x - 1;\n    if (last) *counter = 0;\n",
            ),
        ],
    ),
    (
        "04.1",
        "the last block looks at the partial sums by atomic loads",
        [
            ("#include <cstddef>\n", "#include <cstddef>\n#include <cuda/atomic>\n"),
            (
                "total += partials[block * blockDim.x + threadIdx.x];",
                "total += cuda::atomic_ref<long long, cuda::thread_scope_device>(\n"
                "          partials[block * blockDim.x + threadIdx.x]).load(cuda::memory_order_relaxed);",
            ),
        ],
    ),
    (
        "04.1",
        "one thread of the last block adds up all columns",
        [
            (
                "    long long total = 0;\n    for (unsigned block = 0; block < gridDim.x; ++block) {\n"
                "      total += partials[block * blockDim.x + threadIdx.x];\n    }\n"
                "    sums[threadIdx.x] = total;\n",
                "    for (unsigned column = 0; column < blockDim.x && threadIdx.x == 0; ++column) {\n"
                "      long long total = 0;\n"
                "      for (unsigned block = 0; block < gridDim.x; ++block) {\n"
                "        total += partials[block * blockDim.x + column];\n      }\n"
                "      sums[column] = total;\n    }\n",
            ),
        ],
    ),
    (
        "04.1",
        "the last block keeps its own partial sums to itself",
        [
            ("    long long total = 0;\n", "    long long total = sum;\n"),
            (
                "      total += partials[block * blockDim.x + threadIdx.x];\n",
                "      if (block != blockIdx.x) total += partials[block * blockDim.x + threadIdx.x];\n",
            ),
        ],
    ),
    (
        "04.2",
        "each block has neighbouring values, and bins without a value are added as well",
        [
            *NEIGHBOURING_VALUES,
            ("    if (of_block[bin] != 0) atomicAdd", "    atomicAdd"),
        ],
    ),
    (
        "04.2",
        "a pair of cuda::std",
        [
            ("#include <cuda/atomic>\n", "#include <cuda/atomic>\n#include <cuda/std/utility>\n"),
            (
                FULLEST,
                "      auto best = cuda::std::make_pair(bins[0], 0U);\n"
                "      for (unsigned bin = 1; bin < 256; ++bin) {\n"
                "        if (bins[bin] > best.first) best = {bins[bin], bin};\n      }\n"
                "      const auto [most, fullest_of_all] = best;\n      (void)most;\n"
                "      *fullest = fullest_of_all;\n",
            ),
        ],
    ),
    (
        "04.2",
        "the last block looks at the bins by atomic loads",
        [
            (
                "if (bins[bin] > bins[best]) best = bin;",
                "if (cuda::atomic_ref<unsigned, cuda::thread_scope_device>(bins[bin])\n"
                "              .load(cuda::memory_order_relaxed) >\n"
                "          cuda::atomic_ref<unsigned, cuda::thread_scope_device>(bins[best])\n"
                "              .load(cuda::memory_order_relaxed)) {\n        best = bin;\n      }",
            ),
        ],
    ),
    (
        "04.2",
        "one thread fences, and looks at the bins by volatile loads",
        [
            (
                LAST_OF_BINS,
                FENCES_OF_ONE + "  if (last && threadIdx.x == 0) {\n"
                "    const volatile unsigned* const now = bins;\n    unsigned best = 0;\n"
                "    for (unsigned bin = 1; bin < 256; ++bin) {\n"
                "      if (now[bin] > now[best]) best = bin;\n    }\n"
                "    *fullest = best;\n    *arrived = 0;\n  }\n",
            )
        ],
    ),
    (
        "04.2",
        "all threads fence, the counter comes round by itself, and all threads of the last block look",
        [
            (
                "  __syncthreads();\n" + LAST_OF_BINS,
                "  __threadfence();\n  __syncthreads();\n  __shared__ bool last;\n"
                "  __shared__ unsigned best_of[1024], most_of[1024];\n"
                "  if (threadIdx.x == 0) last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;\n"
                "  __syncthreads();\n  if (!last) return;\n  __threadfence();\n"
                "  unsigned best = 0, most = 0;\n"
                "  for (unsigned bin = threadIdx.x; bin < 256; bin += blockDim.x) {\n"
                "    if (bins[bin] > most) {\n      most = bins[bin];\n      best = bin;\n    }\n  }\n"
                "  best_of[threadIdx.x] = best;\n  most_of[threadIdx.x] = most;\n  __syncthreads();\n"
                "  if (threadIdx.x != 0) return;\n"
                "  for (unsigned k = 1; k < blockDim.x; ++k) {\n"
                "    if (most_of[k] > most || (most_of[k] == most && best_of[k] < best)) {\n"
                "      most = most_of[k];\n      best = best_of[k];\n    }\n  }\n"
                "  *fullest = best;\n",
            )
        ],
    ),
    (
        "04.2",
        "cooperative groups, fences of libcu++ and a relaxed ticket",
        [
            ("#include <cstddef>\n", "#include <cooperative_groups.h>\n\n#include <cstddef>\n"),
            (
                "  __syncthreads();\n" + LAST_OF_BINS,
                "  const auto block = cooperative_groups::this_thread_block();\n"
                "  __shared__ unsigned ticket;\n  block.sync();\n"
                "  if (block.thread_rank() == 0) {\n"
                "    cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);\n"
                "    ticket = cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*arrived).fetch_add(\n"
                "        1, cuda::memory_order_relaxed);\n"
                "    cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);\n"
                "  }\n  block.sync();\n"
                "  if (ticket == gridDim.x - 1 && block.thread_rank() == 0) {\n"
                f"{FULLEST}    atomicExch(arrived, 0);\n  }}\n",
            ),
        ],
    ),
    (
        "04.2",
        "lambdas, sequentially consistent tickets, atomics in shared memory, and all bins are added",
        [
            ("    if (of_block[bin] != 0) atomicAdd", "    atomicAdd"),
            (
                LAST_OF_BINS,
                "  const auto arrive = [&] {\n"
                "    cuda::atomic_ref<unsigned, cuda::thread_scope_device> tickets(*arrived);\n"
                "    return tickets++ == gridDim.x - 1;\n  };\n"
                "  const auto each_bin = [&](auto what) {\n"
                "    for (unsigned bin = threadIdx.x; bin < 256; bin += blockDim.x) what(bin);\n  };\n"
                "  __shared__ bool last;\n  __shared__ unsigned most, best;\n"
                "  if (threadIdx.x == 0) {\n    last = arrive();\n    most = 0;\n    best = 256;\n  }\n"
                "  __syncthreads();\n  if (!last) return;\n  unsigned mine = 0, first = 256;\n"
                "  each_bin([&](unsigned bin) { mine = mine < bins[bin] ? bins[bin] : mine; });\n"
                "  atomicMax(&most, mine);\n  __syncthreads();\n"
                "  each_bin([&](unsigned bin) { if (bins[bin] == most && bin < first) first = bin; });\n"
                "  atomicMin(&best, first);\n  __syncthreads();\n"
                "  if (threadIdx.x == 0) {\n    *fullest = best;\n    *arrived = 0;\n  }\n",
            ),
        ],
    ),
    (
        "04.2",
        "the course's header, and a warp that looks by atomics that add nothing",
        [
            (
                "#include <cuda/atomic>\n",
                '#include <cuda/atomic>\n\n#include "04_last_block_guard/last_block.cuh"\n',
            ),
            (
                "  __syncthreads();\n" + LAST_OF_BINS,
                "  if (!course::last_block(arrived) || threadIdx.x >= 32) return;\n"
                "  const unsigned lanes = blockDim.x < 32 ? blockDim.x : 32;\n"
                "  unsigned long long key = 0;\n"
                "  for (unsigned bin = threadIdx.x; bin < 256; bin += lanes) {\n"
                "    const unsigned long long of_bin = (1ULL * atomicAdd(&bins[bin], 0) << 32) + 255 - bin;\n"
                "    if (of_bin > key) key = of_bin;\n  }\n"
                "  for (unsigned step = 16; step > 0; step /= 2) {\n"
                "    const unsigned long long other = __shfl_down_sync(0xffffffff, key, step);\n"
                "    if (threadIdx.x + step < lanes && other > key) key = other;\n  }\n"
                "  if (threadIdx.x == 0) *fullest = 255 - static_cast<unsigned>(key & 255);\n",
            ),
        ],
    ),
    (
        "04.3",
        "one thread chooses among the blocks' candidates",
        [
            (
                "    for (unsigned k = threadIdx.x; k < gridDim.x; k += blockDim.x) {\n",
                "    for (unsigned k = 0; k < gridDim.x && threadIdx.x == 0; ++k) {\n",
            ),
        ],
    ),
    (
        "05.1",
        "atomicAdd()",
        [
            (
                "    const cuda::atomic_ref<unsigned, cuda::thread_scope_device> counter(*next);\n"
                "    fetched = counter.fetch_add(1, cuda::memory_order_relaxed);\n",
                "    fetched = atomicAdd(next, 1U);\n",
            ),
        ],
    ),
    (
        "05.2",
        "both numbers by one atomic",
        [
            (
                "    const unsigned first = fetch(next) * blockDim.x + threadIdx.x;\n"
                "    const unsigned second = fetch(next) * blockDim.x + threadIdx.x;\n",
                "    const unsigned tile = fetch(next);\n"
                "    const unsigned first = tile * blockDim.x + threadIdx.x;\n"
                "    const unsigned second = first + blockDim.x;\n",
            ),
            ("atomicAdd(next, 1U)", "atomicAdd(next, 2U)"),
        ],
    ),
    (
        "05.3",
        "chunks of half the size that the rule allows",
        [("size = left / (2 * gridDim.x);", "size = left / (3 * gridDim.x);")],
    ),
    (
        "06.2",
        "the threads' sums are added up by a warp",
        [
            (
                "  if (threadIdx.x == 0) {\n    unsigned long long of_block = 0;\n"
                "    for (unsigned thread = 0; thread < blockDim.x; ++thread) of_block += sums[thread];\n"
                "    atomicAdd(total, of_block);\n  }\n",
                "  if (threadIdx.x < 4) {\n    unsigned long long part = 0;\n"
                "    for (unsigned thread = threadIdx.x; thread < blockDim.x; thread += 4) {\n"
                "      part += sums[thread];\n    }\n    atomicAdd(total, part);\n  }\n",
            ),
        ],
    ),
]
