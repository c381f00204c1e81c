// SPDX-License-Identifier: MIT
// What translate.py makes of `kernel<<<blocks, threads, shared, stream>>>(arguments)`.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "cpu_backend/context.hpp"
#include "cpu_backend/grid.hpp"
#include "cpu_backend/multiprocessor.hpp"
#include "cpu_backend/place.hpp"
#include "cuda_runtime_api.h"

namespace cpu_backend {

struct launch_configuration {
  dim3 blocks;
  dim3 threads;
  std::size_t dynamic_shared_bytes = 0;
  cudaStream_t stream = nullptr;
  bool cooperative = false;

  launch_configuration(dim3 grid_size, dim3 block_size = 1, std::size_t shared_bytes = 0,
                       cudaStream_t in_stream = nullptr)
      : blocks(grid_size),
        threads(block_size),
        dynamic_shared_bytes(shared_bytes),
        stream(in_stream) {}
};

// Checks the configuration as the CUDA runtime does and runs `threads_of_block` for every block.
// Returns once the grid is done; what goes wrong inside a kernel shows at the next synchronising
// call.
cudaError_t launch(const launch_configuration& configuration, const void* kernel,
                   void (*run_threads)(multiprocessor&, const void* body), const void* body,
                   const place& at);

// A pointer as the kernel sees it. Memory that a GPU can't reach must not work here either: a
// pointer that is in no device, managed or pinned memory becomes an address that faults when it is
// used.
const void* as_seen_by_a_kernel(const void* pointer);

template <class Argument>
Argument kernel_argument(Argument argument) {
  using pointee = std::remove_pointer_t<Argument>;
  if constexpr (std::is_pointer_v<Argument> && !std::is_function_v<pointee>) {
    return static_cast<Argument>(const_cast<void*>(
        as_seen_by_a_kernel(const_cast<const void*>(static_cast<const volatile void*>(argument)))));
  } else {
    return argument;
  }
}

#ifdef CPU_BACKEND_OBSERVED
// Runs threads of a block in the schedule's order, and those of later blocks.
template <class Body>
void run_threads(multiprocessor& on, const void* erased_body) {
  const Body& body = *static_cast<const Body*>(erased_body);
  const std::uint64_t launch = on.launch_number();
  do {
    while (on.unstarted_thread() < on.threads()) {
      const unsigned rank = on.start_thread();
      body();
      on.returned(rank);
    }
  } while (on.find_threads(launch));
}

template <class Type>
struct type_name {
  static const char* of() { return __PRETTY_FUNCTION__; }
};
// What translate.py puts behind the declaration of a __shared__ variable.
template <class Type>
void shared_variable(Type& variable, const char* name) {
  if (multiprocessor* on = this_multiprocessor) {
    on->use_shared_variable(const_cast<std::remove_cv_t<Type>*>(&variable), sizeof variable, name,
                            type_name<Type>::of());
  }
}
#else
// Runs threads one after the other, of one block and of the next ones. Inlined with the kernel into
// one loop, since most kernels are a few instructions a thread; and a fiber that has run out of
// threads waits in here, where it can begin with the next at once.
template <class Body>
void run_threads(multiprocessor& on, const void* erased_body) {
  const Body body = *static_cast<const Body*>(erased_body);  // a copy can live in registers
  const auto index_of = [](unsigned rank) {
    if (blockDim.y == 1 && blockDim.z == 1) return uint3{rank, 0, 0};
    const unsigned row = rank / blockDim.x;
    return uint3{rank % blockDim.x, row % blockDim.y, row / blockDim.y};
  };
  const std::uint64_t launch = on.launch_number();
  do {
    unsigned rank = on.unstarted_thread();
    uint3 index = index_of(rank);
    while (rank < on.threads()) {
      on.starts(rank);
      threadIdx = index;
      body();
      if (on.anything_waited()) [[unlikely]] {
        on.returned(rank);
        rank = on.unstarted_thread();
        index = index_of(rank);
        continue;
      }
      ++rank;
      if (++index.x == blockDim.x) {
        index.x = 0;
        if (++index.y == blockDim.y) {
          index.y = 0;
          ++index.z;
        }
      }
    }
  } while (on.find_threads(launch));
}
#endif

template <class Body>
cudaError_t launch_body(const launch_configuration& configuration, const void* kernel,
                        const Body& body, const place& at) {
  return launch(configuration, kernel, run_threads<Body>, &body, at);
}

// Handed to `pick`, returns the kernel itself with its type.
struct kernel_itself {
  template <class... Parameters>
  auto operator()(void (*kernel)(Parameters...)) const {
    return kernel;
  }
};

// Arguments are copied once for the launch, as CUDA does, and once more for each thread.
template <class Call, class... Arguments>
void launch_with(const launch_configuration& configuration, const void* kernel, const Call& call,
                 const place& at, Arguments... arguments) {
  launch_body(
      configuration, kernel,
      [call, ... seen = kernel_argument(std::move(arguments))] { call(seen...); }, at);
}

// A launch of a kernel whose name alone says which function is meant.
template <class Call, class Pick, class Kernel>
class configured_launch;

template <class Call, class Pick, class... Parameters>
class configured_launch<Call, Pick, void (*)(Parameters...)> {
 public:
  configured_launch(Call call, Pick pick, launch_configuration configuration, place at)
      : call_(call), kernel_(pick(kernel_itself{})), configuration_(configuration), at_(at) {}

