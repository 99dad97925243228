// SPDX-License-Identifier: Apache-2.0
#include "device.h"

#include "fat_binary.h"
#include "fat_binary_head.h"

#include <regatta/base/address_map.h>
#include <regatta/base/threads.h>
#include <regatta/ir/address_windows.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>

namespace regatta::capture {

namespace {

/// Variables of modules lie below this address and buffers from it on, so that a buffer has the same address whenever a
/// module is loaded. They stay below 4 GB while they fit there: then the program can be compiled with narrow addresses.
constexpr std::uint64_t first_buffer = 0x4000'0000;
constexpr std::uint64_t low_end = base::narrow_windows;
constexpr std::uint64_t first_high_buffer = std::uint64_t{1} << 37;

Fault fault_of(emulator::FaultKind kind) {
  switch (kind) {
    case emulator::FaultKind::address:
      return Fault::address;
    case emulator::FaultKind::misaligned:
      return Fault::misaligned;
    case emulator::FaultKind::assertion:
      return Fault::assertion;
    case emulator::FaultKind::trap:
      return Fault::trap;
    case emulator::FaultKind::other:
      break;
  }
  return Fault::other;
}

std::uint64_t stray_lanes(const emulator::Emulator& e) {
  std::uint64_t lanes = 0;
  for (const emulator::StrayRead& s : e.stray_reads()) lanes += s.lanes;
  return lanes;
}

template <class Each>
void for_rows(const Rows& range, Each each) {
  if (range.width == 0 || range.rows == 0) return;
  if (range.pitch == range.width || range.rows == 1) {
    each(range.address, std::uint64_t{0}, range.width * range.rows);
    return;
  }
  for (std::uint64_t r = 0; r < range.rows; ++r) each(range.address + r * range.pitch, r * range.width, range.width);
}

bool uses_textures(const ir::Function& f) {
  return std::any_of(f.blocks.begin(), f.blocks.end(), [](const ir::Block& b) {
    return std::any_of(b.instructions.begin(), b.instructions.end(),
                       [](const ir::Instruction& i) { return ir::takes_texture(i.op); });
  });
}

}  // namespace

CapturedDevice::CapturedDevice(const DeviceOptions& options, ProgramLog& log)
    : options_(options),
      log_(log),
      memory_(true),
      memo_(memory_),
      next_low_(first_buffer),
      next_high_(first_high_buffer),
      stack_bytes_(options.stack_bytes),
      heap_bytes_(options.heap_bytes) {
  memory_.set_heap(heap_bytes_, !options.strict);
}

std::uint32_t CapturedDevice::load_module(const std::string& name, const std::vector<std::uint8_t>& image) {
  const unsigned architecture = 10 * options_.description.major + options_.description.minor;
  std::string text;
  if (is_fat_binary(image.data(), image.size())) {
    text = linked_ptx(read_fat_binary(image, name), architecture, name);
  } else if (image.size() >= 4 && std::memcmp(image.data(),
                                              "\x7f"
                                              "ELF",
                                              4) == 0) {
    throw trace::InputError("error: " + name + " is machine code of one GPU, without PTX");
  } else {
    text.assign(image.begin(), image.end());
    while (!text.empty() && text.back() == '\0') text.pop_back();
  }
  const std::string file = "module" + std::to_string(modules_.size()) + ".ptx";
  auto m = std::make_unique<Module>();
  m->parsed = ptx::parse_entries(text, file, {stack_bytes_});
  m->text = text;
  m->file = file;
  ir::Module variables;
  variables.file = file;
  variables.variables = m->parsed.variables;
  m->image = std::make_unique<emulator::ModuleImage>(variables, memory_, &textures_);
  const auto index = static_cast<std::uint32_t>(modules_.size());
  for (const ir::ModuleVariable& v : m->parsed.variables) {
    if (v.is_texture_reference) continue;
    if (m->image->has_global(v.name)) variables_[m->image->global_address(v.name)] = {index, v.name};
  }
  log_.add_module(text);
  modules_.push_back(std::move(m));
  return index;
}

KernelDescription CapturedDevice::describe(std::uint32_t module, const ptx::EntryResult& e) const {
  KernelDescription d;
  const ir::Function& f = e.function;
  d.target = modules_.at(module)->parsed.target;
  d.shared = f.static_shared_bytes;
  d.local = f.local_bytes;
  if (f.bounds.threads() != 0) d.max_threads = std::min<std::uint32_t>(1024, f.bounds.threads());
  if (f.bounds.exact) std::copy(f.bounds.block.begin(), f.bounds.block.end(), d.required_block);
  return d;
}

KernelDescription CapturedDevice::compile(std::uint32_t module, const std::string& name) {
  kernel(module, name);  // refuses what cannot be run
  const ptx::EntryResult& e = entry(module, name);
  KernelDescription d = describe(module, e);
  tool::CompileOptions compilation = options_.code;
  compilation.annotations.emplace();  // none: they do not change the code
  const tool::CompiledKernel compiled = tool::compile(e.function, compilation);
  d.registers = trace::registers_at_launch(compiled.trace_kernel);
  d.local = compiled.function->local_bytes;
  return d;
}

std::uint64_t CapturedDevice::reserve(std::uint64_t bytes) {
  bytes = std::max<std::uint64_t>(bytes, 1);
  const std::uint64_t limit = options_.description.memory;
  if (bytes > limit) throw base::OutOfMemory("the device has " + std::to_string(limit) + " bytes");
  // Pages of its own, as the host may have them at the same address.
  constexpr std::uint64_t page = 4096;
  const std::uint64_t room = (bytes + page - 1) / page * page + page;
  std::uint64_t& next = room < low_end - next_low_ ? next_low_ : next_high_;
  const std::uint64_t address = next;
  next += room;
  reserved_[address] = bytes;
  return address;
}

void CapturedDevice::take_memory(std::uint64_t bytes) {
  const std::uint64_t limit = options_.description.memory;
  if (used_ > limit - bytes) {
    throw base::OutOfMemory("the device has " + std::to_string(limit) + " bytes, " + std::to_string(used_) +
                            " are taken, " + std::to_string(bytes) + " more are asked for");
  }
  used_ += bytes;
}

void CapturedDevice::commit(std::uint64_t address) {
  const std::uint64_t bytes = reserved_.at(address);
  take_memory(bytes);
  memory_.allocate_at("b" + std::to_string(log_.buffers()), address, bytes, !options_.strict);
  buffers_[address] = log_.add_buffer(address, bytes);
  reserved_.erase(address);
}

std::uint64_t CapturedDevice::allocate(std::uint64_t bytes) {
  const std::uint64_t address = reserve(bytes);
  commit(address);
  return address;
}

void CapturedDevice::release(std::uint64_t address) {
  if (reserved_.erase(address) != 0) return;
  const auto found = buffers_.find(address);
  if (found == buffers_.end()) throw std::out_of_range("no buffer begins at that address");
  used_ -= memory_.find(address)->bytes;
  memory_.release(address);
  log_.release(found->second);
  buffers_.erase(found);
}

const emulator::Allocation& CapturedDevice::allocation(std::uint64_t address, std::uint64_t bytes) const {
  const emulator::Allocation* a = memory_.find(address);
  if (a == nullptr || bytes > a->end() - address) {
    throw std::out_of_range("a range of " + std::to_string(bytes) + " bytes " + memory_.describe(address));
  }
  return *a;
}

void CapturedDevice::log_contents(std::uint64_t address, std::uint64_t bytes) {
  const emulator::Allocation& a = allocation(address, bytes);
  const std::uint8_t* const from = a.data.data() + (address - a.base);
  const auto buffer = buffers_.find(a.base);
  if (buffer != buffers_.end()) return log_.load(buffer->second, address - a.base, from, bytes);
  const auto& [module, name] = variables_.at(a.base);
  log_.load_variable(module, name, address - a.base, from, bytes);
}

void CapturedDevice::write(const Rows& to, const std::uint8_t* bytes) {
  if (to.rows == 0 || to.width == 0) return;
  allocation(to.address, to.end() - to.address);
  for_rows(to, [&](std::uint64_t address, std::uint64_t at, std::uint64_t count) {
    memory_.write(address, bytes + at, count);
  });
  // Rows with gaps are one load, of the gaps too.
  log_contents(to.address, to.end() - to.address);
}

std::vector<std::uint8_t> CapturedDevice::read(const Rows& from) const {
  std::vector<std::uint8_t> bytes(from.width * from.rows);
  if (bytes.empty()) return bytes;
  allocation(from.address, from.end() - from.address);
  for_rows(from, [&](std::uint64_t address, std::uint64_t at, std::uint64_t count) {
    memory_.read(address, bytes.data() + at, count);
  });
  return bytes;
}

void CapturedDevice::copy(const Rows& to, const Rows& from) {
  if (to.width == 0 || to.rows == 0) return;
  const std::uint64_t bytes = to.end() - to.address;
  const auto from_buffer = buffers_.find(allocation(from.address, from.end() - from.address).base);
  const auto to_buffer = buffers_.find(allocation(to.address, bytes).base);
  const bool is_plain = (to.rows == 1 || (to.pitch == to.width && from.pitch == from.width)) &&
                        from_buffer != buffers_.end() && to_buffer != buffers_.end();
  if (!is_plain) {
    const std::vector<std::uint8_t> moved = read(from);
    return write(to, moved.data());
  }
  memory_.copy(to.address, from.address, bytes);
  log_.copy(to_buffer->second, to.address - to_buffer->first, from_buffer->second, from.address - from_buffer->first,
            bytes);
}

void CapturedDevice::fill(const Rows& to, std::uint32_t value, unsigned size) {
  if (to.width == 0 || to.rows == 0) return;
  const std::uint64_t bytes = to.end() - to.address;
  const emulator::Allocation& a = allocation(to.address, bytes);
  for_rows(to, [&](std::uint64_t address, std::uint64_t, std::uint64_t count) {
    std::vector<std::uint8_t> row(count);
    for (std::uint64_t i = 0; i < count; ++i) row[i] = static_cast<std::uint8_t>(value >> (8 * (i % size)));
    memory_.write(address, row.data(), count);
  });
  const auto buffer = buffers_.find(a.base);
  const bool is_plain = buffer != buffers_.end() && (to.rows == 1 || to.pitch == to.width) && bytes % size == 0;
  if (!is_plain) return log_contents(to.address, bytes);
  log_.fill(buffer->second, to.address - a.base, value, size, bytes);
}

void CapturedDevice::write_variable(std::uint32_t module, const std::string& name, std::uint64_t offset,
                                    const std::vector<std::uint8_t>& bytes) {
  emulator::ModuleImage& image = *modules_.at(module)->image;
  std::vector<std::uint8_t> all = image.read(name);
  if (offset > all.size() || bytes.size() > all.size() - offset) {
    throw std::out_of_range("a range beyond variable " + name);
  }
  std::copy(bytes.begin(), bytes.end(), all.begin() + static_cast<std::ptrdiff_t>(offset));
  image.write(name, all);
  log_.load_variable(module, name, offset, bytes.data(), bytes.size());
}

std::vector<std::uint8_t> CapturedDevice::read_variable(std::uint32_t module, const std::string& name,
                                                        std::uint64_t offset, std::uint64_t bytes) const {
  const std::vector<std::uint8_t> all = modules_.at(module)->image->read(name);
  if (offset > all.size() || bytes > all.size() - offset) throw std::out_of_range("a range beyond variable " + name);
  const auto from = all.begin() + static_cast<std::ptrdiff_t>(offset);
  return {from, from + static_cast<std::ptrdiff_t>(bytes)};
}

const ptx::EntryResult& CapturedDevice::entry(std::uint32_t module, const std::string& name) const {
  const std::vector<ptx::EntryResult>& all = modules_.at(module)->parsed.entries;
  const auto found = std::find_if(all.begin(), all.end(), [&](const ptx::EntryResult& e) { return e.name == name; });
  if (found == all.end()) throw std::out_of_range("no kernel " + name);
  return *found;
}

void CapturedDevice::set_limit(std::int32_t limit, std::uint64_t value) {
  constexpr std::int32_t stack_size = 0, malloc_heap_size = 2;
  if (limit == malloc_heap_size) {
    memory_.set_heap(value, !options_.strict);
    heap_bytes_ = std::max(value, emulator::DeviceMemory::least_heap_bytes);
    return;
  }
  if (limit != stack_size || value <= stack_bytes_) return;
  stack_bytes_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(value, ir::most_stack_bytes));
  for (const std::unique_ptr<Module>& m : modules_) {
    const auto has_stack = [](const ptx::EntryResult& e) { return e.function.stack_bytes != 0; };
    if (std::none_of(m->parsed.entries.begin(), m->parsed.entries.end(), has_stack)) continue;
    std::vector<ptx::EntryResult> entries = ptx::parse_entries(m->text, m->file, {stack_bytes_}).entries;
    for (std::size_t e = 0; e < entries.size(); ++e) {
      if (!has_stack(entries[e])) continue;
      m->kernels.erase(entries[e].name);
      m->parsed.entries[e] = std::move(entries[e]);
    }
  }
}

