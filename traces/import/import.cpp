// SPDX-License-Identifier: Apache-2.0
//
// A file is read three times, so that memory is needed for one CTA only: for the code, for what the paths of its warps
// say of guards and jumps, and for the trace.
#include <regatta/base/clashes.h>
#include <regatta/import/import.h>
#include <regatta/trace/trace_recorder.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "code.h"
#include "kernel_file.h"
#include "kernel_list.h"
#include "layout.h"

namespace regatta::import {
namespace {

/// Compute capabilities from this one on reserve shared memory of each CTA, which the tracer does not count.
constexpr unsigned reserves_shared = 80;
constexpr std::uint64_t reserved_shared_bytes = 1024;

/// Puts the steps of a warp together, and finds their paths.
class WarpReader : public KernelVisitor {
 public:
  WarpReader(const Header& header, Layout& layout) : header_(header), layout_(layout), finder_(layout.flow()) {}

  void begin_cta(std::uint64_t index, const LineReader&) override { cta_ = index; }
  void begin_warp(std::uint32_t warp, const LineReader&) override {
    warp_ = warp;
    steps_.clear();
    places_.clear();
    paths_.clear();
  }
  void instruction(const InstructionLine& line) override {
    if (paths_.empty() || paths_.back().second != line.at->path()) paths_.emplace_back(steps_.size(), line.at->path());
    places_.push_back({line.at->number(), line.opcode_column});
    steps_.push_back({layout_.index_of(line.pc), line.mask});
  }
  void end_warp(const LineReader&) override {
    const std::uint32_t left = header_.threads() - warp_ * 32;
    const std::uint32_t threads = left >= 32 ? ~std::uint32_t{0} : (std::uint32_t{1} << left) - 1;
    try {
      finder_.find(steps_, threads, path_);
    } catch (const PathError& e) {
      fail_at(e.step(), e.what());
    }
    warp();
  }
  void end_cta(const LineReader&) override {}

 protected:
  virtual void warp() = 0;
  [[noreturn]] void fail_at(std::size_t step, const std::string& what) const {
    std::string path = paths_.front().second;
    for (const auto& [first, name] : paths_) path = first <= step ? name : path;
    fail(path, places_[step], what);
  }

  const Header& header_;
  Layout& layout_;
  std::uint64_t cta_ = 0;
  std::uint32_t warp_ = 0;
  std::vector<Step> steps_;
  WarpPath path_;

 private:
  PathFinder finder_;
  std::vector<Place> places_;                               ///< by step
  std::vector<std::pair<std::size_t, std::string>> paths_;  ///< of files, from a step on
};

class FlowReader : public WarpReader {
 public:
  using WarpReader::WarpReader;

 private:
  void warp() override { layout_.found(steps_, path_); }
};

/// Records the warps.
class Recording : public WarpReader {
 public:
  /// `tags`: the number of the next register write of the trace.
  Recording(const Header& header, Layout& layout, const AddressMap& addresses, trace::TraceRecorder& out,
            std::uint32_t& tags)
      : WarpReader(header, layout), map_(addresses), out_(out), tags_(tags) {}

  void begin_cta(std::uint64_t index, const LineReader& at) override {
    WarpReader::begin_cta(index, at);
    out_.begin_cta();
  }
  void begin_warp(std::uint32_t warp, const LineReader& at) override {
    WarpReader::begin_warp(warp, at);
    addresses_.clear();
  }
  void instruction(const InstructionLine& line) override {
    WarpReader::instruction(line);
    const Meaning& m = layout_.line(steps_.back().index).meaning;
    if (m.space == trace::MemorySpace::none) return;
    if (line.memory_width == 0 && line.mask != 0)
      line.at->fail(line.opcode_column, std::string(line.opcode) + " has no addresses");
    const std::uint64_t first = (cta_ * header_.threads()) + std::uint64_t{warp_} * 32;
    for (std::uint32_t rest = line.mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
      try {
        addresses_.push_back(map_.map(m.space, line.address[lane], first + lane));
      } catch (const std::invalid_argument& e) {
        line.at->fail(line.opcode_column, "lane " + std::to_string(lane) + ": " + e.what());
      }
    }
  }
  void end_cta(const LineReader&) override { out_.end_cta(); }

 private:
  void warp() override {
    std::size_t n = 0;
    try {
      const std::uint64_t* address = addresses_.data();
      std::size_t departure = 0;
      for (; n < steps_.size(); ++n) {
        trace::WarpRecorder& to = out_.warp(warp_);
        const trace::StaticInstruction& i = kernel_->instructions[steps_[n].index];
        to.step(steps_[n].index, path_.lanes[n], steps_[n].mask);
        if (trace::has_addresses(i)) {
          std::uint64_t by_lane[trace::max_lanes] = {};
          for (std::uint32_t m = steps_[n].mask; m != 0; m &= m - 1) by_lane[__builtin_ctz(m)] = *address++;
          to.addresses(static_cast<const std::uint64_t*>(by_lane));
        }
        for (unsigned d = 0; d < i.destination_count; ++d) {
          const std::uint32_t tag = ++tags_ * 32;
          to.result([tag](unsigned lane) { return tag + lane; });
        }
        for (; departure < path_.departures.size() && path_.departures[departure].step == n; ++departure) {
          to.goes_to(path_.departures[departure].lanes, path_.departures[departure].to);
        }
      }
    } catch (const trace::RecordError& e) {
      fail_at(std::min(n, steps_.size() - 1), e.what());
    }
  }

 public:
  void set_kernel(const trace::Kernel& kernel) { kernel_ = &kernel; }

