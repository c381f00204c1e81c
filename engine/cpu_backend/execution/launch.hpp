// SPDX-License-Identifier: MIT
// What translate.py makes of `kernel<<<blocks, threads, shared, stream>>>(arguments)`.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

#include "cpu_backend/execution/place.hpp"
#include "cpu_backend/form.hpp"
#include "cpu_backend/multiprocessor.hpp"
#include "cpu_backend/observer.hpp"
#include "cpu_backend/runtime/context.hpp"
#include "cuda_runtime_api.h"

namespace cpu_backend {

struct launch_configuration {
  dim3 blocks;
  dim3 threads;
  std::size_t dynamic_shared_bytes = 0;
  cudaStream_t stream = nullptr;
  bool cooperative = false;
  bool returns_nothing = false;  // of <<<>>>: the program has to ask for an error

  launch_configuration(dim3 grid_size, dim3 block_size = 1, std::size_t shared_bytes = 0,
                       cudaStream_t in_stream = nullptr)
      : blocks(grid_size),
        threads(block_size),
        dynamic_shared_bytes(shared_bytes),
        stream(in_stream) {}
};

// What a launch calls for each of its threads, which it keeps until it is done. (No
// std::shared_ptr: the code of a program that is checked would be taken for the checker's own
// pointers as well.)
using launch_body = std::unique_ptr<const void, void (*)(const void*)>;

// Checks the configuration as the CUDA runtime does and runs `run_threads` for every block. Returns
// once the grid is done, or waits, or is to wait for its turn (runtime/work_queue.hpp). What goes
// wrong inside a kernel shows at the next synchronising call.
cudaError_t launch(const launch_configuration& configuration, const void* kernel,
                   void (*run_threads)(multiprocessor&, const void* body), launch_body body,
                   const place& at);

// A pointer as the kernel sees it. Memory that a GPU can't reach must not work here either: a
// pointer that is in no device, managed or pinned memory becomes an address that faults when it is
// used.
const void* as_seen_by_a_kernel(const void* pointer);

// An argument whose copies do something. CUDA copies it once for the launch; each thread then gets
// the bytes of that copy, and neither copies nor destroys an object.
template <class T>
inline constexpr bool is_passed_as_bytes = std::is_class_v<T> && !std::is_trivially_copyable_v<T>;

// An argument as a launch holds it: value() is what a kernel is called with.
template <class T>
class held_argument {
 public:
  explicit held_argument(T argument) : value_(argument) {
    if constexpr (std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>) {
      value_ = static_cast<T>(const_cast<void*>(as_seen_by_a_kernel(
          const_cast<const void*>(static_cast<const volatile void*>(argument)))));
    } else {
      observer::bytes_of_host_arrive(&value_, sizeof value_);
    }
  }
  const held_argument& for_a_thread() const { return *this; }
  const T& value() const { return value_; }

 private:
  T value_;
};

template <class T>
requires is_passed_as_bytes<T>
class held_argument<T> {
 public:
  explicit held_argument(const T& object) {
    std::memcpy(bytes_, &object, sizeof(T));
    observer::bytes_of_host_arrive(bytes_, sizeof(T));
  }
  held_argument for_a_thread() const { return *this; }
  T& value() { return *reinterpret_cast<T*>(bytes_); }

 private:
  alignas(T) std::byte bytes_[sizeof(T)];
};

// Runs `call` with arguments that were copied once, for this launch. An object may still be
// converted to the kernel's parameter, in each thread, from the bytes that it has on the host.
template <class Call, class... Arguments>
cudaError_t launch_with(const launch_configuration& configuration, const void* kernel,
                        const Call& call, const place& at, const Arguments&... arguments) {
  const auto body = [call, ... held = held_argument<Arguments>(arguments)] {
    call(held.for_a_thread().value()...);
  };
  using body_type = std::remove_const_t<decltype(body)>;
  launch_body kept(new body_type(body),
                   [](const void* of) { delete static_cast<const body_type*>(of); });
  return launch(configuration, kernel, run_threads<body_type>, std::move(kept), at);
}

// The same for a kernel of which the function is known, with any arguments. The C++ ABI of x86-64
// and AArch64 (Itanium C++ ABI, "Non-Trivial Parameters") passes the address of an object that the
// caller makes and destroys.
template <class... Parameters>
cudaError_t launch_function(const launch_configuration& configuration,
                            void (*kernel)(Parameters...), const place& at,
                            const std::type_identity_t<Parameters>&... arguments) {
  // By way of void (*)(), which says that a type is meant that is not the function's own.
  using callable =
      void (*)(std::conditional_t<is_passed_as_bytes<Parameters>, Parameters&, Parameters>...);
  return launch_with(configuration, reinterpret_cast<const void*>(kernel),
                     reinterpret_cast<callable>(reinterpret_cast<void (*)()>(kernel)), at,
                     arguments...);
}

// A launch in which the arguments decide which overload or instantiation is meant, or have
// defaults. `Other` is a number of arguments that it doesn't take: see launch_by_name.
template <class Call, class Pick, std::size_t Other = static_cast<std::size_t>(-1)>
class launch_by_arguments {
 public:
  launch_by_arguments(Call call, Pick pick, const void* kernel,
                      const launch_configuration& configuration, const place& at)
      : call_(call), pick_(pick), kernel_(kernel), configuration_(configuration), at_(at) {}

