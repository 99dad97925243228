// SPDX-License-Identifier: Apache-2.0
#include "program_log.h"

#include "log_text.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>

namespace regatta::capture {

namespace {

std::string hexadecimal(std::uint64_t n) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(n));
  return text;
}

std::string three(const std::array<std::uint32_t, 3>& v) {
  return "[" + number(v[0]) + ", " + number(v[1]) + ", " + number(v[2]) + "]";
}

std::uint64_t part(const std::uint8_t* from, std::uint64_t bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, from, bytes);
  return value;
}

/// A parameter's bytes as an array of words, or as a single one.
std::string parameter(const std::uint8_t* from, std::uint64_t bytes) {
  const std::uint64_t size = bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : bytes % 2 == 0 ? 2 : 1;
  std::string list;
  for (std::uint64_t at = 0; at < bytes; at += size) {
    list += (at == 0 ? "" : ", ") + in_quotes(hexadecimal(part(from + at, size)));
  }
  if (bytes != size) list = "[" + list + "]";
  return "  { scalar = " + list + ", type = \"b" + number(8 * size) + "\" },\n";
}

}  // namespace

ProgramLog::ProgramLog(std::string folder, LaunchChoice choice, bool initialised)
    : folder_(std::move(folder)), choice_(std::move(choice)), initialised_(initialised) {}

ProgramLog::~ProgramLog() = default;

void ProgramLog::add_module(const std::string& ptx) {
  const std::string file = "module" + number(module_count_++) + ".ptx";
  base::write_file(folder_ + "/" + file, ptx);
  ptx_ += (ptx_.empty() ? "" : ", ") + in_quotes(file);
}

std::string ProgramLog::buffer_name(std::size_t buffer) const { return "b" + number(buffer); }

std::size_t ProgramLog::add_buffer(std::uint64_t address, std::uint64_t bytes) {
  const std::size_t index = buffer_count_++;
  buffers_ += "[[buffer]]\nname = " + in_quotes(buffer_name(index)) + "\nbytes = " + number(bytes) +
              "\naddress = " + hexadecimal(address) + (initialised_ ? "" : "\ninit = \"none\"") + "\n\n";
  step("allocate = " + in_quotes(buffer_name(index)));
  return index;
}

void ProgramLog::step(const std::string& text) { steps_ += "[[step]]\n" + text + "\n\n"; }

void ProgramLog::release(std::size_t buffer) { step("free = " + in_quotes(buffer_name(buffer))); }

std::uint64_t ProgramLog::store(const std::uint8_t* from, std::uint64_t bytes) {
  const XXH128_hash_t hash = XXH3_128bits(from, bytes);
  const auto [place, is_new] = known_.try_emplace({hash.low64 ^ bytes, hash.high64}, data_bytes_);
  if (!is_new) return place->second;
  if (data_ == nullptr) data_ = std::make_unique<base::OutputFile>(folder_ + "/data.bin");
  data_->write(from, bytes);
  data_bytes_ += bytes;
  return place->second;
}

void ProgramLog::load(std::size_t buffer, std::uint64_t offset, const std::uint8_t* from, std::uint64_t bytes) {
  if (bytes == 0) return;
  step("load = " + in_quotes(buffer_name(buffer)) + "\noffset = " + number(offset) +
       "\nfile = \"data.bin\"\nfile_offset = " + number(store(from, bytes)) + "\nbytes = " + number(bytes));
}

std::string ProgramLog::variable_name(std::uint32_t module, const std::string& name) {
  const std::string file = "module" + number(module);
  const std::string known = file + "." + name;
  if (known_variables_.emplace(module, name).second) {
    globals_ += "[[global]]\nname = " + in_quotes(known) + "\nsymbol = " + in_quotes(name) +
                "\nptx = " + in_quotes(file + ".ptx") + "\ninit = \"module\"\n\n";
  }
  return known;
}

void ProgramLog::load_variable(std::uint32_t module, const std::string& name, std::uint64_t offset,
                               const std::uint8_t* from, std::uint64_t bytes) {
  if (bytes == 0) return;
  const std::string known = variable_name(module, name);
  step("load = " + in_quotes(known) + "\noffset = " + number(offset) +
       "\nfile = \"data.bin\"\nfile_offset = " + number(store(from, bytes)) + "\nbytes = " + number(bytes));
}

void ProgramLog::fill(std::size_t buffer, std::uint64_t offset, std::uint32_t value, unsigned size,
                      std::uint64_t bytes) {
  if (bytes == 0) return;
  const std::string place =
      "fill = " + in_quotes(buffer_name(buffer)) + "\noffset = " + number(offset) + "\nbytes = " + number(bytes);
  step(place +
       (value == 0 ? "" : "\ninit = \"constant\"\ntype = \"u" + number(8 * size) + "\"\nvalue = " + number(value)));
}

void ProgramLog::copy(std::size_t to, std::uint64_t to_offset, std::size_t from, std::uint64_t offset,
                      std::uint64_t bytes) {
  if (bytes == 0) return;
  step("copy = " + in_quotes(buffer_name(from)) + "\noffset = " + number(offset) +
       "\nto = " + in_quotes(buffer_name(to)) + "\nto_offset = " + number(to_offset) + "\nbytes = " + number(bytes));
}

bool ProgramLog::is_chosen(const std::string& kernel) {
  if (traced_ >= choice_.first) return false;
  const auto in_name = [&](const std::string& word) { return kernel.find(word) != std::string::npos; };
  if (!choice_.kernels.empty() && std::none_of(choice_.kernels.begin(), choice_.kernels.end(), in_name)) return false;
  const auto in_range = [&](const auto& range) {
    return launch_count_ >= range.first && launch_count_ <= range.second;
  };
  return choice_.numbers.empty() || std::any_of(choice_.numbers.begin(), choice_.numbers.end(), in_range);
}

void ProgramLog::launch(const Launch& l) {
  ++launch_count_;
  const bool traced = is_chosen(l.entry->name);
  std::string table = "entry = " + in_quotes(l.entry->name) +
                      "\nptx = " + in_quotes("module" + number(l.module) + ".ptx") + "\ngrid = " + three(l.grid) +
                      "\nblock = " + three(l.block) + "\n";
  if (l.dynamic_shared != 0) table += "dynamic_shared = " + number(l.dynamic_shared) + "\n";
  if (l.cooperative) table += "cooperative = true\n";
  if (!traced) table += "trace = false\n";
  std::string list;
  for (const ir::Parameter& p : l.entry->function.parameters)
    list += parameter(l.parameters->data() + p.offset, p.bytes);
  if (!list.empty()) table += "params = [\n" + list + "]\n";
  const auto [known, is_new] = launch_names_.try_emplace(table, "launch" + number(launch_names_.size() + 1));
  if (is_new) launches_ += "[[launch]]\nname = " + in_quotes(known->second) + "\n" + table + "\n";
  step("run = " + in_quotes(known->second));
  if (!traced) return;
  ++traced_;
  steps_at_last_traced_ = steps_.size();
}

std::string ProgramLog::finish() {
  if (data_ != nullptr) data_->commit();
  const std::string path = folder_ + "/launch.toml";
  // What follows the last launch that is traced changes nothing.
  const std::string how =
      initialised_ ? "# Run it with --out-of-bounds zero --undefined zero, as the program was.\n" : "";
  base::write_file(path, "# Written by regatta-capture: what a program did to the device.\n" + how + "ptx = [" + ptx_ +
                             "]\n\n" + globals_ + buffers_ + textures_ + launches_ +
                             steps_.substr(0, steps_at_last_traced_));
  return path;
}

}  // namespace regatta::capture