CapturedDevice::Kernel& CapturedDevice::kernel(std::uint32_t module, const std::string& name) {
  Module& m = *modules_.at(module);
  const auto known = m.kernels.find(name);
  if (known != m.kernels.end()) return known->second;
  const ptx::EntryResult& e = entry(module, name);
  if (!e.accepted) throw trace::InputError(e.message);
  tool::CompileOptions compilation;
  compilation.allocation.max_registers = trace::max_general_registers;
  compilation.annotations.emplace();  // none: the trace is made from the log
  compilation.renumber = false;
  Kernel& k = m.kernels[name];
  k.compiled = tool::compile(e.function, compilation);
  k.uses_textures = uses_textures(*k.compiled.function);
  emulator::EmulatorOptions options;
  options.max_instructions = options_.max_instructions;
  options.stray_reads = !options_.strict;
  options.undefined_zero = !options_.strict;
  options.threads = options_.threads != 0 ? options_.threads : base::threads();
  options.textures = &textures_;
  options.approximations = options_.approximations;
  options.print = [this](const std::string& text) { printed_ += text; };
  k.emulator =
      std::make_unique<emulator::Emulator>(*k.compiled.function, k.compiled.reconvergence, memory_, *m.image, options);
  return k;
}

/// All that a launch depends on apart from memory.
std::string CapturedDevice::memo_key(const KernelLaunch& l) const {
  std::string key = l.kernel;
  const auto add = [&key](const auto* from, std::size_t count) {
    key.append(reinterpret_cast<const char*>(from), count * sizeof *from);
  };
  add("", 1);
  add(&l.module, 1);
  add(l.grid.data(), l.grid.size());
  add(l.block.data(), l.block.size());
  add(&l.dynamic_shared, 1);
  add(&l.flags, 1);
  add(l.parameters.data(), l.parameters.size());
  const std::vector<std::uint8_t>& constants = modules_.at(l.module)->image->constants();
  add(constants.data(), constants.size());
  return key;
}