  template <class... Arguments>
  requires(sizeof...(Arguments) != Other && !(is_passed_as_bytes<Arguments> || ...)) void
  operator()(Arguments... arguments) const {
    launch<Arguments...>(arguments...);
  }
  // An object may be one that is converted, as a buffer to its pointer, and then it is not copied:
  // its class may forbid that, or a copy free the memory.
  template <class... Arguments>
  requires(sizeof...(Arguments) != Other &&
           (is_passed_as_bytes<std::decay_t<Arguments>> || ...)) void
  operator()(Arguments&&... arguments) const {
    launch<std::decay_t<Arguments>...>(arguments...);
  }

 protected:
  template <class... Parameters>
  void launch_known(void (*kernel)(Parameters...),
                    const std::type_identity_t<Parameters>&... arguments) const {
    if constexpr (std::is_empty_v<Call> && !(is_passed_as_bytes<Parameters> || ...)) {
      launch_with(configuration_, reinterpret_cast<const void*>(kernel), call_, at_, arguments...);
    } else {
      launch_function(configuration_, kernel, at_, arguments...);
    }
  }

 private:
  template <class... Arguments>
  void launch(const Arguments&... arguments) const {
    const auto kernel = pick_([](void (*of)(Arguments...)) { return of; });
    if constexpr (std::is_null_pointer_v<std::remove_const_t<decltype(kernel)>>) {
      launch_with(configuration_, kernel_, call_, at_, arguments...);
    } else {
      [&](Arguments... copied) { launch_known(kernel, copied...); }(arguments...);
    }
  }

  Call call_;
  Pick pick_;
  const void* kernel_;
  launch_configuration configuration_;
  place at_;
};

// A launch of a kernel whose name alone says which function is meant. The arguments are converted
// to its parameters here on the host, once.
template <class Call, class Pick, class... Parameters>
class launch_by_name : public launch_by_arguments<Call, Pick, sizeof...(Parameters)> {
  using base = launch_by_arguments<Call, Pick, sizeof...(Parameters)>;

 public:
  launch_by_name(Call call, Pick pick, void (*kernel)(Parameters...),
                 const launch_configuration& configuration, const place& at)
      : base(call, pick, reinterpret_cast<const void*>(kernel), configuration, at),
        function_(kernel) {}

  using base::operator();
  void operator()(Parameters... arguments) const { this->launch_known(function_, arguments...); }

 private:
  void (*function_)(Parameters...);
};

// `call` invokes the kernel with the arguments it gets; `pick` hands the kernel's name to its
// argument, or returns nullptr where the name alone does not say which function is meant.
template <class Call, class Pick>
auto configure(Call call, Pick pick, launch_configuration configuration,
               const place& at = CPU_BACKEND_HERE) {
  configuration.returns_nothing = true;
  const auto by_name = [&]<class... Parameters>(void (*kernel)(Parameters...)) {
    return launch_by_name<Call, Pick, Parameters...>(call, pick, kernel, configuration, at);
  };
  if constexpr (std::is_null_pointer_v<decltype(pick(by_name))>) {
    return launch_by_arguments<Call, Pick>(call, pick, nullptr, configuration, at);
  } else {
    return pick(by_name);
  }
}

// `extern __shared__ T name[];`
template <class T>
auto dynamic_shared_memory() -> T (&)[] {
  return *reinterpret_cast<T(*)[]>(this_multiprocessor->dynamic_shared_memory());
}

template <class... Parameters>
cudaError_t launch_with_pointers(void (*kernel)(Parameters...), launch_configuration configuration,
                                 void** arguments, const place& at) {
  return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
    return launch_function(configuration, kernel, at,
                           *static_cast<Parameters*>(arguments[Index])...);
  }
  (std::index_sequence_for<Parameters...>{});
}

}  // namespace cpu_backend

// The kernel itself is asked for, not a `const void*`: from that, a CPU can't tell its parameters.
template <class... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 blocks, dim3 threads,
                             void** arguments, std::size_t shared_bytes = 0,
                             cudaStream_t stream = nullptr,
                             cpu_backend::place at = CPU_BACKEND_HERE) {
  return cpu_backend::launch_with_pointers(kernel, {blocks, threads, shared_bytes, stream},
                                           arguments, at);
}

template <class... Parameters>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Parameters...), dim3 blocks, dim3 threads,
                                        void** arguments, std::size_t shared_bytes = 0,
                                        cudaStream_t stream = nullptr,
                                        cpu_backend::place at = CPU_BACKEND_HERE) {
  cpu_backend::launch_configuration configuration{blocks, threads, shared_bytes, stream};
  configuration.cooperative = true;
  return cpu_backend::launch_with_pointers(kernel, configuration, arguments, at);
}

// The one attribute that means something here is cudaLaunchAttributeCooperative.
template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* asked, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  cpu_backend::launch_configuration configuration{asked->gridDim, asked->blockDim,
                                                  asked->dynamicSmemBytes, asked->stream};
  for (unsigned i = 0; i < asked->numAttrs; ++i) {
    if (asked->attrs[i].id == cudaLaunchAttributeCooperative) {
      configuration.cooperative = asked->attrs[i].val.cooperative != 0;
    } else {
      cpu_backend::form::used("launch", "attribute");
    }
  }
  return [&](Parameters... converted) {
    return cpu_backend::launch_function(configuration, kernel, cpu_backend::place{}, converted...);
  }(std::forward<Arguments>(arguments)...);
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
