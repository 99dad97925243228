// SPDX-License-Identifier: Apache-2.0
#include "state.h"

#include "constants.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace regatta::capture {

namespace {

constexpr std::uint64_t page_bytes = 4096;

std::uint64_t pages(std::uint64_t bytes) { return (bytes + page_bytes - 1) / page_bytes * page_bytes; }

/// Memory of the host at the device's address, so that one pointer serves both; anywhere, if it is taken.
void* map_at(std::uint64_t address, std::uint64_t bytes) {
  void* const at = pointer_to(address);
  void* const got = mmap(at, pages(bytes), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == at) return got;
  if (got != MAP_FAILED) munmap(got, pages(bytes));
  return nullptr;
}

}  // namespace

State& State::get() {
  static State* const state = new State;
  return *state;
}

ThreadErrors& thread_errors() {
  thread_local ThreadErrors errors;
  return errors;
}

Error State::keep(int code) {
  const auto error = static_cast<Error>(code);
  thread_errors().uses_runtime = true;
  if (sticky != success) {
    last_error() = sticky;
    return sticky;
  }
  if (error != success && error != not_ready) last_error() = error;
  return error;
}

int result(int code) { return State::get().keep(code); }

Error error_of(const Reply& reply) {
  switch (reply.status) {
    case Status::done:
      return success;
    case Status::out_of_memory:
      return memory_allocation;
    case Status::kernel_fault:
      switch (reply.fault()) {
        case Fault::address:
          return illegal_address;
        case Fault::misaligned:
          return misaligned_address;
        case Fault::assertion:
          return assertion;
        case Fault::trap:
        case Fault::other:
          return launch_failure;
      }
      return launch_failure;
    case Status::invalid:
    case Status::refused:
      return invalid_value;
  }
  return unknown_error;
}

Module& State::add_module(const std::string& name, std::vector<std::uint8_t> image) {
  modules.push_back(std::make_unique<Module>());
  modules.back()->name = name;
  modules.back()->image = std::move(image);
  return *modules.back();
}

void State::load(Module& m) {
  if (m.is_loaded) return;
  m.is_loaded = true;
  const Reply reply = ask(Request::load_module, MessageWriter().put_text(m.name).put(std::uint64_t{m.image.size()}),
                          m.image.data(), m.image.size());
  if (!reply.is_done()) refuse(m.name + ": " + reply.text());
  learn(m, reply);
}

bool State::try_load(Module& m, std::string& why) {
  const Reply reply = ask(Request::try_module, MessageWriter().put_text(m.name).put(std::uint64_t{m.image.size()}),
                          m.image.data(), m.image.size());
  if (!reply.is_done()) {
    why = reply.text();
    return false;
  }
  m.is_loaded = true;
  learn(m, reply);
  return true;
}

void State::learn(Module& m, const Reply& reply) {
  m.image.clear();
  MessageReader in = reply.reader();
  m.index = in.get<std::uint32_t>();
  for (auto left = in.get<std::uint32_t>(); left != 0; --left) {
    Kernel k;
    k.module = &m;
    k.description = in.get<KernelDescription>();
    k.name = in.get_text();
    k.refusal = in.get_text();
    k.parameters.resize(in.get<std::uint32_t>());
    for (Kernel::Parameter& p : k.parameters) {
      p.offset = in.get<std::uint32_t>();
      p.bytes = in.get<std::uint32_t>();
      k.parameter_bytes = std::max(k.parameter_bytes, p.offset + p.bytes);
    }
    m.kernels.emplace(k.name, k);
  }
  for (auto left = in.get<std::uint32_t>(); left != 0; --left) {
    Variable v;
    v.module = &m;
    v.description = in.get<VariableDescription>();
    v.name = in.get_text();
    if (v.description.is_constant == 0) device_memory[v.description.address] = v.description.bytes;
    m.variables.emplace(v.name, v);
  }
  for (const auto& [name, place] : m.managed) {
    const auto found = m.variables.find(name);
    if (found == m.variables.end()) continue;
    const VariableDescription& d = found->second.description;
    SharedRange range;
    range.device = d.address;
    range.bytes = d.bytes;
    range.kind = SharedRange::Kind::variable;
    range.is_committed = true;
    range.known.resize(d.bytes);
    const std::uint64_t first = d.address / page_bytes * page_bytes;
    // Several variables may share a page, which is then there already.
    map_at(first, d.address + d.bytes - first);
    range.host = static_cast<std::uint8_t*>(pointer_to(d.address));
    const Reply now =
        ask(Request::read, MessageWriter().put(d.address).put(d.bytes).put(d.bytes).put(std::uint64_t{1}));
    if (now.is_done()) {
      range.known = now.bytes;
      std::memcpy(range.host, now.bytes.data(), now.bytes.size());
    }
    *place = range.host;
    device_memory.erase(d.address);
    shared[d.address] = std::move(range);
  }
}

