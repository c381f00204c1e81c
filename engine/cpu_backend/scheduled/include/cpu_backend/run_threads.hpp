// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cpu_backend/multiprocessor.hpp"
#include "cpu_backend/shared_memory.hpp"  // which translated files use

namespace cpu_backend {

// Runs threads of a block in the scheduler's order, and those of later blocks.
template <class Body>
void run_threads(multiprocessor& on, const void* erased_body) {
  const Body& body = *static_cast<const Body*>(erased_body);
  const std::uint64_t launch = on.launch_number();
  on.takes_arguments(erased_body, sizeof(Body));
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
  static const char* compiler_text() { return __PRETTY_FUNCTION__; }
};
// What translate.py puts behind the declaration of a __shared__ variable.
template <class Type>
void shared_variable(Type& variable, const char* name) {
  if (multiprocessor* on = this_multiprocessor) {
    on->use_shared_variable(const_cast<std::remove_cv_t<Type>*>(&variable), sizeof variable, name,
                            type_name<Type>::compiler_text());
  }
}

// The same at namespace scope, for a block that begins.
template <class Type>
void announce_shared_variable(multiprocessor& to, Type& variable, const char* name) {
  to.use_shared_variable_of_file(const_cast<std::remove_cv_t<Type>*>(&variable), sizeof variable,
                                 name, type_name<Type>::compiler_text());
}

// What translate.py puts behind the declaration of the device's variables.
struct device_variable_of_file {
  device_variable_of_file(const void* address, std::size_t bytes, bool is_constant);
};

}  // namespace cpu_backend
