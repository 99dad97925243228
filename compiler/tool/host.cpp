// SPDX-License-Identifier: Apache-2.0
#include "host.h"

#include <regatta/ir/half.h>

#include <algorithm>
#include <cstring>

namespace regatta::tool {

using launch::Parameter;
using launch::Step;

namespace {

/// Steps of the host after which its program counts as endless.
constexpr std::uint64_t max_steps = 100'000'000;

/// Hands the CTAs of one launch to the writer.
class WriterSink : public emulator::TraceSink {
 public:
  WriterSink(trace::Writer& writer, std::uint32_t launch, std::uint64_t first, std::uint64_t end)
      : writer_(writer), launch_(launch), first_(first), end_(end) {}
  bool wants(std::uint64_t cta) const override { return cta >= first_ && cta < end_; }
  void take(trace::Cta&& cta) override {
    cta.launch = launch_;
    writer_.add_cta(cta);
  }

 private:
  trace::Writer& writer_;
  std::uint32_t launch_;
  std::uint64_t first_, end_;
};

std::uint64_t counter_bits(const Parameter& p, std::uint64_t iteration) {
  const auto wrapped = static_cast<std::uint64_t>(p.offset) + static_cast<std::uint64_t>(p.scale) * iteration;
  const auto number = static_cast<std::int64_t>(wrapped);
  std::uint64_t bits = wrapped;
  if (p.type == ir::Type::f16) {
    bits = ir::double_to_half(static_cast<double>(number), ir::Rounding::rn);
  } else if (p.type == ir::Type::f32) {
    const auto v = static_cast<float>(number);
    bits = 0;
    std::memcpy(&bits, &v, sizeof v);
  } else if (p.type == ir::Type::f64) {
    const auto v = static_cast<double>(number);
    std::memcpy(&bits, &v, sizeof v);
  }
  return bits;
}

std::uint64_t volume(const std::array<std::uint32_t, 3>& v) { return std::uint64_t{v[0]} * v[1] * v[2]; }

}  // namespace

Host::Host(const launch::LaunchFile& file, const ir::Module& module, const AnnotateOptions& options,
           trace::Writer* writer, AnnotateResult& result)
    : file_(file),
      options_(options),
      writer_(writer),
      result_(result),
      progress_(options.progress),
      image_(module, memory_) {
  for (const launch::Buffer& b : file.buffers) {
    // In this order: a size that this machine does not have is refused before it is filled.
    const bool initialised = b.contents.fill.init != launch::Init::none;
    address_.push_back(memory_.allocate(b.name, b.contents.bytes, initialised));
    const std::vector<std::uint8_t> bytes = launch::make_contents(file, b.contents, b.where);
    if (initialised) memory_.write(address_.back(), bytes.data(), bytes.size());
  }
  for (const launch::Global& g : file.globals) {
    const ir::ModuleVariable* v = image_.variable(g.name);
    if (v == nullptr) {
      file.fail(g.where, "'" + module.file + "' has no .global or .const variable called '" + g.name + "'");
    }
    launch::Contents contents = g.contents;
    if (contents.bytes == 0 && contents.fill.init != launch::Init::file) contents.bytes = v->bytes;
    if (contents.bytes % ir::size_of(contents.fill.type) != 0) {
      file.fail(g.where, "variable '" + g.name + "' of " + std::to_string(v->bytes) + " bytes is no whole number of " +
                             ir::to_string(contents.fill.type) + " elements");
    }
    const std::vector<std::uint8_t> bytes = launch::make_contents(file, contents, g.where);
    if (bytes.size() > v->bytes) {
      file.fail(g.where, std::to_string(bytes.size()) + " bytes for variable '" + g.name + "', which has " +
                             std::to_string(v->bytes));
    }
    image_.write(g.name, bytes);
  }
}

void Host::add_kernel(CompiledKernel kernel) {
  ReadyKernel ready;
  const std::string name = kernel.function->name;
  for (const launch::Launch& l : file_.launches) {
    if (l.entry == name) check_launch(l, *kernel.function);
  }
  emulator::EmulatorOptions options;
  options.warp_size = options_.warp_size;
  options.max_instructions = options_.max_instructions;
  if (options_.check_races) {
    const bool by_target = options_.race_rule == emulator::RaceRule::off;
    options.races = by_target ? emulator::race_rule_of(kernel.function->target) : options_.race_rule;
  }
  ready.emulator =
      std::make_unique<emulator::Emulator>(*kernel.function, kernel.immediate_post_dominator, memory_, image_, options);
  if (writer_ != nullptr) {
    ready.trace_kernel = ir::to_trace(*kernel.function, kernel.immediate_post_dominator, options_.warp_size);
    ready.trace_index = writer_->add_kernel(ready.trace_kernel);
  }
  ready.compiled = std::move(kernel);
  kernels_.emplace(name, std::move(ready));
}

void Host::check_launch(const launch::Launch& l, const ir::Function& f) const {
  if (l.parameters.size() != f.parameters.size()) {
    file_.fail(l.where, "kernel '" + f.name + "' has " + std::to_string(f.parameters.size()) + " parameters, launch '" +
                            l.name + "' gives " + std::to_string(l.parameters.size()));
  }
  for (std::size_t i = 0; i < l.parameters.size(); ++i) {
    const Parameter& p = l.parameters[i];
    if (p.bytes != f.parameters[i].bytes) {
      file_.fail(p.where, "parameter " + std::to_string(i) + " ('" + f.parameters[i].name + "') of kernel '" + f.name +
                              "' has " + std::to_string(f.parameters[i].bytes) + " bytes, the launch gives " +
                              std::to_string(p.bytes));
    }
  }
  // .maxntid bounds the product of the dimensions.
  if (f.max_threads[0] != 0 && volume(l.block) > volume(f.max_threads)) {
    file_.fail(l.where, "kernel '" + f.name + "' was compiled for at most " + std::to_string(volume(f.max_threads)) +
                            " threads (.maxntid), the launch has " + std::to_string(volume(l.block)));
  }
  const std::uint64_t shared = std::uint64_t{f.static_shared_bytes} + l.dynamic_shared;
  if (shared > launch::max_shared_bytes) {
    file_.fail(l.where, "kernel '" + f.name + "' needs " + std::to_string(shared) +
                            " bytes of shared memory, expected at most " + std::to_string(launch::max_shared_bytes));
  }
}

std::vector<std::uint8_t> Host::parameters(const launch::Launch& l, const ir::Function& f) const {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < l.parameters.size(); ++i) {
    bytes.resize(std::max<std::size_t>(bytes.size(), std::size_t{f.parameters[i].offset} + f.parameters[i].bytes));
    put_parameter(l.parameters[i], bytes.data() + f.parameters[i].offset);
  }
  return bytes;
}