  // Converts the arguments to the kernel's parameters here on the host, once.
  void operator()(Parameters... arguments) const { launch(std::forward<Parameters>(arguments)...); }

  // Default arguments, or more of a parameter pack than the name says: only the call knows them.
  template <class... Arguments>
  requires(sizeof...(Arguments) != sizeof...(Parameters)) void operator()(
      Arguments... arguments) const {
    launch(std::move(arguments)...);
  }

 private:
  template <class... Arguments>
  void launch(Arguments&&... arguments) const {
    launch_with(configuration_, reinterpret_cast<const void*>(kernel_), call_, at_,
                std::forward<Arguments>(arguments)...);
  }

  Call call_;
  void (*kernel_)(Parameters...);
  launch_configuration configuration_;
  place at_;
};

// A launch in which the arguments decide which overload or instantiation is meant.
template <class Call, class Pick>
class configured_launch<Call, Pick, std::nullptr_t> {
 public:
  configured_launch(Call call, Pick pick, launch_configuration configuration, place at)
      : call_(call), pick_(pick), configuration_(configuration), at_(at) {}

  template <class... Arguments>
  void operator()(Arguments... arguments) const {
    const void* kernel =
        pick_([](void (*of)(Arguments...)) { return reinterpret_cast<const void*>(of); });
    launch_with(configuration_, kernel, call_, at_, std::move(arguments)...);
  }

 private:
  Call call_;
  Pick pick_;
  launch_configuration configuration_;
  place at_;
};

// `call` invokes the kernel with the arguments it gets; `pick` hands the kernel's name to its
// argument, or returns nullptr where the name alone does not say which function is meant.
template <class Call, class Pick>
auto configure(Call call, Pick pick, launch_configuration configuration,
               place at = CPU_BACKEND_HERE) {
  using kernel = decltype(pick(kernel_itself{}));
  return configured_launch<Call, Pick, kernel>(call, pick, configuration, at);
}

// `extern __shared__ T name[];`
template <class T>
auto dynamic_shared_memory() -> T (&)[] {
  return *reinterpret_cast<T(*)[]>(this_multiprocessor->dynamic_shared_memory());
}

template <class... Parameters, std::size_t... Index>
cudaError_t launch_with_pointers(void (*kernel)(Parameters...), launch_configuration configuration,
                                 void** arguments, std::index_sequence<Index...>, const place& at) {
  return launch_body(
      configuration, reinterpret_cast<const void*>(kernel),
      [kernel, ... seen = kernel_argument(*static_cast<std::remove_cv_t<Parameters>*>(
                   arguments[Index]))] { kernel(seen...); },
      at);
}

}  // namespace cpu_backend

// The kernel itself is asked for, not a `const void*`: from that, a CPU can't tell its parameters.
template <class... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 blocks, dim3 threads,
                             void** arguments, std::size_t shared_bytes = 0,
                             cudaStream_t stream = nullptr,
                             cpu_backend::place at = CPU_BACKEND_HERE) {
  return cpu_backend::launch_with_pointers(kernel, {blocks, threads, shared_bytes, stream},
                                           arguments, std::index_sequence_for<Parameters...>{}, at);
}

template <class... Parameters>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Parameters...), dim3 blocks, dim3 threads,
                                        void** arguments, std::size_t shared_bytes = 0,
                                        cudaStream_t stream = nullptr,
                                        cpu_backend::place at = CPU_BACKEND_HERE) {
  cpu_backend::launch_configuration configuration{blocks, threads, shared_bytes, stream};
  configuration.cooperative = true;
  return cpu_backend::launch_with_pointers(kernel, configuration, arguments,
                                           std::index_sequence_for<Parameters...>{}, at);
}

// Of the attributes, only cudaLaunchAttributeCooperative means something here.
template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* asked, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  cpu_backend::launch_configuration configuration{asked->gridDim, asked->blockDim,
                                                  asked->dynamicSmemBytes, asked->stream};
  for (unsigned i = 0; i < asked->numAttrs; ++i) {
    if (asked->attrs[i].id == cudaLaunchAttributeCooperative) {
      configuration.cooperative = asked->attrs[i].val.cooperative != 0;
    }
  }
  return cpu_backend::launch_body(
      configuration, reinterpret_cast<const void*>(kernel),
      [kernel, ... seen = cpu_backend::kernel_argument(
                   static_cast<std::remove_cv_t<Parameters>>(arguments))] { kernel(seen...); },
      cpu_backend::place{});
}

#define CPU_BACKEND_NEEDS_KERNEL                                                 \
  __attribute__((                                                                \
      error("on the CPU backend, pass the kernel itself and not a void pointer " \
            "to it: its parameters' types are needed to call it")))
CPU_BACKEND_NEEDS_KERNEL cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**,
                                                      std::size_t = 0, cudaStream_t = nullptr);
CPU_BACKEND_NEEDS_KERNEL cudaError_t cudaLaunchCooperativeKernel(const void*, dim3, dim3, void**,
                                                                 std::size_t = 0,
                                                                 cudaStream_t = nullptr);
#undef CPU_BACKEND_NEEDS_KERNEL