Kernel* State::kernel(Module& module, const std::string& name) {
  load(module);
  const auto found = module.kernels.find(name);
  return found == module.kernels.end() ? nullptr : &found->second;
}

Kernel* State::kernel(const void* function) {
  const auto known = functions.find(function);
  if (known != functions.end()) {
    Kernel* const k = kernel(*known->second.first, known->second.second);
    if (k != nullptr) handles_.insert(k);
    return k;
  }
  if (handles_.count(function) != 0) return static_cast<Kernel*>(const_cast<void*>(function));
  for (const auto& m : modules) {
    for (auto& [name, k] : m->kernels) {
      if (&k == function) return &k;
    }
  }
  return nullptr;
}

const KernelDescription& State::resources(Kernel& k) {
  if (k.description.registers != 0) return k.description;
  constexpr std::uint32_t unknown = 32;
  if (k.refusal.empty()) {
    const Reply reply = ask(Request::compile, MessageWriter().put(k.module->index).put_text(k.name));
    if (reply.is_done()) k.description = reply.reader().get<KernelDescription>();
  }
  if (k.description.registers == 0) k.description.registers = unknown;
  return k.description;
}

Variable* State::variable(const void* symbol) {
  const auto known = symbols.find(symbol);
  if (known == symbols.end()) return nullptr;
  Module& m = *known->second.first;
  load(m);
  const auto found = m.variables.find(known->second.second);
  return found == m.variables.end() ? nullptr : &found->second;
}

bool State::is_device(const void* address) const {
  if (constant_at(address).variable != nullptr) return true;
  const auto after = device_memory.upper_bound(address_of(address));
  if (after == device_memory.begin()) return false;
  const auto& [base, bytes] = *std::prev(after);
  return address_of(address) - base < std::max<std::uint64_t>(bytes, 1);
}

SharedRange* State::shared_at(const void* address) {
  const auto after = shared.upper_bound(address_of(address));
  if (after == shared.begin()) return nullptr;
  SharedRange& range = std::prev(after)->second;
  return address_of(address) - std::prev(after)->first < range.bytes ? &range : nullptr;
}

SharedRange* State::shared_of_device(std::uint64_t address) {
  for (auto& [at, range] : shared) {
    if (address - range.device < range.bytes) return &range;
  }
  return nullptr;
}

Error State::allocate_shared(std::uint64_t bytes, SharedRange::Kind kind, void** out) {
  const Reply reply = ask(Request::reserve, MessageWriter().put(bytes));
  if (!reply.is_done()) return error_of(reply);
  SharedRange range;
  range.device = reply.reader().get<std::uint64_t>();
  range.bytes = std::max<std::uint64_t>(bytes, 1);
  range.kind = kind;
  range.host = static_cast<std::uint8_t*>(map_at(range.device, range.bytes));
  if (range.host == nullptr) return memory_allocation;
  *out = range.host;
  SharedRange& kept = shared[address_of(range.host)] = std::move(range);
  if (kind == SharedRange::Kind::managed) commit(kept);
  return success;
}

void State::commit(SharedRange& range) {
  if (range.is_committed) return;
  const Reply reply = ask(Request::commit, MessageWriter().put(range.device));
  if (!reply.is_done()) refuse("memory that host and device share: " + reply.text());
  range.is_committed = true;
  range.known.assign(range.bytes, 0);
}

Error State::release_shared(const void* host) {
  const auto found = shared.find(address_of(host));
  if (found == shared.end()) return invalid_value;
  ask(Request::release, MessageWriter().put(found->second.device));
  if (found->second.kind != SharedRange::Kind::registered) munmap(found->second.host, pages(found->second.bytes));
  shared.erase(found);
  return success;
}

