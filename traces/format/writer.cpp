// SPDX-License-Identifier: Apache-2.0
#include <regatta/base/output_file.h>

#include <cstring>
#include <memory>

#include "codec.h"
#include "validate.h"

namespace regatta::trace {

struct Writer::Impl {
  Impl(const std::string& path, SectionRegistry known) : file(path), sections(std::move(known)) {}

  base::OutputFile file;
  const SectionRegistry sections;
  bool finished = false;
  bool announced = false;  ///< variants
  bool has_header = false;
  std::uint64_t offset = 0;
  std::vector<Kernel> kernels;
  std::vector<Launch> launches;
  SignatureBuilder signature;  ///< of the open launch
  proto::Index index;
  proto::Variant* variant = nullptr;  ///< the open one; nullptr: the index's own
  proto::Cta cta_message;             // kept for its memory
  std::string raw;
  Buffer compressed;
  Compressor compressor;

  /// If the caller's data cannot be in a trace, that is an error of the program, not of the user.
  template <class Check>
  void require(const std::string& what, Check check) const {
    try {
      check();
    } catch (const Malformed& e) {
      throw std::logic_error("trace::Writer: " + file.path() + ": " + what + ": " + e.what());
    }
  }

  void write(const char* data, std::size_t bytes) {
    file.write(data, bytes);
    offset += bytes;
  }

  std::uint32_t version() const { return announced ? format_version : plain_format_version; }

  /// Written with the first frame, when it is known whether there are variants.
  void write_header() {
    if (has_header) return;
    has_header = true;
    char header[file_header_bytes];
    std::memcpy(header, file_magic.data(), file_magic.size());
    for (unsigned i = 0; i < 4; ++i) header[file_magic.size() + i] = static_cast<char>(version() >> (8 * i) & 0xff);
    write(header, sizeof header);
  }

  void write_frame(FrameKind kind, const google::protobuf::MessageLite& message, proto::FrameReference& reference) {
    const std::size_t bytes = message.ByteSizeLong();
    if (bytes > max_raw_bytes) {
      throw InputError(file.path() + ": a " + to_string(kind) + " takes " + std::to_string(bytes) +
                       " bytes, a trace holds at most " + std::to_string(max_raw_bytes) + " in one frame");
    }
    write_header();
    raw.clear();
    if (!message.AppendToString(&raw)) throw std::logic_error("trace::Writer: a message cannot be serialized");
    FrameHeader header;
    header.kind = kind;
    header.raw_bytes = raw.size();
    header.compressed_bytes = compressor.compress(raw, compressed);
    header.checksum = checksum(header, compressed.data());
    reference.set_offset(offset);
    reference.set_compressed_bytes(header.compressed_bytes);
    reference.set_raw_bytes(header.raw_bytes);
    const FrameHeaderBytes packed = pack(header);
    write(packed.data(), packed.size());
    write(compressed.data(), header.compressed_bytes);
  }

  void close_launch() {
    if (!launches.empty()) launches.back().signature = signature.finish();
  }

  void close_variant() {
    close_launch();
    for (const Launch& launch : launches)
      encode(launch, variant != nullptr ? *variant->add_launches() : *index.add_launches());
    launches.clear();
    kernels.clear();
  }

  void require_open() const {
    if (finished) throw std::logic_error("trace::Writer: " + file.path() + " is already finished");
  }
};

Writer::Writer(const std::string& path, SectionRegistry sections) : impl_(new Impl(path, std::move(sections))) {}

Writer::~Writer() = default;

void Writer::set_producer(const std::string& producer) { impl_->index.set_producer(producer); }

void Writer::announce_variants() {
  Impl& w = *impl_;
  w.require_open();
  if (w.has_header) throw std::logic_error("trace::Writer: " + w.file.path() + ": variants are announced too late");
  w.announced = true;
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
    validate_variants(all, format_version);
  });
  w.close_variant();
  w.variant = w.index.add_variants();
  encode(variant, *w.variant);
}

std::uint32_t Writer::add_kernel(const Kernel& kernel) {
  Impl& w = *impl_;
  w.require_open();
  w.require("kernel " + kernel.name, [&] { validate(kernel, w.sections); });
  proto::Kernel message;
  encode(kernel, message);
  w.write_frame(FrameKind::kernel, message, w.variant != nullptr ? *w.variant->add_kernels() : *w.index.add_kernels());
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
  Impl& w = *impl_;
  w.require_open();
  w.require("CTA " + std::to_string(cta.index) + " of launch " + std::to_string(cta.launch), [&] {
    if (w.launches.empty() || cta.launch != w.launches.size() - 1) throw Malformed("its launch is not the open one");
    const Launch& launch = w.launches.back();
    if (cta.index != launch.first_cta + launch.cta_count) {
      throw Malformed("expected CTA " + std::to_string(launch.first_cta + launch.cta_count) + " next");
    }
    if (cta.index >= grid_ctas(launch)) throw Malformed("is outside the grid");
    validate(cta, launch, w.kernels[launch.kernel]);
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
  w.cta_message.Clear();
  encode(cta, w.cta_message);
  w.write_frame(FrameKind::cta, w.cta_message, *reference.mutable_frame());
  w.signature.add(cta, w.kernels[launch.kernel]);
  ++launch.cta_count;
  launch.warp_instructions += warp_instructions;
  launch.thread_instructions += thread_instructions;
}

void Writer::finish() {
  Impl& w = *impl_;
  w.require_open();
  if (w.announced && w.variant == nullptr) {
    throw std::logic_error("trace::Writer: " + w.file.path() + ": the variants that were announced are missing");
  }
  w.close_variant();
  proto::FrameReference index;
  w.write_frame(FrameKind::index, w.index, index);
  const TrailerBytes trailer = pack_trailer(index.offset(), w.version());
  w.write(trailer.data(), trailer.size());
  w.finished = true;
  w.file.commit();
}

}  // namespace regatta::trace
