// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <memory>
#include <utility>

#include "codec.h"
#include "frame_writer.h"
#include "validate.h"

namespace regatta::trace {

struct Writer::Impl {
  Impl(const std::string& path, SectionRegistry known) : file(path), sections(std::move(known)) {}

  /// Messages in its lists stay where they are while lists grow. It outlives the thread of `file`, which fills them.
  proto::Index index;
  FrameWriter file;
  const SectionRegistry sections;
  bool finished = false;
  bool announced = false;  ///< variants
  std::vector<Kernel> kernels;
  std::deque<Launch> launches;        ///< whose signatures come from the thread
  proto::Variant* variant = nullptr;  ///< the open one; nullptr: the index's own

  /// If the caller's data cannot be in a trace, that is an error of the program, not of the user.
  template <class Check>
  void require(const std::string& what, Check check) const {
    try {
      check();
    } catch (const Malformed& e) {
      throw std::logic_error("trace::Writer: " + file.path() + ": " + what + ": " + e.what());
    }
  }

  bool has_segments = false;                        ///< the file
  std::uint32_t of_kernels = plain_format_version;  ///< the version that they need
  bool has_tags = false;                            ///< a kernel of the file has version tags
  std::vector<bool> in_segments;                    ///< by warp, of the CTA that is added next

  std::uint32_t version() const {
    const std::uint32_t least = has_segments ? segments_format_version
                                : announced  ? variants_format_version
                                             : plain_format_version;
    return std::max({least, of_kernels, has_tags ? textures_format_version : least});
  }

  /// With the first frame it is known whether there are variants.
  void begin() {
    if (!file.has_begun()) file.begin(version());
  }

  void close_launch() {
    if (!launches.empty()) file.end_launch(launches.back().signature);
  }

  void close_variant() {
    close_launch();
    file.drain();
    for (const Launch& launch : launches)
      encode(launch, variant != nullptr ? *variant->add_launches() : *index.add_launches());
    launches.clear();
    kernels.clear();
  }