void State::to_device(const std::vector<std::uint8_t>& parameters) {
  for (std::size_t at = 0; at + 8 <= parameters.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, parameters.data() + at, sizeof word);
    // Page-locked memory costs nothing before a kernel is given a pointer into it.
    if (SharedRange* const range = shared_of_device(word)) commit(*range);
    if (const Variable* const v = constant_at(pointer_to(word)).variable) {
      refuse("a kernel is given the address of constant variable '" + v->name + "', which is not supported");
    }
  }
  for (auto& [at, range] : shared) {
    if (!range.is_committed) continue;
    for (std::uint64_t from = 0; from < range.bytes;) {
      const std::uint64_t count = std::min(page_bytes, range.bytes - from);
      if (std::memcmp(range.host + from, range.known.data() + from, count) == 0) {
        from += count;
        continue;
      }
      std::uint64_t end = from + count;  // neighbours go together
      while (end < range.bytes) {
        const std::uint64_t more = std::min(page_bytes, range.bytes - end);
        if (std::memcmp(range.host + end, range.known.data() + end, more) == 0) break;
        end += more;
      }
      const std::uint64_t bytes = end - from;
      std::memcpy(range.known.data() + from, range.host + from, bytes);
      ask(Request::write, MessageWriter().put(range.device + from).put(bytes).put(bytes).put(std::uint64_t{1}),
          range.host + from, bytes);
      from = end;
    }
  }
}

void State::to_host() {
  for (auto& [at, range] : shared) {
    if (!range.is_committed) continue;
    const Reply reply =
        ask(Request::read, MessageWriter().put(range.device).put(range.bytes).put(range.bytes).put(std::uint64_t{1}));
    if (!reply.is_done() || reply.bytes.size() != range.bytes) continue;
    for (std::uint64_t from = 0; from < range.bytes; from += page_bytes) {
      const std::uint64_t count = std::min(page_bytes, range.bytes - from);
      // Only what a kernel changed: the host may have read-only pages, or threads that read.
      if (std::memcmp(reply.bytes.data() + from, range.known.data() + from, count) == 0) continue;
      std::memcpy(range.known.data() + from, reply.bytes.data() + from, count);
      std::memcpy(range.host + from, reply.bytes.data() + from, count);
    }
  }
}

void State::flush() {
  if (printed_.empty()) return;
  std::fwrite(printed_.data(), 1, printed_.size(), stdout);
  std::fflush(stdout);
  printed_.clear();
}

Error State::launch(Kernel& k, Dim3 grid, Dim3 block, const std::vector<std::uint8_t>& parameters, std::uint64_t bytes,
                    std::uint32_t flags) {
  if (sticky != success) return sticky;
  const DeviceDescription& d = device();
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  constexpr std::uint32_t most_x = 0x7fffffff, most_yz = 65535, most_block = 1024, most_block_z = 64;
  if (threads == 0 || grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > most_x || grid.y > most_yz ||
      grid.z > most_yz || block.x > most_block || block.y > most_block || block.z > most_block_z ||
      threads > most_block) {
    return invalid_configuration;
  }
  const std::uint32_t* required = k.description.required_block;
  if (required[0] != 0 && (block.x != required[0] || block.y != required[1] || block.z != required[2]))
    return invalid_configuration;
  if (threads > k.description.max_threads) return launch_out_of_resources;
  const std::uint64_t allowed = std::max<std::uint64_t>(
      d.shared_per_cta, std::uint64_t{k.description.shared} + static_cast<std::uint64_t>(k.max_dynamic_shared));
  if (k.description.shared + bytes > allowed || k.description.shared + bytes > d.shared_per_cta_opt_in)
    return invalid_value;
  if (!k.refusal.empty()) refuse(k.refusal);
  to_device(parameters);
  MessageWriter message;
  message.put(k.module->index).put_text(k.name).put(grid).put(block);
  message.put(static_cast<std::uint32_t>(bytes)).put(flags).put_bytes(parameters.data(), parameters.size());
  const Reply reply = ask(Request::launch, message);
  if (!reply.is_done()) {
    flush();
    std::fflush(stdout);
    const std::string line = "regatta-capture: " + reply.text() + "\n";
    if (write(STDERR_FILENO, line.data(), line.size()) < 0) return unknown_error;
    const Error error = error_of(reply);
    if (reply.status == Status::kernel_fault) sticky = error;
    return error;
  }
  printed_ += reply.reader().get_text();
  to_host();
  return success;
}

}  // namespace regatta::capture
