// SPDX-License-Identifier: MIT
// What translate.py makes of `kernel<<<blocks, threads, shared, stream>>>(arguments)`.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include "cpu_backend/execution/place.hpp"
#include "cpu_backend/form.hpp"
#include "cpu_backend/multiprocessor.hpp"
#include "cpu_backend/runtime/context.hpp"
#include "cuda_runtime_api.h"

namespace cpu_backend {

struct launch_configuration {
  dim3 blocks;
  dim3 threads;
  std::size_t dynamic_shared_bytes = 0;
  cudaStream_t stream = nullptr;
  bool cooperative = false;
  bool returns_nothing = false;  // of <<<>>>: whoever wants to know of an error has to ask

  launch_configuration(dim3 grid_size, dim3 block_size = 1, std::size_t shared_bytes = 0,
                       cudaStream_t in_stream = nullptr)
      : blocks(grid_size),
        threads(block_size),
        dynamic_shared_bytes(shared_bytes),
        stream(in_stream) {}
};

// How a kernel and its arguments are kept beyond the call.
struct body_copies {
  void* (*copy)(const void* body);
  void (*destroy)(void* copy);
};

// Checks the configuration as the CUDA runtime does and runs `run_threads` for every block.
// Returns once the grid is done, or if its stream is held: see runtime/stream_order.hpp. What goes
// wrong inside a kernel shows at the next synchronising call. `copies` is nullptr for a body that
// can't be used after the call.
cudaError_t launch(const launch_configuration& configuration, const void* kernel,
                   void (*run_threads)(multiprocessor&, const void* body), const void* body,
                   const body_copies* copies, const place& at);

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

// An argument whose copies do something. CUDA copies it once for the launch; each thread then gets
// the bytes of that copy, and neither copies nor destroys an object.
template <class T>
inline constexpr bool is_passed_as_bytes = std::is_class_v<T> && !std::is_trivially_copyable_v<T>;

template <class... Types>
inline constexpr bool any_passed_as_bytes = (is_passed_as_bytes<std::remove_cv_t<Types>> || ...);

template <class T>
class bytes_of {
 public:
  explicit bytes_of(const T& object) { std::memcpy(bytes_, &object, sizeof(T)); }
  T& object() { return *reinterpret_cast<T*>(bytes_); }

 private:
  alignas(T) std::byte bytes_[sizeof(T)];
};

// How a kernel is called with such an argument. The C++ ABI of x86-64 and AArch64 (Itanium C++ ABI,
// "Non-Trivial Parameters") passes the address of an object that the caller makes and destroys.
template <class T>
using passed_as = std::conditional_t<is_passed_as_bytes<T>, T&, T>;

template <class T>
auto held_for_launch(T& argument) {
  if constexpr (is_passed_as_bytes<T>) {
    return bytes_of<T>(argument);
  } else {
    return kernel_argument(std::move(argument));
  }
}
template <class T>
T& given_to_thread(T& held) {
  return held;
}
template <class T>
T& given_to_thread(bytes_of<T>& held) {
  return held.object();
}

// Runs the kernel with arguments that were copied once, for this launch. An object may still be
// converted to the kernel's parameter, in each thread, from the bytes that it has on the host. A
// call that refers to variables of its function, as one of a pointer to a kernel, ends with it.
template <bool OutlivesCall, class Call, class... Arguments>
cudaError_t launch_with(const launch_configuration& configuration, const void* kernel,
                        const Call& call, const place& at, Arguments&... arguments) {
  const auto body = [call, ... held = held_for_launch(arguments)] {
    if constexpr (any_passed_as_bytes<Arguments...>) {
      [&](auto... own) { call(given_to_thread(own)...); }(held...);
    } else {
      call(held...);
    }
  };
  using body_type = std::remove_const_t<decltype(body)>;
  const body_copies* copies = nullptr;
  if constexpr (OutlivesCall && std::is_copy_constructible_v<body_type>) {
    static constexpr body_copies copies_of_body{
        [](const void* of) -> void* { return new body_type(*static_cast<const body_type*>(of)); },
        [](void* copy) { delete static_cast<body_type*>(copy); }};
    copies = &copies_of_body;
  }
  return launch(configuration, kernel, run_threads<body_type>, &body, copies, at);
}

// The same for a kernel of which the function is known, with any arguments.
template <class... Parameters>
cudaError_t launch_function(const launch_configuration& configuration,
                            void (*kernel)(Parameters...), const place& at,
                            std::remove_cv_t<Parameters>&... arguments) {
  // By way of void (*)(), which says that a type is meant that is not the function's own.
  const auto callable =
      reinterpret_cast<void (*)(passed_as<Parameters>...)>(reinterpret_cast<void (*)()>(kernel));
  return launch_with<true>(configuration, reinterpret_cast<const void*>(kernel), callable, at,
                           arguments...);
}

// An argument of a launch of which only the call knows the parameters. It may be an object that is
// converted, as a buffer to its pointer, and then it is not copied: its class may forbid that, or a
// copy free the memory. All others come as copies, as those that are passed by value.
template <class T>
decltype(auto) without_copying(T&& argument) {
  using object = std::remove_cvref_t<T>;
  if constexpr (is_passed_as_bytes<object>) {
    return const_cast<object&>(argument);
  } else {
    return std::decay_t<T>(std::forward<T>(argument));
  }
}

// A launch of a kernel whose name alone says which function is meant.
template <class Call, class Pick, class Kernel>
class configured_launch;

template <class Call, class Pick, class... Parameters>
class configured_launch<Call, Pick, void (*)(Parameters...)> {
 public:
  configured_launch(Call call, Pick, void (*kernel)(Parameters...),
                    launch_configuration configuration, place at)
      : call_(call), kernel_(kernel), configuration_(configuration), at_(at) {}