void Host::put_parameter(const Parameter& p, std::uint8_t* to) const {
  switch (p.kind) {
    case Parameter::Kind::scalar: {
      const unsigned size = ir::size_of(p.type);
      for (std::size_t n = 0; n < p.bits.size(); ++n) std::memcpy(to + n * size, &p.bits[n], size);
      break;
    }
    case Parameter::Kind::buffer: {
      const std::uint64_t address = address_[p.buffer] + p.buffer_offset;
      std::memcpy(to, &address, sizeof address);
      break;
    }
    case Parameter::Kind::counter: {
      const std::uint64_t bits = counter_bits(p, counters_.at(p.counter));
      std::memcpy(to, &bits, ir::size_of(p.type));
      break;
    }
    case Parameter::Kind::structure:
      for (const Parameter& m : p.members) put_parameter(m, to + m.at);
      break;
  }
}

void Host::run() { run_steps(file_.steps); }

void Host::run_steps(const std::vector<Step>& steps) {
  for (const Step& s : steps) {
    if (++steps_done_ > max_steps) {
      file_.fail(s.where, "the program has run " + std::to_string(max_steps) + " steps and goes on: an endless loop?");
    }
    switch (s.kind) {
      case Step::Kind::run:
        run_launch(file_.launches[s.launch]);
        break;
      case Step::Kind::swap:
        std::swap(address_[s.first], address_[s.second]);
        break;
      case Step::Kind::repeat:
        for (std::uint64_t i = 0; i < s.times; ++i) {
          if (!s.counter.empty()) counters_[s.counter] = i;
          run_steps(s.steps);
        }
        break;
      case Step::Kind::loop_while: {
        std::uint32_t flag = 1;
        for (std::uint64_t i = 0; flag != 0; ++i) {
          if (i == s.max) {
            file_.fail(s.where, "buffer '" + file_.buffers[s.flag].name + "' is still not zero after " +
                                    std::to_string(s.max) + " rounds ('max')");
          }
          if (!s.counter.empty()) counters_[s.counter] = i;
          flag = 0;
          memory_.write(address_[s.flag], &flag, sizeof flag);
          run_steps(s.steps);
          memory_.read(address_[s.flag], &flag, sizeof flag);
        }
        break;
      }
    }
  }
}

