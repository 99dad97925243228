// SPDX-License-Identifier: Apache-2.0
#include <regatta/baseline/register_file_cache.h>

namespace regatta::models {

RegisterFileCache::RegisterFileCache(const sc_core::sc_module_name& name, unsigned sub_cores)
    : sc_module(name), sub_cores_(sub_cores) {}

bool RegisterFileCache::holds(const protocol::CachedOperand& o) const {
  const Entry& e = entry(o);
  return e.valid && e.warp == o.warp && e.reg == o.reg;
}

bool RegisterFileCache::access(const protocol::CachedOperand& o) {
  const bool hit = holds(o);
  ++accesses_;
  hits_ += hit ? 1 : 0;
  Entry& e = entry(o);
  e.valid = o.reuse;
  if (!o.reuse) return hit;
  stores_ += hit ? 0 : 1;
  e.warp = o.warp;
  e.reg = o.reg;
  return hit;
}

const protocol::WarpValue& RegisterFileCache::value(const protocol::CachedOperand& o) const { return entry(o).value; }

void RegisterFileCache::fill(const protocol::CachedOperand& o, const protocol::WarpValue& value) {
  entry(o).value = value;
  ++fills_;
}

void RegisterFileCache::kernel_started(const protocol::KernelContext&) {
  for (SubCore& sub_core : sub_cores_) {
    for (auto& bank : sub_core) {
      for (Entry& e : bank) e.valid = false;
    }
  }
}

void RegisterFileCache::register_stats(support::StatGroup& g) {
  g.counter("accesses", accesses_, "operands", "register operands in positions A to C that looked here");
  g.counter("hits", hits_, "operands", "of these, found");
  g.counter("stores", stores_, "operands", "that a reuse flag stored, not found before");
  g.counter("fills", fills_, "warp registers", "values written to an entry");
}

}  // namespace regatta::models
