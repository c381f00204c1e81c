// SPDX-License-Identifier: MIT
#include "racecheck/memory/shadow.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "cpu_backend/fibers/fiber.hpp"
#include "cpu_backend/scheduled.hpp"

// The linker's names for the program's variables: initialised ones, then those that start as zero.
extern "C" {
extern std::byte __data_start;
extern std::byte _end;
extern const char __executable_start;  // of the program
}

namespace racecheck {
namespace {

bool begins_before(const std::unique_ptr<region>& left, const std::byte* address) {
  return left->begin < address;
}

bool is_program_variable(const std::byte* address) {
  return address >= &__data_start && address < &_end &&
         !cpu_backend::scheduled::is_at_extern_shared_arrays(address);
}

// Cells of a block's shared memory, which comes and goes, are the allocator's.
constexpr std::size_t few_bytes = 16 * 1024 * sizeof(cell);
// Where pages of 2 MiB are worth it, of which the first and the last are partly empty.
constexpr std::size_t many_bytes = 8 * (std::size_t{2} << 20);

region::kind kind_of(cpu_backend::memory_kind kind) {
  switch (kind) {
    case cpu_backend::memory_kind::managed:
      return region::kind::managed;
    case cpu_backend::memory_kind::pinned:
      return region::kind::pinned;
    case cpu_backend::memory_kind::symbol:
      return region::kind::variable;
    default:
      return region::kind::global;
  }
}

// Zeros to watch over a region, of which pages that no access touches cost nothing. std::calloc()
// would touch them all where MALLOC_PERTURB_ is set, as tests do.
void* take_zeroed(std::size_t bytes, const region& watched) {
  if (bytes <= few_bytes) {
    constexpr std::size_t unit = alignof(cell);  // of which the bytes have to be a multiple
    void* const memory = std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
    if (memory) return std::memset(memory, 0, bytes);
  }
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    std::fprintf(stderr, "racecheck: no memory to watch over %zu bytes\n", watched.bytes);
    std::exit(1);
  }
  // A thread of a grid-stride loop touches another page at each step.
  if (bytes >= many_bytes) (void)madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

void give_back(void* memory, std::size_t bytes) {
  if (bytes <= few_bytes) {
    std::free(memory);
  } else if (memory) {
    munmap(memory, bytes);
  }
}

}  // namespace

object_number& region::last_write(std::size_t word) {
  if (!last_writes) {
    last_writes = static_cast<object_number*>(take_zeroed(words() * sizeof(object_number), *this));
  }
  return last_writes[word];
}

void region::forget_last_writes() {
  give_back(last_writes, words() * sizeof(object_number));
  last_writes = nullptr;
}

void shadow_memory::give_cells(region& to) {
  const auto first = reinterpret_cast<std::uintptr_t>(to.begin) / bytes_of_cell;
  const auto last = (reinterpret_cast<std::uintptr_t>(to.begin) + to.bytes - 1) / bytes_of_cell;
  to.cell_count = region::place_of(last - first) + 1;
  to.cells = static_cast<cell*>(take_zeroed(to.cell_count * sizeof(cell), to));
}

void shadow_memory::take_cells(region& from) {
  give_back(from.cells, from.cell_count * sizeof(cell));
  from.cells = nullptr;
  from.forget_last_writes();
}

void shadow_memory::add_allocation(const cpu_backend::allocation& block,
                                   const std::byte* surroundings, std::size_t surrounding_bytes,
                                   std::uint32_t allocated_at) {
  if (block.bytes == 0) return;
  auto added = std::make_unique<region>();
  added->begin = static_cast<const std::byte*>(block.begin);
  added->bytes = block.bytes;
  added->what = kind_of(block.kind);
  if (added->what == region::kind::variable) return;  // all of them are one region
  constexpr unsigned first_of_kernels = 1u << 31;     // The host's are counted without them.
  added->number = allocated_at == 0 ? ++allocations_ : first_of_kernels + allocations_of_kernels_++;
  added->allocated_at = allocated_at;
  added->surroundings = surroundings;
  added->surrounding_bytes = surrounding_bytes;
  // What the host itself writes to managed and pinned memory is not seen.
  added->starts_unwritten = added->what == region::kind::global;
  give_cells(*added);
  const auto place =
      std::lower_bound(regions_.begin(), regions_.end(), added->begin, begins_before);
  regions_.insert(place, std::move(added));
  ++changes_;
  ++shared_changes_;
}

void shadow_memory::name_allocation(const void* begin, std::size_t element_bytes,
                                    std::string name) {
  const auto* address = static_cast<const std::byte*>(begin);
  const auto found = std::lower_bound(regions_.begin(), regions_.end(), address, begins_before);
  if (found == regions_.end() || (*found)->begin != address) return;
  (*found)->name = std::move(name);
  (*found)->element_bytes = element_bytes;
}

// nullptr: there is none.
std::unique_ptr<region> shadow_memory::taken_out(const std::byte* begin) {
  const auto found = std::lower_bound(regions_.begin(), regions_.end(), begin, begins_before);
  if (found == regions_.end() || (*found)->begin != begin) return nullptr;
  std::unique_ptr<region> taken = std::move(*found);
  take_cells(*taken);
  regions_.erase(found);
  ++changes_;
  ++shared_changes_;
  return taken;
}

void shadow_memory::remove_allocation(const void* begin) {
  taken_out(static_cast<const std::byte*>(begin));
}

void shadow_memory::free_allocation(const std::byte* begin, std::uint32_t freed_at) {
  std::unique_ptr<region> freed = taken_out(begin);
  if (!freed) return;
  freed->freed_at = freed_at;
  freed_.push_back(std::move(freed));
}

void shadow_memory::forget_freed(const void* begin) {
  std::erase_if(freed_, [&](const auto& each) { return each->begin == begin; });
  ++shared_changes_;
}

void shadow_memory::written_by_host(const void* begin, std::size_t bytes) {
  const auto* address = static_cast<const std::byte*>(begin);
  region* written = bytes == 0 ? nullptr : find(address);
  if (!written || !written->starts_unwritten) return;
  const auto first = static_cast<std::size_t>(address - written->begin);
  auto& ranges = written->written_by_host;
  auto known = std::find_if(ranges.begin(), ranges.end(), [&](const auto& range) {
    return first >= range.first && first <= range.second;
  });
  if (known == ranges.end()) known = ranges.emplace(known, first, first);
  known->second = std::max(known->second, first + bytes);
  if (known->first == 0 && known->second >= written->bytes) written->starts_unwritten = false;
}

bool shadow_memory::has_unwritten(const void* begin, std::size_t bytes) {
  const auto* address = static_cast<const std::byte*>(begin);
  const region* const in = bytes == 0 ? nullptr : find(address);
  return in &&
         in->has_unwritten(
             address, std::min(bytes, in->bytes - static_cast<std::size_t>(address - in->begin)));
}

bool region::has_unwritten(const std::byte* address, std::size_t count) const {
  if (!starts_unwritten) return false;
  for (const std::byte* const end = address + count; address < end; ++address) {
    if (cell_at(address).write.marks() >> offset_in_cell(address) & 1) continue;
    const auto offset = static_cast<std::size_t>(address - begin);
    if (std::ranges::none_of(written_by_host, [&](const auto& each) {
          return each.first <= offset && offset < each.second;
        })) {
      return true;
    }
  }
  return false;
}

region* shadow_memory::find(const std::byte* address) {
  if (shared_) {
    for (region& each : *shared_) {
      if (each.holds(address)) return &each;
    }
  }
  auto after = std::upper_bound(
      regions_.begin(), regions_.end(), address,
      [](const std::byte* at, const std::unique_ptr<region>& each) { return at < each->begin; });
  if (after != regions_.begin() && (*--after)->holds(address)) return after->get();
  if (is_program_variable(address)) {
    if (!program_) add_program_variables();
    return program_.get();
  }
  return nullptr;
}

void shadow_memory::add_program_variables() {
  program_ = std::make_unique<region>();
  program_->begin = &__data_start;
  program_->bytes = static_cast<std::size_t>(&_end - &__data_start);
  program_->what = region::kind::variable;
  give_cells(*program_);
}

// Instrumented code uses these variables that each OS thread has of its own, and those of the
// kernel's __shared__ variables.
bool shadow_memory::is_built_in(const std::byte* address) {
  return cpu_backend::scheduled::is_built_in_variable(address);
}

bool shadow_memory::is_read_only(const std::byte* address) {
  return reinterpret_cast<const char*>(address) >= &__executable_start && address < &__data_start;
}

// The nearest. Variables lie one behind the other, wherever the compiler puts them.
const region* shadow_memory::find_shared_around(const std::byte* address) const {
  if (!shared_ || is_built_in(address)) return nullptr;
  const region* nearest = nullptr;
  std::size_t least = 0;
  for (const region& each : *shared_) {
    const auto distance = static_cast<std::size_t>(
        address < each.begin ? each.begin - address : address - (each.begin + each.bytes));
    if (distance >= each.surrounding_bytes || (nearest && distance >= least)) continue;
    least = distance;
    nearest = &each;
  }
  return nearest;
}

const region* shadow_memory::find_surrounding(const std::byte* address) const {
  if (const region* near = find_shared_around(address)) return near;
  for (const auto* all : {&regions_, &freed_}) {
    for (const auto& each : *all) {
      if (each->surroundings &&
          static_cast<std::size_t>(address - each->surroundings) < each->surrounding_bytes) {
        return each.get();
      }
    }
  }
  return nullptr;
}

stretch shadow_memory::nothing_around(const std::byte* address) const {
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;
  const auto leave_out = [&](const std::byte* from, std::size_t bytes) {
    if (from > address) {
      if (!end || from < end) end = from;
    } else if (from + bytes > begin && from + bytes <= address) {
      begin = from + bytes;
    }
  };
  if (shared_) {
    for (const region& each : *shared_) {
      leave_out(each.begin - each.surrounding_bytes, each.bytes + 2 * each.surrounding_bytes);
    }
  }
  for (const auto* all : {&regions_, &freed_}) {
    for (const auto& each : *all) {
      leave_out(each->begin, each->bytes);
      if (each->surroundings) leave_out(each->surroundings, each->surrounding_bytes);
    }
  }
  leave_out(&__data_start, static_cast<std::size_t>(&_end - &__data_start));
  // One of the built-in variables can lie in what belongs to a shared one: no more than itself.
  if (!end || is_built_in(address) || cpu_backend::scheduled::is_at_extern_shared_arrays(address)) {
    return {address, 1};
  }
  return {begin, static_cast<std::size_t>(end - begin)};
}

std::size_t shadow_memory::bytes() const {
  std::size_t sum = program_ ? program_->bytes : 0;
  for (const auto& each : regions_) sum += each->bytes;
  return sum;
}

std::uint64_t shadow_memory::hash_of_written() {
  std::uint64_t hash = 0;
  const auto add = [&](std::initializer_list<std::uint64_t> words) {
    hash = cpu_backend::hash_of_memory(hash, words.begin(), words.end());
  };
  std::vector<const region*> by_number;
  each_region([&](const region& each) { by_number.push_back(&each); });
  std::sort(by_number.begin(), by_number.end(),
            [](const region* left, const region* right) { return left->number < right->number; });
  for (const region* in : by_number) {
    const auto first = reinterpret_cast<std::uintptr_t>(in->begin) / bytes_of_cell;
    const auto written = [&](std::size_t index) {
      return in->cells[region::place_of(index)].write.marks() & cell::written_bytes;
    };
    for (std::size_t i = 0, words = in->words(); i < words; ++i) {
      const unsigned mask = written(i);
      if (mask == 0) continue;
      const auto* const at =
          reinterpret_cast<const volatile std::byte*>((first + i) * bytes_of_cell);
      const bool is_pointer_wide = (first + i) % 2 == 0 && mask == whole_cell && i + 1 < words &&
                                   written(i + 1) == whole_cell;
      if (is_pointer_wide) {
        const auto* const pointer = *reinterpret_cast<const std::byte* const volatile*>(at);
        if (const region* to = find(pointer)) {
          constexpr std::uint64_t is_pointer = 2 * whole_cell;  // as no mask is
          add({in->number, i, is_pointer, to->number,
               static_cast<std::uint64_t>(pointer - to->begin)});
          ++i;
          continue;
        }
        if (cpu_backend::scheduled::is_local(pointer)) {
          cpu_backend::scheduled::used("memory", "address_of_local", nullptr);
        }
        if (std::ranges::any_of(shared_of_launch_, [&](const stretch& each) {
              return static_cast<std::size_t>(pointer - each.begin) < each.bytes;
            })) {
          cpu_backend::scheduled::used("memory", "address_of_shared", nullptr);
        }
      }
      std::uint64_t value = 0;
      for (unsigned k = 0; k < bytes_of_cell; ++k) {
        if (mask >> k & 1) value |= std::to_integer<std::uint64_t>(at[k]) << 8 * k;
      }
      add({in->number, i, mask, value});
    }
  }
  shared_of_launch_.clear();
  return hash;
}

void shadow_memory::forget_accesses() {
  const auto forget = [](region& in) {
    for (std::size_t i = 0; i < in.cell_count; ++i) {
      in.cells[i].write.forget_access();
      in.cells[i].write.unmark(cell::is_split | cell::has_location);
      in.cells[i].read = {};
    }
  };
  for (auto& each : regions_) forget(*each);
  if (program_) forget(*program_);
}

}  // namespace racecheck