  // Converts the arguments to the kernel's parameters here on the host, once.
  void operator()(Parameters... arguments) const {
    if constexpr (any_passed_as_bytes<Parameters...>) {
      launch_function(configuration_, kernel_, at_,
                      const_cast<std::remove_cv_t<Parameters>&>(arguments)...);
    } else {
      launch(arguments...);
    }
  }

  // Default arguments, or more of a parameter pack than the name says: only the call knows them.
  template <class... Arguments>
  requires(sizeof...(Arguments) != sizeof...(Parameters) && !any_passed_as_bytes<Arguments...>) void
  operator()(Arguments... arguments) const {
    launch(arguments...);
  }
  template <class... Arguments>
  requires(sizeof...(Arguments) != sizeof...(Parameters) &&
           any_passed_as_bytes<std::decay_t<Arguments>...>) void
  operator()(Arguments&&... arguments) const {
    [this](auto&&... seen) {
      this->launch(seen...);
    }(without_copying(std::forward<Arguments>(arguments))...);
  }

 private:
  template <class... Arguments>
  void launch(Arguments&... arguments) const {
    launch_with<std::is_empty_v<Call>>(configuration_, reinterpret_cast<const void*>(kernel_),
                                       call_, at_, arguments...);
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
  configured_launch(Call call, Pick pick, std::nullptr_t, launch_configuration configuration,
                    place at)
      : call_(call), pick_(pick), configuration_(configuration), at_(at) {}

  template <class... Arguments>
  requires(!any_passed_as_bytes<Arguments...>) void operator()(Arguments... arguments) const {
    launch(arguments...);
  }
  template <class... Arguments>
  requires(any_passed_as_bytes<std::decay_t<Arguments>...>) void operator()(
      Arguments&&... arguments) const {
    [this](auto&&... seen) {
      this->launch(seen...);
    }(without_copying(std::forward<Arguments>(arguments))...);
  }

 private:
  template <class... Arguments>
  void launch(Arguments&... arguments) const {
    const auto itself = pick_([](void (*of)(Arguments...)) { return of; });
    if constexpr (std::is_null_pointer_v<std::remove_const_t<decltype(itself)>>) {
      launch_with<std::is_empty_v<Call>>(configuration_, nullptr, call_, at_, arguments...);
    } else if constexpr (any_passed_as_bytes<Arguments...>) {
      [&](auto... copied) {
        launch_function(configuration_, itself, at_, copied...);
      }(arguments...);
    } else {
      launch_with<std::is_empty_v<Call>>(configuration_, reinterpret_cast<const void*>(itself),
                                         call_, at_, arguments...);
    }
  }

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
  configuration.returns_nothing = true;
  const auto kernel =
      pick([]<class... Parameters>(void (*itself)(Parameters...)) { return itself; });
  return configured_launch<Call, Pick, std::remove_const_t<decltype(kernel)>>(call, pick, kernel,
                                                                              configuration, at);
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
                           *static_cast<std::remove_cv_t<Parameters>*>(arguments[Index])...);
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
  return [&](std::remove_cv_t<Parameters>... converted) {
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