 private:
  const AddressMap& map_;
  trace::TraceRecorder& out_;
  std::uint32_t& tags_;
  const trace::Kernel* kernel_ = nullptr;
  std::vector<std::uint64_t> addresses_;  ///< of the lanes that access memory, one after the other
};

/// Launches of one kernel, whose code is that of all their files.
struct KernelGroup {
  Header header;  ///< of the first
  Code code;
  std::unique_ptr<Layout> layout;
  std::optional<std::uint32_t> number;  ///< in the trace
};

class Import {
 public:
  using Open = std::function<std::unique_ptr<KernelFile>(const std::string&)>;
  Import(std::vector<std::string> files, Open open, bool strict)
      : files_(std::move(files)), open_(std::move(open)), strict_(strict) {}

  ImportResult run(const std::string& out) {
    for (const std::string& path : files_) read_code(path);
    for (const auto& group : groups_) group->layout = std::make_unique<Layout>(group->code);
    for (std::size_t n = 0; n < files_.size(); ++n) {
      const auto file = open_(files_[n]);
      FlowReader reader(file->header(), *launches_[n].group->layout);
      file->read(reader);
    }
    trace::TraceRecorder recorder(out, "regatta-import " REGATTA_VERSION " " + files_.front());
    for (std::size_t n = 0; n < files_.size(); ++n) record(n, recorder);
    recorder.finish();
    result_.launches = files_.size();
    result_.kernels = groups_.size();
    for (const auto& group : groups_) add_remarks(*group);
    return std::move(result_);
  }

 private:
  struct FileLaunch {
    KernelGroup* group = nullptr;
    std::uint64_t ctas = 0, shared_end = 0;
  };

  void read_code(const std::string& path) {
    const auto file = open_(path);
    const Header& h = file->header();
    if (strict_ && !h.remarks.empty()) {
      throw trace::InputError(path + ": error: " + h.remarks.front() + " (--strict)");
    }
    for (const std::string& text : h.remarks) remark("kernel " + h.name + ": " + text);
    Code code = collect_code(path, *file, strict_);
    FileLaunch launch{nullptr, code.ctas, code.shared.end};
    result_.ctas += code.ctas;
    result_.warp_instructions += code.instructions;
    for (const auto& group : groups_) {
      const Header& g = group->header;
      if (g.name == h.name && g.registers == h.registers && g.binary_version == h.binary_version &&
          group->code.merge(code)) {
        launch.group = group.get();
        break;
      }
    }
    if (launch.group == nullptr) {
      groups_.push_back(std::make_unique<KernelGroup>());
      launch.group = groups_.back().get();
      launch.group->header = h;
      launch.group->code = std::move(code);
    }
    launches_.push_back(launch);
  }

  void record(std::size_t n, trace::TraceRecorder& recorder) {
    const auto file = open_(files_[n]);
    const Header& h = file->header();
    KernelGroup& group = *launches_[n].group;
    const AddressMap addresses(h, group.code.local);
    try {
      if (!group.number) group.number = recorder.add(group.layout->kernel(group.header, addresses.local_bytes()));
      const std::uint64_t beyond = h.shared_bytes + (h.binary_version >= reserves_shared ? reserved_shared_bytes : 0);
      if (launches_[n].shared_end > beyond) {
        remark("kernel " + h.name + ": shared memory is accessed up to byte " +
               std::to_string(launches_[n].shared_end) + ", and the header of " + files_[n] + " says " +
               std::to_string(h.shared_bytes) + " bytes");
      }
      const std::uint64_t shared = std::max<std::uint64_t>(h.shared_bytes, launches_[n].shared_end);
      recorder.launch(*group.number, h.grid, h.block, static_cast<std::uint32_t>(shared), launches_[n].ctas);
    } catch (const trace::RecordError& e) {
      fail(files_[n], {}, e.what());
    }
    Recording recording(h, *group.layout, addresses, recorder, tags_);
    recording.set_kernel(recorder.kernel(*group.number));
    file->read(recording);
  }

  void remark(const std::string& text) {
    if (std::find(result_.remarks.begin(), result_.remarks.end(), text) == result_.remarks.end()) {
      result_.remarks.push_back(text);
    }
  }

  void add_remarks(const KernelGroup& group) {
    std::map<std::string, unsigned> all;
    for (const auto& [pc, line] : group.code.lines) {
      for (const std::string& text : line.meaning.remarks) ++all[text];
    }
    for (const auto& [text, count] : all) {
      remark("kernel " + group.header.name + ": " + text +
             (count == 1 ? "" : " (" + std::to_string(count) + " instructions)"));
    }
  }

  std::vector<std::string> files_;
  Open open_;
  bool strict_;
  std::vector<std::unique_ptr<KernelGroup>> groups_;
  std::vector<FileLaunch> launches_;
  std::uint32_t tags_ = 0;
  ImportResult result_;
};

}  // namespace

ImportResult import_trace(const ImportOptions& options) {
  std::vector<std::string> files = kernel_files(options.input);
  std::vector<base::FileUse> named{{"--out", options.out, true}, {"the input", options.input, false}};
  for (const std::string& file : files) named.push_back({"a kernel's trace", file, false});
  base::refuse_clashes(named);
  return Import(
             std::move(files), [](const std::string& path) { return open_kernel_file(path); }, options.strict)
      .run(options.out);
}

ImportResult import_bytes(std::string_view bytes, bool paged, const std::string& out) {
  const auto open = [&](const std::string& path) { return open_kernel_bytes(path, bytes, paged); };
  return Import({paged ? "memory.tracez" : "memory.traceg"}, open, false).run(out);
}

}  // namespace regatta::import
