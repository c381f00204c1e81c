// SPDX-License-Identifier: MIT
// The streams or events that exist. A handle is the object's address; one that is not in the table
// is answered with an error and never followed.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace cpu_backend {

template <class Object>
class handle_table {
 public:
  Object* create(Object object) {
    auto owned = std::make_unique<Object>(std::move(object));
    Object* const handle = owned.get();
    const std::lock_guard guard(lock_);
    objects_.emplace(handle, std::move(owned));
    return handle;
  }

  bool destroy(Object* handle) {
    const std::lock_guard guard(lock_);
    return objects_.erase(handle) != 0;
  }

  void destroy_all() {
    const std::lock_guard guard(lock_);
    objects_.clear();
  }

  bool contains(Object* handle) {
    const std::lock_guard guard(lock_);
    return objects_.contains(handle);
  }

  // Calls `use` with the object, which no other thread destroys or uses meanwhile. Returns false,
  // and does not call it, where there is none.
  template <class Use>
  bool with(Object* handle, Use use) {
    const std::lock_guard guard(lock_);
    const auto found = objects_.find(handle);
    if (found == objects_.end()) return false;
    use(*found->second);
    return true;
  }

 private:
  std::mutex lock_;
  std::map<Object*, std::unique_ptr<Object>> objects_;
};

}  // namespace cpu_backend
