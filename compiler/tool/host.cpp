// SPDX-License-Identifier: Apache-2.0
#include "host.h"

#include <regatta/base/threads.h>

#include <algorithm>
#include <cstring>

namespace regatta::tool {

using launch::Parameter;

namespace {

/// Hands the CTAs of one launch to the writer.
class WriterSink : public emulator::TraceSink {
 public:
  WriterSink(trace::Writer& writer, std::uint32_t launch, std::uint64_t first, std::uint64_t end)
      : writer_(writer), launch_(launch), first_(first), end_(end) {}
  bool wants(std::uint64_t cta) const override { return cta >= first_ && cta < end_; }
  bool takes_segments() const override { return writer_.takes_segments(); }
  void take_segment(trace::WarpColumns&& columns) override { writer_.add_segment(std::move(columns)); }
  trace::Cta storage() override { return writer_.storage(); }
  void take(trace::Cta&& cta) override {
    cta.launch = launch_;
    writer_.add_cta(std::move(cta));
  }

 private:
  trace::Writer& writer_;
  std::uint32_t launch_;
  std::uint64_t first_, end_;
};

std::string dimensions_text(const std::array<std::uint32_t, 3>& v) {
  return std::to_string(v[0]) + " x " + std::to_string(v[1]) + " x " + std::to_string(v[2]);
}

/// "param 0: .u64 out, param 1: .b8 s[12]"
std::string parameter_list(const ir::Function& f) {
  constexpr std::size_t most = 32;
  std::string text;
  for (std::size_t i = 0; i < f.parameters.size() && i < most; ++i) {
    const ir::Parameter& p = f.parameters[i];
    text += (i == 0 ? "param " : ", param ") + std::to_string(i) + ": ." + ir::to_string(p.type) + " " + p.name;
    if (p.is_array) text += "[" + std::to_string(p.bytes / ir::size_of(p.type)) + "]";
  }
  return text + (f.parameters.size() > most ? ", ..." : "");
}

/// Whether a number of the launch is an integer and the parameter a float, or the other way round. Types of bits go
/// with all, and PTX has no float of 16 bits for parameters.
bool differs_in_kind(const Parameter& given, const ir::Parameter& declared) {
  const bool is_number = given.kind == Parameter::Kind::counter || given.kind == Parameter::Kind::expression ||
                         (given.kind == Parameter::Kind::scalar && given.bits.size() == 1);
  if (!is_number || declared.is_array || given.bytes < 4) return false;
  const auto is_bits = [](ir::Type t) { return ir::to_string(t)[0] == 'b'; };
  if (is_bits(given.type) || is_bits(declared.type)) return false;
  return ir::is_float(given.type) != ir::is_float(declared.type);
}

std::uint64_t volume(const std::array<std::uint32_t, 3>& v) { return std::uint64_t{v[0]} * v[1] * v[2]; }

std::vector<emulator::ModuleImage> make_images(const std::vector<ir::Module>& modules, emulator::DeviceMemory& memory,
                                               emulator::TextureTable& textures) {
  std::vector<emulator::ModuleImage> images;
  images.reserve(modules.size());
  for (const ir::Module& m : modules) images.emplace_back(m, memory, &textures);
  return images;
}

}  // namespace

Host::Host(const launch::LaunchFile& file, const std::vector<ir::Module>& modules, const AnnotateOptions& options,
           bool below_4_gb, trace::Writer* writer, CodeResult& result)
    : file_(file),
      options_(options),
      writer_(writer),
      result_(result),
      progress_(options.progress),
      memory_(below_4_gb),
      images_(make_images(modules, memory_, textures_)),
      program_(file, *this) {
  memory_.set_heap(options.heap_bytes, options.heap_initialised);
}

const emulator::ModuleImage& Host::image_of(const launch::Global& g) const {
  const std::vector<std::size_t> all = g.module ? std::vector<std::size_t>{*g.module} : modules_with(g.symbol);
  if (all.size() > 1) {
    file_.fail(g.where, "variable '" + g.symbol + "' is in '" + file_.ptx[all[0]] + "' and in '" + file_.ptx[all[1]] +
                            "': name its file with ptx = \"...\"");
  }
  if (all.empty() || images_[all[0]].variable(g.symbol) == nullptr) {
    std::string files;
    for (std::size_t m = 0; m < file_.ptx.size(); ++m) {
      if (!g.module || *g.module == m) files += (files.empty() ? "'" : ", '") + file_.ptx[m] + "'";
    }
    const bool one = g.module || file_.ptx.size() == 1;
    file_.fail(g.where, files + (one ? " has" : " have") + " no .global or .const variable called '" + g.symbol + "'");
  }
  return images_[all[0]];
}

void Host::write_variable(const launch::Global& g, std::uint64_t offset, const void* from, std::size_t bytes) {
  const emulator::ModuleImage& image = image_of(g);
  std::vector<std::uint8_t> all = image.read(g.symbol);
  std::memcpy(all.data() + offset, from, bytes);
  images_[static_cast<std::size_t>(&image - images_.data())].write(g.symbol, all);
}

void Host::read_variable(const launch::Global& g, std::uint64_t offset, void* to, std::size_t bytes) const {
  const std::vector<std::uint8_t> all = image_of(g).read(g.symbol);
  std::memcpy(to, all.data() + offset, bytes);
}

std::vector<std::size_t> Host::modules_with(const std::string& variable) const {
  std::vector<std::size_t> modules;
  for (std::size_t m = 0; m < images_.size(); ++m) {
    if (images_[m].variable(variable) != nullptr) modules.push_back(m);
  }
  return modules;
}

void Host::add_kernel(std::size_t module, CompiledKernel kernel) {
  ReadyKernel ready;
  const KernelName name{module, kernel.function->name};
  const emulator::ModuleImage& image = images_[module];
  for (const launch::Launch& l : file_.launches) {
    if (kernel_name(l) != name) continue;
    std::vector<std::string> warnings = check_launch(l, *kernel.function);
    if (result_.entries.empty()) continue;
    std::vector<std::string>& all = result_.entries.back().warnings;
    all.insert(all.end(), warnings.begin(), warnings.end());
  }
  emulator::EmulatorOptions options;
  options.warp_size = options_.warp_size;
  options.textures = &textures_;
  options.max_instructions = options_.max_instructions;
  options.concurrent_ctas = options_.concurrent_ctas;
  options.divergence = options_.divergence;
  options.approximations = options_.approximations;
  options.stray_reads = options_.out_of_bounds != OutOfBounds::error;
  options.threads = options_.threads != 0 ? options_.threads : base::threads();
  options.undefined_zero = options_.undefined_zero;
  if (options_.print_nothing) options.print = [](const std::string&) {};
  if (options_.check_races) {
    const bool by_target = options_.race_rule == emulator::RaceRule::off;
    options.races = by_target ? emulator::race_rule_of(kernel.function->target) : options_.race_rule;
  }
  ready.emulator =
      std::make_unique<emulator::Emulator>(*kernel.function, kernel.reconvergence, memory_, image, options);
  if (writer_ != nullptr) {
    ir::place_variables(
        *kernel.function, [&image](const std::string& v) { return image.global_address(v); }, kernel.trace_kernel);
    if (options_.races_known) {
      const bool racy = options_.racy_kernels.count(name) != 0;
      kernel.trace_kernel.annotations.push_back({racy ? trace::races_section : trace::race_free_section, 1, {}});
    }
    if (options_.apart_kernels.count(name) != 0) {
      kernel.trace_kernel.annotations.push_back({trace::lanes_apart_section, 1, {}});
    }
    ready.trace_index = writer_->add_kernel(kernel.trace_kernel);
  }
  ready.compiled = std::move(kernel);
  kernels_.emplace(name, std::move(ready));
}

std::vector<std::string> Host::check_launch(const launch::Launch& l, const ir::Function& f) const {
  std::vector<std::string> warnings;
  if (l.parameters.size() != f.parameters.size()) {
    const std::string count = f.parameters.empty() ? "no" : std::to_string(f.parameters.size());
    file_.fail(l.where, "kernel '" + f.name + "' has " + count +
                            (f.parameters.size() == 1 ? " parameter" : " parameters") + ", launch '" + l.name +
                            "' gives " + std::to_string(l.parameters.size()) +
                            (f.parameters.empty() ? "" : "; expected " + parameter_list(f)));
  }
  for (std::size_t i = 0; i < l.parameters.size(); ++i) {
    const Parameter& p = l.parameters[i];
    // The launch file does not know how wide the addresses are.
    const bool narrow_pointer = p.kind == Parameter::Kind::buffer && f.parameters[i].bytes == 4;
    if (p.bytes != f.parameters[i].bytes && !narrow_pointer) {
      file_.fail(p.where, "parameter " + std::to_string(i) + " ('" + f.parameters[i].name + "') of kernel '" + f.name +
                              "' has " + std::to_string(f.parameters[i].bytes) + " bytes, the launch gives " +
                              std::to_string(p.bytes));
    }
    if (differs_in_kind(p, f.parameters[i])) {
      const std::string declared = ir::to_string(f.parameters[i].type), given = ir::to_string(p.type);
      warnings.push_back(file_.file + ":" + std::to_string(p.where.line) + ":" + std::to_string(p.where.column) +
                         ": warning: parameter " + std::to_string(i) + " ('" + f.parameters[i].name + "') of kernel '" +
                         f.name + "' is ." + declared + ", the launch gives " + given + "; expected type = \"" +
                         declared + "\", or \"b" + std::to_string(8 * p.bytes) + "\" for the bits as they are");
    }
  }
  // Blocks and shared memory that follow counters are known when the launch runs.
  if (l.computed.empty()) check_block(l, f);
  return warnings;
}

void Host::check_block(const launch::Launch& l, const ir::Function& f) const {
  const ir::LaunchBounds& b = f.bounds;
  if (b.exact && l.block != b.block) {
    file_.fail(l.where, "kernel '" + f.name + "' was compiled for exactly " + dimensions_text(b.block) +
                            " threads (.reqntid), the launch has " + dimensions_text(l.block));
  }
  // .maxntid bounds the product of the dimensions.
  if (b.threads() != 0 && volume(l.block) > b.threads()) {
    file_.fail(l.where, "kernel '" + f.name + "' was compiled for at most " + std::to_string(b.threads()) +
                            " threads (.maxntid), the launch has " + std::to_string(volume(l.block)));
  }
  const std::uint64_t shared = std::uint64_t{f.static_shared_bytes} + l.dynamic_shared;
  if (shared > launch::max_shared_bytes) {
    file_.fail(l.where, "kernel '" + f.name + "' needs " + std::to_string(shared) +
                            " bytes of shared memory, expected at most " + std::to_string(launch::max_shared_bytes));
  }
}

std::uint64_t Host::allocate(const launch::Buffer& buffer) {
  const bool initialised = buffer.contents.fill.init != launch::Init::none;
  try {
    if (!buffer.address) return memory_.allocate(buffer.name, buffer.contents.bytes, initialised);
    memory_.allocate_at(buffer.name, *buffer.address, buffer.contents.bytes, initialised);
    return *buffer.address;
  } catch (const base::OutOfMemory& e) {
    throw base::OutOfMemory(file_.file + ":" + std::to_string(buffer.where.line) + ":" +
                            std::to_string(buffer.where.column) + ": " + e.what());
  } catch (const trace::InputError& e) {
    // The memory does not know who asks.
    const std::string prefix = "error: ", text = e.what();
    file_.fail(buffer.where, text.rfind(prefix, 0) == 0 ? text.substr(prefix.size()) : text);
  }
}

void Host::launch(const launch::Launch& l, const launch::ParameterBytes& parameters) {
  ReadyKernel& kernel = kernels_.at(kernel_name(l));
  const ir::Function& f = *kernel.compiled.function;
  if (!l.computed.empty()) check_block(l, f);
  emulator::LaunchRequest request;
  request.grid = l.grid;
  request.block = l.block;
  request.dynamic_shared_bytes = l.dynamic_shared;
  request.cooperative = l.cooperative;
  const std::uint64_t fitting = kernel.emulator->resident_ctas(request);
  if (l.cooperative && volume(l.grid) > fitting) {
    file_.fail(l.where, "launch '" + l.name + "' is cooperative and has " + std::to_string(volume(l.grid)) +
                            " CTAs, of which " + std::to_string(fitting) +
                            " are resident at a time; expected at most as many");
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::size_t offset = f.parameters[i].offset;
    const std::size_t bytes = std::min<std::size_t>(parameters[i].size(), f.parameters[i].bytes);
    request.parameters.resize(std::max(request.parameters.size(), offset + bytes));
    std::copy_n(parameters[i].begin(), bytes, request.parameters.begin() + static_cast<std::ptrdiff_t>(offset));
  }

  LaunchReport report;
  report.entry = l.entry;
  report.ctas = volume(l.grid);
  const auto progress = [&](std::uint64_t done) { progress_.update(l.name, done, report.ctas); };
  emulator::RunCounts counts;
  if (writer_ == nullptr || !l.traced) {
    counts = kernel.emulator->run(request, nullptr, nullptr, progress);
  } else {
    trace::Launch launch;
    launch.kernel = static_cast<std::uint32_t>(kernel.trace_index);
    launch.grid = l.grid;
    launch.block = l.block;
    launch.dynamic_shared_bytes = l.dynamic_shared;
    launch.shared_bytes_per_cta = f.static_shared_bytes + l.dynamic_shared;
    const std::uint64_t first = std::min(options_.first_cta, report.ctas);
    const std::uint64_t count = std::min(options_.cta_count, report.ctas - first);
    launch.first_cta = first;
    report.traced_ctas = count;
    WriterSink sink(*writer_, writer_->begin_launch(launch), first, first + count);
    counts = kernel.emulator->run(request, &kernel.compiled.trace_kernel, &sink, progress);
  }
  report.warp_instructions = counts.warp_instructions;
  report.thread_instructions = counts.thread_instructions;
  result_.launches.push_back(std::move(report));
}

void Host::collect_findings() {
  for (const auto& [name, kernel] : kernels_) {
    for (emulator::Race& r : kernel.emulator->races()) {
      result_.races.push_back(std::move(r));
      result_.racy_kernels.insert(name);
    }
    if (kernel.emulator->left_stack_order()) result_.apart_kernels.insert(name);
    const std::vector<emulator::StrayRead>& strays = kernel.emulator->stray_reads();
    result_.stray_reads.insert(result_.stray_reads.end(), strays.begin(), strays.end());
  }
}

void Host::check_expectations() {
  const auto check = [&](const std::string& what, const launch::Expectation& expected, const launch::Position& where,
                         const auto& contents) {
    if (expected.file.empty()) return;
    std::string message = launch::check_expectation(file_, what, expected, where, contents());
    if (!message.empty()) result_.failed_expectations.push_back(std::move(message));
  };
  for (std::size_t i = 0; i < file_.buffers.size(); ++i) {
    const launch::Buffer& b = file_.buffers[i];
    check("buffer '" + b.name + "'", b.expect, b.where, [&] { return program_.buffer(i); });
  }
  for (std::size_t i = 0; i < file_.globals.size(); ++i) {
    const launch::Global& g = file_.globals[i];
    check("variable '" + g.name + "'", g.expect, g.where, [&] { return program_.variable(i); });
  }
  for (std::size_t i = 0; i < file_.arrays.size(); ++i) {
    const launch::Buffer& a = file_.arrays[i].data;
    check("array '" + a.name + "'", a.expect, a.where, [&] { return program_.array(i); });
  }
}

void Host::note_buffers() {
  for (std::size_t i = 0; i < file_.buffers.size(); ++i) {
    const launch::Buffer& b = file_.buffers[i];
    if (const auto address = program_.address(i)) result_.buffers.push_back({b.name, *address, b.contents.bytes});
  }
}

void Host::check_dumps() const {
  for (const auto& [name, path] : options_.dumps) {
    if (find_buffer(name) || find_array(name) || find_global(name)) continue;
    const std::vector<std::size_t> modules = modules_with(name);
    if (modules.size() == 1) continue;
    if (modules.size() > 1) {
      throw trace::InputError("error: --dump-buffer: variable '" + name + "' is in '" + file_.ptx[modules[0]] +
                              "' and in '" + file_.ptx[modules[1]] + "'");
    }
    std::string known;
    for (const launch::Buffer& b : file_.buffers) known += (known.empty() ? "" : ", ") + b.name;
    for (const launch::Global& g : file_.globals) known += (known.empty() ? "" : ", ") + g.name;
    for (const launch::Array& a : file_.arrays) known += (known.empty() ? "" : ", ") + a.data.name;
    throw trace::InputError("error: --dump-buffer: no buffer or variable is called '" + name +
                            "', there are: " + known);
  }
}

std::string Host::contents(const std::string& name) const {
  const auto buffer = find_buffer(name), array = find_array(name), global = find_global(name);
  const std::vector<std::uint8_t> bytes = buffer   ? program_.buffer(*buffer)
                                          : array  ? program_.array(*array)
                                          : global ? program_.variable(*global)
                                                   : images_[modules_with(name).at(0)].read(name);
  return std::string(bytes.begin(), bytes.end());
}

std::optional<std::size_t> Host::find_array(const std::string& name) const {
  for (std::size_t a = 0; a < file_.arrays.size(); ++a) {
    if (file_.arrays[a].data.name == name) return a;
  }
  return std::nullopt;
}

std::optional<std::size_t> Host::find_global(const std::string& name) const {
  for (std::size_t g = 0; g < file_.globals.size(); ++g) {
    if (file_.globals[g].name == name) return g;
  }
  return std::nullopt;
}

std::optional<std::size_t> Host::find_buffer(const std::string& name) const {
  for (std::size_t b = 0; b < file_.buffers.size(); ++b) {
    if (file_.buffers[b].name == name) return b;
  }
  return std::nullopt;
}

}  // namespace regatta::tool
