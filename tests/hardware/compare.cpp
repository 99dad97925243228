// SPDX-License-Identifier: Apache-2.0
#include "compare.h"

#include <regatta/base/input_file.h>
#include <regatta/launch/entry_names.h>
#include <regatta/ptx/ptx.h>
#include <regatta/tool/annotate.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

#include "folder.h"
#include "references/small_float.h"

namespace regatta::hardware {
namespace {

/// Element `index` of an image: its bits, and its value when it is a floating type.
struct Element {
  std::uint64_t bits = 0;
  double value = 0;
};

Element element(ir::Type type, const std::vector<std::uint8_t>& image, std::size_t index) {
  Element e;
  const std::size_t size = ir::size_of(type);
  std::memcpy(&e.bits, image.data() + index * size, size);
  if (type == ir::Type::f32) {
    float f;
    std::memcpy(&f, &e.bits, sizeof f);
    e.value = static_cast<double>(f);
  } else if (type == ir::Type::f64) {
    std::memcpy(&e.value, &e.bits, sizeof e.value);
  } else if (type == ir::Type::f16 || type == ir::Type::bf16) {
    e.value = (type == ir::Type::f16 ? reference::half : reference::bf16).decode(static_cast<std::uint32_t>(e.bits));
  }
  return e;
}

bool is_floating(ir::Type type) {
  return type == ir::Type::f16 || type == ir::Type::bf16 || type == ir::Type::f32 || type == ir::Type::f64;
}

/// Relative difference; infinite where one of the two is no number or the expected one is zero.
double difference(double found, double expected) {
  const double d = std::fabs(found - expected) / std::fabs(expected);
  return std::isnan(d) ? INFINITY : d;
}

std::string describe(const std::string& name, std::size_t index, ir::Type type, const Element& gpu,
                     const Element& emulator) {
  std::ostringstream text;
  text << name << "[" << index << "] is 0x" << std::hex << gpu.bits;
  const bool floating = is_floating(type);
  if (floating) text << " (" << gpu.value << ")";
  text << " on the GPU, 0x" << emulator.bits;
  if (floating) text << " (" << emulator.value << ")";
  text << " in the emulator";
  return text.str();
}

std::uint64_t different_elements(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b,
                                 std::size_t size) {
  std::uint64_t different = 0;
  for (std::size_t at = 0; at + size <= a.size(); at += size) different += std::memcmp(&a[at], &b[at], size) != 0;
  return different;
}

/// ": 'a' + 8 on the GPU, 'a' + 16 in the emulator" if the 64-bit words around byte `at` are addresses.
std::string describe_pointer(const Pointers& pointers, const std::vector<std::uint8_t>& gpu,
                             const std::vector<std::uint8_t>& emulator, std::size_t at) {
  at -= at % 8;
  if (at + 8 > gpu.size()) return "";
  std::uint64_t g = 0, e = 0;
  std::memcpy(&g, &gpu[at], sizeof g);
  std::memcpy(&e, &emulator[at], sizeof e);
  const auto text = pointers.describe(g, e);
  return text ? ": " + *text : "";
}

std::vector<std::uint8_t> bytes_of(const std::string& text) {
  return std::vector<std::uint8_t>(text.begin(), text.end());
}

/// Buffers that exist at the end on both sides.
Pointers pointers_of(const tool::AnnotateResult& emulator, const launch::LaunchFile& file,
                     const launch::Program& program) {
  std::vector<BufferPlace> places;
  for (std::size_t i = 0; i < file.buffers.size(); ++i) {
    const std::string& name = file.buffers[i].name;
    const auto b = std::find_if(emulator.buffers.begin(), emulator.buffers.end(),
                                [&](const tool::PlacedBuffer& x) { return x.name == name; });
    const auto address = program.address(i);
    if (address && b != emulator.buffers.end()) places.push_back({name, b->bytes, *address, b->address});
  }
  return Pointers(std::move(places));
}

}  // namespace

Comparison compare(const std::string& name, ir::Type type, std::vector<std::uint8_t> gpu,
                   const std::vector<std::uint8_t>& emulator, const Rule& rule) {
  Comparison c;
  c.name = name;
  if (gpu.size() != emulator.size()) {
    c.elements = c.differing = c.wrong = 1;
    c.first_wrong = name + " has " + std::to_string(gpu.size()) + " bytes on the GPU, " +
                    std::to_string(emulator.size()) + " in the emulator";
    return c;
  }
  if (gpu.size() % ir::size_of(type) != 0) type = ir::Type::b8;
  const bool floating = is_floating(type);
  const std::size_t size = ir::size_of(type);
  c.elements = gpu.size() / size;
  if (rule.pointers != nullptr) c.pointers = rule.pointers->translate(gpu, emulator);
  if (rule.unordered > 1) {
    std::vector<std::uint8_t> arranged = launch::arranged_like(emulator, gpu, size, rule.unordered);
    c.moved = different_elements(arranged, gpu, size);
    gpu = std::move(arranged);
  }
  for (std::size_t i = 0; i < c.elements; ++i) {
    const Element g = element(type, gpu, i), e = element(type, emulator, i);
    if (g.bits == e.bits) continue;
    ++c.differing;
    if (floating) c.largest = std::max(c.largest, difference(g.value, e.value));
    const double allowed = rule.tolerance.relative * std::fabs(e.value) + rule.tolerance.absolute;
    if (floating && allowed > 0 && std::fabs(g.value - e.value) <= allowed) continue;
    if (c.wrong++ != 0) continue;
    c.first_wrong = describe(name, i, type, g, e);
    if (rule.unordered > 1) c.first_wrong += ", in any order within " + std::to_string(rule.unordered) + " elements";
    if (rule.pointers != nullptr) c.first_wrong += describe_pointer(*rule.pointers, gpu, emulator, i * size);
  }
  return c;
}

std::vector<Comparison> run_both(const Gpu& gpu, const std::string& path, const std::string& ptx,
                                 const std::vector<Tolerance>& tolerances) {
  launch::LaunchFile file = launch::read_launch_file(path);
  if (!ptx.empty()) file.ptx = {ptx};
  std::vector<std::string> texts;
  std::vector<launch::EntryNames> names;
  for (const std::string& p : file.ptx) {
    texts.push_back(base::read_text(p));
    names.push_back({p, {}});
    for (const ptx::EntryResult& e : ptx::parse_entries(texts.back(), p).entries)
      names.back().entries.push_back(e.name);
  }
  launch::resolve_entries(file, names);
  GpuProgram device(gpu, texts);
  launch::Program program(file, device);
  program.run();

  const test::Folder folder;
  tool::AnnotateOptions o;
  o.launch = path;
  o.ptx = ptx;
  o.approximations = emulator::Approximations::h100;
  // Files by number: a buffer's name need not be a file's.
  const auto dump = [&](const std::string& name) {
    o.dumps.emplace_back(name, folder.file(std::to_string(o.dumps.size())));
  };
  for (const launch::Buffer& b : file.buffers) dump(b.name);
  for (const launch::Global& g : file.globals) dump(g.name);
  const Pointers pointers = pointers_of(tool::annotate(o), file, program);

  std::vector<Comparison> all;
  const auto add = [&](const std::string& name, ir::Type type, std::uint64_t unordered,
                       std::vector<std::uint8_t> image) {
    const auto t = std::find_if(tolerances.begin(), tolerances.end(), [&](const auto& x) { return x.buffer == name; });
    const Rule rule{t == tolerances.end() ? Tolerance() : *t, unordered, &pointers};
    all.push_back(compare(name, type, std::move(image), bytes_of(folder.read(std::to_string(all.size()))), rule));
  };
  for (std::size_t i = 0; i < file.buffers.size(); ++i) {
    const launch::Buffer& b = file.buffers[i];
    add(b.name, b.contents.fill.type, b.expect.unordered, program.buffer(i));
  }
  for (const launch::Global& g : file.globals)
    add(g.name, g.contents.fill.type, g.expect.unordered, device.variable(g.name));
  return all;
}

}  // namespace regatta::hardware
