// SPDX-License-Identifier: Apache-2.0
#include "trace_container.h"

#include <trace.pb.h>
#include <xxhash.h>
#include <zstd.h>

#include <map>

namespace regatta::test {
namespace {

constexpr std::uint64_t most_raw_bytes = std::uint64_t{64} << 20;
constexpr std::size_t summed_header = 24;
const std::string magic("\x89RGT\r\n\x1a\n", 8);
const std::string end_mark = "RGTEND\r\n";

namespace proto = regatta::trace::proto;

/// The index, or one of its variants, with the places of the frames as they lie now.
template <class Part>
void repair_part(Part& index, const std::map<std::uint64_t, proto::FrameReference>& places,
                 const std::map<std::uint64_t, proto::Cta>& ctas) {
  for (proto::FrameReference& reference : *index.mutable_kernels()) {
    const auto place = places.find(reference.offset());
    if (place != places.end()) reference = place->second;
  }
  std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> sums;
  for (proto::CtaReference& reference : *index.mutable_ctas()) {
    const std::uint64_t offset = reference.frame().offset();
    const auto cta = ctas.find(offset);
    if (cta != ctas.end()) {
      std::uint64_t warp = 0;
      std::uint64_t thread = 0;
      for (const proto::WarpColumns& columns : cta->second.warps()) {
        warp += columns.warp_instructions();
        thread += columns.thread_instructions();
      }
      reference.set_warp_instructions(warp);
      reference.set_thread_instructions(thread);
    }
    const auto place = places.find(offset);
    if (place != places.end()) *reference.mutable_frame() = place->second;
    sums[reference.launch()].first += reference.warp_instructions();
    sums[reference.launch()].second += reference.thread_instructions();
  }
  for (int i = 0; i < index.launches_size(); ++i) {
    const auto [warp, thread] = sums[static_cast<std::uint32_t>(i)];
    index.mutable_launches(i)->set_warp_instructions(warp);
    index.mutable_launches(i)->set_thread_instructions(thread);
  }
}

/// The index, repaired; as it is where it is no index.
std::string repaired(const std::string& raw, const std::map<std::uint64_t, proto::FrameReference>& places,
                     const std::map<std::uint64_t, proto::Cta>& ctas) {
  proto::Index index;
  if (!index.ParseFromString(raw)) return raw;
  repair_part(index, places, ctas);
  for (proto::Variant& variant : *index.mutable_variants()) repair_part(variant, places, ctas);
  return index.SerializeAsString();
}

}  // namespace

std::vector<std::size_t> frame_starts(const std::string& bytes) {
  std::vector<std::size_t> starts;
  std::size_t at = trace_file_header;
  while (at + trace_frame_header + trace_trailer <= bytes.size()) {
    starts.push_back(at);
    const auto payload = get<std::uint64_t>(bytes, at + 8);
    if (payload > bytes.size()) break;
    at += trace_frame_header + payload;
  }
  return starts;
}

std::optional<std::string> frame_payload(const std::string& bytes, std::size_t frame) {
  const auto packed = get<std::uint64_t>(bytes, frame + 8);
  const auto raw_bytes = get<std::uint64_t>(bytes, frame + 16);
  if (packed > bytes.size() - frame - trace_frame_header || raw_bytes > most_raw_bytes) return std::nullopt;
  std::string raw(raw_bytes, '\0');
  const std::size_t got = ZSTD_decompress(raw.data(), raw.size(), bytes.data() + frame + trace_frame_header, packed);
  if (ZSTD_isError(got) || got != raw_bytes) return std::nullopt;
  return raw;
}

void sign_frame(std::string& frame) {
  const std::string summed = frame.substr(0, summed_header) + frame.substr(trace_frame_header);
  put<std::uint64_t>(frame, summed_header, XXH64(summed.data(), summed.size(), 0));
}

std::string make_frame(std::uint32_t kind, const std::string& raw) {
  std::string packed(ZSTD_compressBound(raw.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), raw.data(), raw.size(), 3));
  std::string frame(trace_frame_header, '\0');
  put<std::uint32_t>(frame, 0, 0x46544752);
  put(frame, 4, kind);
  put<std::uint64_t>(frame, 8, packed.size());
  put<std::uint64_t>(frame, 16, raw.size());
  frame += packed;
  sign_frame(frame);
  return frame;
}

std::string make_trailer(std::uint64_t index_offset, std::uint32_t version) {
  std::string bytes(16, '\0');
  put(bytes, 0, index_offset);
  put<std::uint64_t>(bytes, 8, XXH64(bytes.data(), 8, version));
  return bytes + end_mark;
}

std::optional<TraceContainer> TraceContainer::take_apart(const std::string& bytes) {
  if (bytes.size() < trace_file_header + trace_frame_header + trace_trailer) return std::nullopt;
  TraceContainer container;
  container.version = get<std::uint32_t>(bytes, magic.size());
  for (const std::size_t start : frame_starts(bytes)) {
    auto raw = frame_payload(bytes, start);
    if (!raw) return std::nullopt;
    container.frames.push_back({get<std::uint32_t>(bytes, start + 4), start, std::move(*raw)});
  }
  if (container.frames.empty() || container.frames.back().kind != index) return std::nullopt;
  return container;
}

std::string TraceContainer::assemble(bool repair) const {
  std::string bytes = magic + std::string(trace_file_header - magic.size(), '\0');
  put(bytes, magic.size(), version);
  std::map<std::uint64_t, proto::FrameReference> places;
  std::map<std::uint64_t, proto::Cta> ctas;
  std::uint64_t index_offset = bytes.size();
  for (const Frame& frame : frames) {
    index_offset = bytes.size();
    const bool is_index = &frame == &frames.back();
    const std::string made = make_frame(frame.kind, is_index && repair ? repaired(frame.raw, places, ctas) : frame.raw);
    proto::FrameReference place;
    place.set_offset(bytes.size());
    place.set_compressed_bytes(made.size() - trace_frame_header);
    place.set_raw_bytes(frame.raw.size());
    places[frame.offset] = place;
    proto::Cta message;
    if (frame.kind == cta && message.ParseFromString(frame.raw)) ctas[frame.offset] = std::move(message);
    bytes += made;
  }
  return bytes + make_trailer(index_offset, version);
}

}  // namespace regatta::test