void Host::run_launch(const launch::Launch& l) {
  ReadyKernel& kernel = kernels_.at(l.entry);
  const ir::Function& f = *kernel.compiled.function;
  emulator::LaunchRequest request;
  request.grid = l.grid;
  request.block = l.block;
  request.dynamic_shared_bytes = l.dynamic_shared;
  request.parameters = parameters(l, f);

  LaunchReport report;
  report.entry = l.entry;
  report.ctas = volume(l.grid);
  const auto progress = [&](std::uint64_t done) { progress_.update(l.name, done, report.ctas); };
  emulator::RunCounts counts;
  if (writer_ == nullptr) {
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
    counts = kernel.emulator->run(request, &kernel.trace_kernel, &sink, progress);
  }
  report.warp_instructions = counts.warp_instructions;
  report.thread_instructions = counts.thread_instructions;
  result_.launches.push_back(std::move(report));
}

void Host::collect_races() {
  for (const auto& [name, kernel] : kernels_) {
    for (emulator::Race& r : kernel.emulator->races()) result_.races.push_back(std::move(r));
  }
}

std::vector<std::uint8_t> Host::buffer_bytes(std::size_t buffer) const {
  std::vector<std::uint8_t> bytes(file_.buffers[buffer].contents.bytes);
  memory_.read(address_[buffer], bytes.data(), bytes.size());
  return bytes;
}

void Host::check_expectations() {
  for (std::size_t b = 0; b < file_.buffers.size(); ++b) {
    if (file_.buffers[b].expect.empty()) continue;
    std::string message = launch::check_expectation(file_, file_.buffers[b], buffer_bytes(b));
    if (!message.empty()) result_.failed_expectations.push_back(std::move(message));
  }
}

void Host::check_dumps() const {
  for (const auto& [name, path] : options_.dumps) {
    if (find_buffer(name) || image_.variable(name) != nullptr) continue;
    std::string known;
    for (const launch::Buffer& b : file_.buffers) known += (known.empty() ? "" : ", ") + b.name;
    throw trace::InputError("error: --dump-buffer: no buffer or variable is called '" + name +
                            "', there are: " + known);
  }
}

void Host::dump() const {
  for (const auto& [name, path] : options_.dumps) {
    const auto buffer = find_buffer(name);
    const std::vector<std::uint8_t> bytes = buffer ? buffer_bytes(*buffer) : image_.read(name);
    write_file(path, std::string(bytes.begin(), bytes.end()));
  }
}

std::optional<std::size_t> Host::find_buffer(const std::string& name) const {
  for (std::size_t b = 0; b < file_.buffers.size(); ++b) {
    if (file_.buffers[b].name == name) return b;
  }
  return std::nullopt;
}

}  // namespace regatta::tool