std::string CapturedDevice::launch(const KernelLaunch& l) {
  Kernel& k = kernel(l.module, l.kernel);
  emulator::LaunchRequest request;
  request.grid = l.grid;
  request.block = l.block;
  request.dynamic_shared_bytes = l.dynamic_shared;
  request.parameters = l.parameters;
  request.cooperative = (l.flags & launch_cooperative) != 0;
  ProgramLog::Launch logged;
  logged.module = l.module;
  logged.entry = &entry(l.module, l.kernel);
  logged.grid = l.grid;
  logged.block = l.block;
  logged.dynamic_shared = l.dynamic_shared;
  logged.cooperative = request.cooperative;
  logged.parameters = &l.parameters;
  printed_.clear();
  const auto start = std::chrono::steady_clock::now();
  try {
    const auto run = [&] {
      const std::uint64_t strays = stray_lanes(*k.emulator);
      emulator::LaunchOutcome o;
      o.counts = k.emulator->run(request);
      o.printed = std::move(printed_);
      // Whether a read hits a buffer depends on all that there are.
      o.repeatable = stray_lanes(*k.emulator) == strays;
      return o;
    };
    const bool may_repeat = options_.remember_launches && !k.uses_textures;
    emulator::LaunchOutcome outcome = may_repeat ? memo_.run(memo_key(l), run) : run();
    warp_instructions_ += outcome.counts.warp_instructions;
    printed_ = std::move(outcome.printed);
  } catch (const emulator::ProgramFault& e) {
    throw KernelFault(fault_of(e.kind()), e.what());
  }
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ++launches_;
  log_.launch(logged);
  return std::move(printed_);
}

}  // namespace regatta::capture