  void require_open() const {
    if (finished) throw std::logic_error("trace::Writer: " + file.path() + " is already finished");
  }
};

std::uint32_t version_needed(const Kernel& kernel) {
  if (is_asynchronous(kernel)) return async_format_version;
  if (has_warp_roles(kernel)) return roles_format_version;
  for (const StaticInstruction& i : kernel.instructions) {
    if (i.op_class == OpClass::tensor || i.source_count > max_plain_source_registers) return tensor_format_version;
  }
  return kernel.version_tags || accesses_textures(kernel) ? textures_format_version : plain_format_version;
}

Writer::Writer(const std::string& path, SectionRegistry sections) : impl_(new Impl(path, std::move(sections))) {}

Writer::~Writer() = default;

void Writer::set_producer(const std::string& producer) { impl_->index.set_producer(producer); }

void Writer::announce_variants() {
  Impl& w = *impl_;
  w.require_open();
  if (w.file.has_begun())
    throw std::logic_error("trace::Writer: " + w.file.path() + ": variants are announced too late");
  w.announced = true;
}

void Writer::announce_version(std::uint32_t version) {
  Impl& w = *impl_;
  w.require_open();
  if (w.file.has_begun())
    throw std::logic_error("trace::Writer: " + w.file.path() + ": version " + std::to_string(version) +
                           " is announced too late");
  w.of_kernels = std::max(w.of_kernels, version);
}

void Writer::begin_variant(const Variant& variant) {
  Impl& w = *impl_;
  w.require_open();
  w.require("variant '" + variant.name + "'", [&] {
    if (!w.announced) throw Malformed("was not announced");
    proto::Index all;
    for (const proto::Variant& v : w.index.variants()) {
      all.add_variants()->set_name(v.name());
      *all.mutable_variants()->rbegin()->mutable_schemes() = v.schemes();
    }
    encode(variant, *all.add_variants());
    validate_variants(all, variants_format_version);
  });
  w.close_variant();
  w.variant = w.index.add_variants();
  encode(variant, *w.variant);
}

std::uint32_t Writer::add_kernel(const Kernel& kernel) {
  Impl& w = *impl_;
  w.require_open();
  w.require("kernel " + kernel.name, [&] {
    validate(kernel, w.sections);
    if (kernel.version_tags && !w.has_tags && w.file.has_begun() && !takes_segments())
      throw Malformed(
          "has version tags, and the version of the file is written already: expected the first kernel to have some");
  });
  w.has_tags = w.has_tags || kernel.version_tags;
  proto::Kernel message;
  encode(kernel, message);
  if (const std::uint32_t needed = version_needed(kernel); needed > w.of_kernels) {
    if (w.file.has_begun() && !w.file.can_change_version() && needed > w.version())
      throw std::logic_error("trace::Writer: " + w.file.path() + ": version " + std::to_string(needed) +
                             " was not announced");
    w.of_kernels = needed;
  }
  w.begin();
  w.file.add(FrameKind::kernel, message, w.variant != nullptr ? *w.variant->add_kernels() : *w.index.add_kernels());
  w.file.drain();  // the thread looks at kernels, and they may move
  w.kernels.push_back(kernel);
  return static_cast<std::uint32_t>(w.kernels.size() - 1);
}

std::uint32_t Writer::begin_launch(const Launch& launch) {
  Impl& w = *impl_;
  w.require_open();
  Launch fresh = launch;
  fresh.cta_count = 0;
  fresh.warp_instructions = 0;
  fresh.thread_instructions = 0;
  fresh.signature.reset();
  w.require("launch " + std::to_string(w.launches.size()), [&] { validate(fresh, w.kernels); });
  w.close_launch();
  w.launches.push_back(fresh);
  return static_cast<std::uint32_t>(w.launches.size() - 1);
}

void Writer::add_cta(const Cta& cta) {
  Cta copy = cta;
  for (std::size_t i = 0; i < copy.warps.size(); ++i) {
    const std::shared_ptr<WarpSegments> segments = std::exchange(copy.warps[i].segments, nullptr);
    if (segments == nullptr) continue;
    for (std::uint64_t n = 0; const std::shared_ptr<const WarpColumns> segment = segments->segment(n); ++n) {
      WarpColumns columns = *segment;
      columns.cta = cta.index;
      columns.warp = static_cast<std::uint32_t>(i);
      add_segment(std::move(columns));
    }
  }
  add_cta(std::move(copy));
}

bool Writer::takes_segments() const { return impl_->file.can_change_version(); }

void Writer::add_segment(WarpColumns&& columns) {
  Impl& w = *impl_;
  w.require_open();
  w.require("a segment of CTA " + std::to_string(columns.cta) + ", warp " + std::to_string(columns.warp), [&] {
    if (!takes_segments()) throw Malformed("the file takes no segments");
    if (w.launches.empty()) throw Malformed("no launch is open");
    const Launch& launch = w.launches.back();
    const Kernel& kernel = w.kernels[launch.kernel];
    if (columns.cta != launch.first_cta + launch.cta_count) throw Malformed("its CTA is not the next one");
    if (columns.warp >= launch.warps_per_cta(kernel.warp_size)) throw Malformed("the CTA has fewer warps");
    w.in_segments.resize(launch.warps_per_cta(kernel.warp_size));
    validate_segment(columns, kernel, w.in_segments[columns.warp]);
    w.in_segments[columns.warp] = true;
  });
  w.begin();
  w.has_segments = true;
  w.file.add_segment(std::move(columns), w.kernels[w.launches.back().kernel]);
}

void Writer::add_cta(Cta&& cta) {
  Impl& w = *impl_;
  w.require_open();
  w.require("CTA " + std::to_string(cta.index) + " of launch " + std::to_string(cta.launch), [&] {
    if (w.launches.empty() || cta.launch != w.launches.size() - 1) throw Malformed("its launch is not the open one");
    const Launch& launch = w.launches.back();
    if (cta.index != launch.first_cta + launch.cta_count) {
      throw Malformed("expected CTA " + std::to_string(launch.first_cta + launch.cta_count) + " next");
    }
    if (cta.index >= grid_ctas(launch)) throw Malformed("is outside the grid");
    validate(cta, launch, w.kernels[launch.kernel], w.in_segments);
  });
  Launch& launch = w.launches.back();
  proto::CtaReference& reference = w.variant != nullptr ? *w.variant->add_ctas() : *w.index.add_ctas();
  reference.set_launch(cta.launch);
  reference.set_index(cta.index);
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;
  for (const WarpColumns& warp : cta.warps) {
    warp_instructions += warp.warp_instructions;
    thread_instructions += warp.thread_instructions;
  }
  reference.set_warp_instructions(warp_instructions);
  reference.set_thread_instructions(thread_instructions);
  w.begin();
  w.in_segments.clear();
  w.file.add(std::move(cta), w.kernels[launch.kernel], reference);
  ++launch.cta_count;
  launch.warp_instructions += warp_instructions;
  launch.thread_instructions += thread_instructions;
}

Cta Writer::storage() { return impl_->file.storage(); }

void Writer::finish() {
  Impl& w = *impl_;
  w.require_open();
  if (w.announced && w.variant == nullptr) {
    throw std::logic_error("trace::Writer: " + w.file.path() + ": the variants that were announced are missing");
  }
  w.close_variant();
  w.begin();
  w.file.finish(w.index, w.version());
  w.finished = true;
}

}  // namespace regatta::trace
