// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/launch_signature.h>

#include <regatta/trace/file.h>
#include <regatta/trace/touched_lines.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace regatta::trace {
namespace {

/// A set of line numbers: bits in blocks of consecutive lines, since programs touch whole arrays.
class LineSet {
 public:
  void insert(std::uint64_t line) {
    const std::uint64_t block = line / lines_per_block;
    if (block != last_block_) {
      last_ = &blocks_[block];  // its address stays when others are added
      last_block_ = block;
    }
    std::uint64_t& word = (*last_)[line % lines_per_block / 64];
    const std::uint64_t bit = std::uint64_t{1} << (line % 64);
    size_ += (word & bit) == 0;
    word |= bit;
  }
  std::uint64_t size() const { return size_; }
  void clear() {
    blocks_.clear();
    last_block_ = ~std::uint64_t{0};
    size_ = 0;
  }

 private:
  static constexpr std::uint64_t lines_per_block = 1024;
  using Block = std::array<std::uint64_t, lines_per_block / 64>;
  std::unordered_map<std::uint64_t, Block> blocks_;
  std::uint64_t last_block_ = ~std::uint64_t{0};
  Block* last_ = nullptr;
  std::uint64_t size_ = 0;
};

}  // namespace

const char* value_kind_name(unsigned kind) {
  constexpr std::array<const char*, value_kind_count> names{"none",   "constant", "stride", "half_stride",
                                                            "delta8", "delta16",  "raw"};
  return names.at(kind);
}

struct SignatureBuilder::Impl {
  /// Gives a cursor a segment when there is one.
  struct Feed : WarpSegments {
    std::shared_ptr<const WarpColumns> segment(std::uint64_t number) override {
      return number == given ? std::exchange(next, nullptr) : nullptr;
    }
    std::shared_ptr<const WarpColumns> next;
    std::uint64_t given = 0;
  };
  /// A warp in segments, so far.
  struct OpenWarp {
    std::shared_ptr<Feed> feed = std::make_shared<Feed>();
    WarpColumns whole;
    WarpCursor cursor;
  };

  std::map<std::uint32_t, OpenWarp> open;
  LaunchSignature signature;
  LineSet lines;
  TouchedLines touched{LaunchSignature::line_bytes};

  void count_values(const WarpColumns& columns);
  void walk(WarpCursor& cursor);
};

void SignatureBuilder::Impl::count_values(const WarpColumns& warp) {
  for (const char kind : warp.value_kind) {
    const auto k = static_cast<unsigned char>(kind);
    if (k < value_kind_count) ++signature.values[k];
  }
}

void SignatureBuilder::Impl::walk(WarpCursor& cursor) {
  while (cursor.next()) {
    const StaticInstruction& instruction = cursor.instruction();
    ++signature.classes[static_cast<unsigned>(instruction.op_class)];
    if (!has_addresses(instruction)) continue;
    touched.take(cursor);
    signature.requests += touched.count();
    signature.bytes += std::uint64_t{touched.lanes()} * instruction.access_bytes;
    for (const TouchedLines::Line& line : touched) lines.insert(line.address / LaunchSignature::line_bytes);
  }
}

SignatureBuilder::SignatureBuilder() : impl_(std::make_unique<Impl>()) {}
SignatureBuilder::~SignatureBuilder() = default;

void SignatureBuilder::add(const Cta& cta, const Kernel& kernel) {
  for (const WarpColumns& warp : cta.warps) {
    if (warp.segments == nullptr && !warp.run_start.empty()) {
      impl_->count_values(warp);
      WarpCursor cursor(kernel, warp);
      impl_->walk(cursor);
    } else if (warp.segments != nullptr) {
      for (std::uint64_t n = 0; const std::shared_ptr<const WarpColumns> segment = warp.segments->segment(n); ++n) {
        impl_->count_values(*segment);
      }
      WarpCursor cursor(kernel, warp);
      impl_->walk(cursor);
    }
  }
  impl_->open.clear();
}

void SignatureBuilder::add_segment(WarpColumns&& columns, const Kernel& kernel) {
  Impl::OpenWarp& open = impl_->open[columns.warp];
  if (open.whole.segments == nullptr) {
    open.whole.segments = open.feed;
    open.cursor = WarpCursor(kernel, open.whole);
  }
  impl_->count_values(columns);
  open.feed->next = std::make_shared<const WarpColumns>(std::move(columns));
  impl_->walk(open.cursor);
  ++open.feed->given;
}

LaunchSignature SignatureBuilder::finish() {
  LaunchSignature signature = impl_->signature;
  signature.lines = impl_->lines.size();
  impl_->lines.clear();
  impl_->signature = LaunchSignature();
  return signature;
}

LaunchSignature signature_of(const Reader& reader, std::size_t launch) {
  const Launch& l = reader.launches().at(launch);
  if (l.signature) return *l.signature;
  const auto& ctas = reader.ctas();
  const auto first = std::lower_bound(ctas.begin(), ctas.end(), launch,
                                      [](const Reader::CtaEntry& c, std::size_t n) { return c.launch < n; });
  SignatureBuilder builder;
  const auto stream = reader.stream(static_cast<std::size_t>(first - ctas.begin()), l.cta_count);
  while (const std::shared_ptr<const Cta> cta = stream->next()) builder.add(*cta, reader.kernels()[l.kernel]);
  return builder.finish();
}

}  // namespace regatta::trace
