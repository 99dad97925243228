// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include <xxhash.h>

#include <regatta/base/shell_words.h>
#include <regatta/base/suggestion.h>
#include <regatta/trace/file_kind.h>

#include "codec.h"
#include "cta_bytes.h"
#include "validate.h"

namespace regatta::trace {
namespace {

class FrameReader;

/// What makes a trace of a file that is none, by the ending of its name.
std::string way_to_trace(const std::string& path) {
  constexpr const char* command = "regatta-annotate --launch FILE.toml --out FILE.rgt";
  switch (file_kind(path)) {
    case FileKind::toml: {
      const std::string trace = path.substr(0, path.rfind('.')) + ".rgt";
      return "; a launch file? first: " + base::shell_text({"regatta-annotate", "--launch", path, "--out", trace});
    }
    case FileKind::ptx:
      return std::string("; PTX? write a launch file that names it (compiler/launch/README.md), then: ") + command;
    case FileKind::source:
      return "; " + source_language(path) +
             " source? compile it to PTX, write a launch file that names the PTX (compiler/launch/README.md), then: " +
             command;
    case FileKind::other:
      break;
  }
  return "";
}

/// An open trace, its index read. Constant once open() is through, so that threads may share it.
struct File : std::enable_shared_from_this<File> {
  std::string path;
  int fd = -1;
  std::uint64_t bytes = 0;
  std::uint32_t version = 0;
  std::string producer;
  std::vector<Reader::VariantEntry> variants;
  std::size_t chosen = 0;  ///< of `variants`: what follows is its own
  std::vector<Kernel> kernels;
  std::vector<proto::FrameReference> kernel_frames;
  std::vector<Launch> launches;
  std::vector<Reader::CtaEntry> ctas;
  SectionRegistry sections;

  ~File() {
    if (fd >= 0) ::close(fd);
  }

  [[noreturn]] void fail(const std::string& reason) const { throw InputError(path + ": " + reason); }
  [[noreturn]] void fail_at(std::uint64_t offset, const std::string& what, const std::string& reason) const {
    fail("byte " + std::to_string(offset) + ": " + what + ": " + reason);
  }

  void read_at(std::uint64_t offset, char* to, std::size_t count) const {
    while (count != 0) {
      const ssize_t got = ::pread(fd, to, count, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail("byte " + std::to_string(offset) + ": cannot be read: " + std::strerror(errno));
      if (got == 0) fail("byte " + std::to_string(offset) + ": the file became shorter while it was read");
      to += got;
      offset += static_cast<std::uint64_t>(got);
      count -= static_cast<std::size_t>(got);
    }
  }

  void open(const std::string& name, const std::string& variant);
  void list_variants(const proto::Index& index);
  void choose(const std::string& variant);
  template <class Part>
  void read_part(const Part& part, std::uint64_t index_offset, FrameReader& reader);
  std::uint64_t open_header_and_trailer();
  void check_layout(const proto::Index& index, std::uint64_t index_offset) const;
  void check_ctas() const;
};

/// Recycles CTAs that are no longer used. A warp's columns are a dozen arrays; for short CTAs, allocating and freeing
/// them would take longer than reading them.
class CtaPool : public std::enable_shared_from_this<CtaPool> {
 public:
  /// A recycled CTA, or a new one. It returns to the pool when its last holder releases it, on any thread.
  std::shared_ptr<Cta> take() {
    std::unique_ptr<Cta> cta;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!spare_.empty()) {
        cta = std::move(spare_.back());
        spare_.pop_back();
      }
    }
    if (cta == nullptr) cta = std::make_unique<Cta>();
    return {cta.release(), [pool = shared_from_this()](Cta* c) { pool->put(std::unique_ptr<Cta>(c)); }};
  }

 private:
  void put(std::unique_ptr<Cta> cta) {
    const std::lock_guard<std::mutex> lock(mutex_);
    spare_.push_back(std::move(cta));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Cta>> spare_;
};

/// Reads frames; each thread has its own.
class FrameReader {
 public:
  explicit FrameReader(const File& file) : file_(file) {}

  /// Reads the frame at `offset`, whose payload must end at `end` or before, into `message`.
  /// `expected` sizes come from the index; nullptr if there is none yet. Returns the offset behind the frame.
  std::uint64_t read(FrameKind kind, std::uint64_t offset, std::uint64_t end, const proto::FrameReference* expected,
                     const std::string& what, google::protobuf::MessageLite& message) {
    try {
      if (offset > end || end - offset < frame_header_bytes) throw Malformed("a frame header does not fit there");
      FrameHeaderBytes bytes;
      file_.read_at(offset, bytes.data(), bytes.size());
      const FrameHeader header = unpack(bytes);
      if (header.magic != frame_magic) throw Malformed("no frame begins there: the file is corrupted");
      if (header.compressed_bytes > end - offset - frame_header_bytes) {
        throw Malformed("a payload of " + std::to_string(header.compressed_bytes) + " bytes reaches beyond byte " +
                        std::to_string(end) + ": the file is corrupted");
      }
      check_sizes(header.compressed_bytes, header.raw_bytes);
      char* payload = compressed_.reserve(header.compressed_bytes);
      file_.read_at(offset + frame_header_bytes, payload, header.compressed_bytes);
      if (checksum(header, payload) != header.checksum) throw Malformed("checksum is wrong: the file is corrupted");
      checksum_ = header.checksum;
      if (header.kind != kind) {
        throw Malformed(std::string("the frame's kind is ") + to_string(header.kind) + ", expected " + to_string(kind));
      }
      if (expected &&
          (header.compressed_bytes != expected->compressed_bytes() || header.raw_bytes != expected->raw_bytes())) {
        throw Malformed("the frame's sizes differ from the index");
      }
      char* raw = raw_.reserve(header.raw_bytes);
      decompressor_.decompress(payload, header.compressed_bytes, raw, header.raw_bytes);
      if (!message.ParseFromArray(raw, static_cast<int>(header.raw_bytes))) {
        throw Malformed("the payload is not a valid message");
      }
      return offset + frame_header_bytes + header.compressed_bytes;
    } catch (const Malformed& e) {
      file_.fail_at(offset, what, e.what());
    }
  }

  /// Of the frame that was read last.
  std::uint64_t last_checksum() const { return checksum_; }

  std::shared_ptr<const Cta> read_cta(std::size_t position) {
    const Reader::CtaEntry& entry = file_.ctas.at(position);
    const std::string what = "CTA " + std::to_string(entry.index) + " of launch " + std::to_string(entry.launch);
    proto::FrameReference expected;
    expected.set_compressed_bytes(entry.compressed_bytes);
    expected.set_raw_bytes(entry.raw_bytes);
    read(FrameKind::cta, entry.offset, file_.bytes - trailer_bytes, &expected, what, message_);
    try {
      const std::shared_ptr<Cta> cta = pool_->take();
      decode(message_, *cta);
      if (cta->launch != entry.launch || cta->index != entry.index) throw Malformed("the frame is another CTA's");
      const Launch& launch = file_.launches[entry.launch];
      validate(*cta, launch, file_.kernels[launch.kernel], add_segments(entry, *cta));
      std::uint64_t warp_instructions = 0;
      std::uint64_t thread_instructions = 0;
      for (const WarpColumns& warp : cta->warps) {
        warp_instructions += warp.warp_instructions;
        thread_instructions += warp.thread_instructions;
      }
      if (warp_instructions != entry.warp_instructions || thread_instructions != entry.thread_instructions) {
        throw Malformed("instruction counts differ from the index");
      }
      return cta;
    } catch (const Malformed& e) {
      file_.fail_at(entry.offset, what, e.what());
    }
  }

 private:
  /// Lets the warps read their segments, which message_ names. By warp: whether it has some.
  std::vector<bool> add_segments(const Reader::CtaEntry& entry, Cta& cta);

  const File& file_;
  std::uint64_t checksum_ = 0;
  Buffer compressed_;
  Buffer raw_;
  Decompressor decompressor_;
  proto::Cta message_;  // kept for its memory
  std::shared_ptr<CtaPool> pool_ = std::make_shared<CtaPool>();
};

/// The segments of one warp, read when they are asked for.
class FileSegments : public WarpSegments {
 public:
  struct Place {
    std::uint64_t offset = 0;
    SegmentPlace frame;
  };
  /// What the warps of a CTA share.
  struct CtaFrames {
    explicit CtaFrames(std::shared_ptr<const File> f) : file(std::move(f)), frames(*file) {}
    std::shared_ptr<const File> file;
    FrameReader frames;
    proto::Segment message;  // kept for its memory
  };

  FileSegments(std::shared_ptr<CtaFrames> frames, const Kernel& kernel, const Cta& cta, const WarpColumns& warp)
      : frames_(std::move(frames)),
        kernel_(kernel),
        cta_(cta.index),
        launch_(cta.launch),
        warp_(warp.warp),
        warp_instructions_(warp.warp_instructions),
        thread_instructions_(warp.thread_instructions) {}

  void add(const Place& place) {
    places_.push_back(place);
    known_.emplace_back();
  }

  std::shared_ptr<const WarpColumns> segment(std::uint64_t number) override {
    if (number >= places_.size()) {
      if (read_ == places_.size() && (warp_instructions_ != 0 || thread_instructions_ != 0)) {
        frames_->file->fail_at(places_.back().offset, what(number - 1),
                               "the instructions of the warp's segments differ from its own count");
      }
      return nullptr;
    }
    if (std::shared_ptr<const WarpColumns> known = known_[number].lock()) return known;
    const Place& place = places_[number];
    proto::FrameReference expected;
    expected.set_compressed_bytes(place.frame.bytes);
    expected.set_raw_bytes(place.frame.raw_bytes);
    frames_->frames.read(FrameKind::segment, place.offset, frames_->file->bytes - trailer_bytes, &expected,
                         what(number), frames_->message);
    auto columns = std::make_shared<WarpColumns>();
    try {
      if (frames_->frames.last_checksum() != place.frame.checksum) throw Malformed("is another segment's");
      decode(frames_->message, *columns);
      columns->cta = cta_;
      columns->warp = warp_;
      validate_segment(*columns, kernel_, number != 0);
    } catch (const Malformed& e) {
      frames_->file->fail_at(place.offset, what(number), e.what());
    }
    if (number == read_) {
      ++read_;
      warp_instructions_ -= columns->warp_instructions;
      thread_instructions_ -= columns->thread_instructions;
    }
    known_[number] = columns;
    last_ = columns;
    return columns;
  }

 private:
  std::string what(std::uint64_t number) const {
    return "CTA " + std::to_string(cta_) + " of launch " + std::to_string(launch_) + ", warp " + std::to_string(warp_) +
           ", segment " + std::to_string(number);
  }

  std::shared_ptr<CtaFrames> frames_;
  const Kernel& kernel_;
  std::uint64_t cta_ = 0;
  std::uint32_t launch_ = 0, warp_ = 0;
  std::uint64_t warp_instructions_, thread_instructions_;  ///< of segments that were not read
  std::vector<Place> places_;
  std::vector<std::weak_ptr<const WarpColumns>> known_;  ///< those that somebody holds
  std::shared_ptr<const WarpColumns> last_;              ///< one cursor looks ahead of the others
  std::uint64_t read_ = 0;
};

std::vector<bool> FrameReader::add_segments(const Reader::CtaEntry& entry, Cta& cta) {
  const auto count = static_cast<std::size_t>(message_.segment_warp_size());
  const auto differs = [count](int size) { return static_cast<std::size_t>(size) != count; };
  if (differs(message_.segment_bytes_size()) || differs(message_.segment_raw_bytes_size()) ||
      differs(message_.segment_checksum_size())) {
    throw Malformed("names parts of segments");
  }
  if (count == 0 && entry.segment_bytes != 0) throw Malformed("names no segments, the index does");
  if (count == 0) return {};
  std::vector<bool> in_segments(cta.warps.size());
  const auto frames = std::make_shared<FileSegments::CtaFrames>(file_.shared_from_this());
  const Kernel& kernel = file_.kernels[file_.launches[entry.launch].kernel];
  std::vector<std::shared_ptr<FileSegments>> warps(cta.warps.size());
  std::uint64_t offset = entry.offset - entry.segment_bytes;
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = static_cast<int>(i);
    const SegmentPlace place{message_.segment_warp(at), message_.segment_bytes(at), message_.segment_raw_bytes(at),
                             message_.segment_checksum(at)};
    if (place.warp >= warps.size()) throw Malformed("names a segment of a warp that it has not");
    check_sizes(place.bytes, place.raw_bytes);
    if (entry.offset - offset < frame_header_bytes + place.bytes) throw Malformed("its segments reach into it");
    std::shared_ptr<FileSegments>& warp = warps[place.warp];
    if (warp == nullptr) {
      WarpColumns& columns = cta.warps[place.warp];
      columns.warp = place.warp;
      warp = std::make_shared<FileSegments>(frames, kernel, cta, columns);
      columns.segments = warp;
      in_segments[place.warp] = true;
    }
    warp->add({offset, place});
    offset += frame_header_bytes + place.bytes;
  }
  if (offset != entry.offset) throw Malformed("its segments end at byte " + std::to_string(offset));
  return in_segments;
}

std::uint64_t File::open_header_and_trailer() {
  if (bytes == 0) fail("the file is empty");
  char header[file_header_bytes];
  const std::size_t have = static_cast<std::size_t>(std::min(bytes, file_header_bytes));
  read_at(0, header, have);
  if (std::memcmp(header, file_magic.data(), std::min(have, file_magic.size())) != 0) {
    fail("not a regatta trace: its first bytes are not the magic of a .rgt file" + way_to_trace(path));
  }
  if (have < file_header_bytes) fail("the file is truncated: it ends after " + std::to_string(bytes) + " bytes");
  for (unsigned i = 0; i < 4; ++i) {
    version |= std::uint32_t{static_cast<unsigned char>(header[file_magic.size() + i])} << (8 * i);
  }
  if (version > format_version) {
    fail("format version " + std::to_string(version) + " is too new: this reads up to version " +
         std::to_string(format_version));
  }
  if (version == 0) fail("byte 8: format version 0 does not exist: the file is corrupted");
  if (bytes < file_header_bytes + frame_header_bytes + trailer_bytes) {
    fail("the file is truncated: it ends after " + std::to_string(bytes) + " bytes");
  }
  TrailerBytes trailer;
  const std::uint64_t at = bytes - trailer_bytes;
  read_at(at, trailer.data(), trailer.size());
  try {
    return unpack_trailer(trailer, version);
  } catch (const Malformed& e) {
    fail_at(at, "trailer", e.what());
  }
}

void File::open(const std::string& name, const std::string& variant) {
  path = name;
  // O_NONBLOCK, because opening a pipe would otherwise wait for a writer.
  fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) fail(std::string("cannot be opened: ") + std::strerror(errno));
  struct stat status;
  if (::fstat(fd, &status) != 0) fail(std::string("cannot be read: ") + std::strerror(errno));
  if (!S_ISREG(status.st_mode)) fail("not a regular file");
  bytes = static_cast<std::uint64_t>(status.st_size);

  const std::uint64_t index_offset = open_header_and_trailer();
  const std::uint64_t end = bytes - trailer_bytes;
  FrameReader reader(*this);
  proto::Index index;
  const std::uint64_t index_end = reader.read(FrameKind::index, index_offset, end, nullptr, "index", index);
  try {
    if (index_end != end) throw Malformed("is not followed by the trailer");
    check_layout(index, index_offset);
    validate_variants(index, version);
  } catch (const Malformed& e) {
    fail_at(index_offset, "index", e.what());
  }
  list_variants(index);
  choose(variant);
  if (chosen == 0) {
    read_part(index, index_offset, reader);
  } else {
    read_part(index.variants(static_cast<int>(chosen) - 1), index_offset, reader);
  }
  producer = index.producer();
}

template <class Part>
void File::read_part(const Part& part, std::uint64_t index_offset, FrameReader& reader) {
  const std::string place = chosen == 0 ? "index" : "index: variant " + variants[chosen].variant.name;
  const std::string of_variant = chosen == 0 ? "" : "variant " + variants[chosen].variant.name + ": ";
  std::string what = place;
  try {
    for (int i = 0; i < part.kernels_size(); ++i) {
      const proto::FrameReference& reference = part.kernels(i);
      const std::string kernel = of_variant + "kernel " + std::to_string(i);
      proto::Kernel message;
      reader.read(FrameKind::kernel, reference.offset(), index_offset, &reference, kernel, message);
      try {
        kernels.push_back(decode(message));
        kernel_frames.push_back(reference);
        validate(kernels.back(), sections);
        if (version < textures_format_version && accesses_textures(kernels.back())) {
          throw Malformed("accesses textures or surfaces, which files of version " + std::to_string(version) +
                          " do not have");
        }
        if (version < async_format_version && is_asynchronous(kernels.back()))
          throw Malformed("has asynchronous operations, which files of version " + std::to_string(version) +
                          " do not have");
        if (has_warp_roles(kernels.back()) && version < roles_format_version)
          throw Malformed("has register budgets or the barrier of a cluster, which files of version " +
                          std::to_string(version) + " do not have");
        if (version < tensor_format_version && version_needed(kernels.back()) >= tensor_format_version) {
          throw Malformed("has matrix products, which files of version " + std::to_string(version) + " do not have");
        }
        if (kernels.back().version_tags && version < textures_format_version)
          throw Malformed("has version tags, which files of version " + std::to_string(version) + " do not have");
      } catch (const Malformed& e) {
        fail_at(reference.offset(), kernel + " (" + message.name() + ")", e.what());
      }
    }
    for (int i = 0; i < part.launches_size(); ++i) {
      what = place + ": launch " + std::to_string(i);
      launches.push_back(decode(part.launches(i)));
      validate(launches.back(), kernels);
    }
    what = place;
    ctas.reserve(static_cast<std::size_t>(part.ctas_size()));
    for (const proto::CtaReference& c : part.ctas()) {
      ctas.push_back({c.launch(), c.index(), c.frame().offset(), c.frame().compressed_bytes(), c.frame().raw_bytes(),
                      c.segment_bytes(), c.segment_raw_bytes(), c.warp_instructions(), c.thread_instructions()});
    }
    check_ctas();
  } catch (const Malformed& e) {
    fail_at(index_offset, what, e.what());
  }
}

/// A frame, with those of segments that lie before it.
struct FramePlace {
  const proto::FrameReference* frame = nullptr;
  std::uint64_t before = 0;  ///< bytes

  std::uint64_t bytes() const { return before + frame_header_bytes + frame->compressed_bytes(); }
};

/// Each part's frames, the index's own first.
template <class Part>
void add_frames(const Part& part, std::vector<FramePlace>& frames) {
  for (const proto::FrameReference& frame : part.kernels()) frames.push_back({&frame, 0});
  for (const proto::CtaReference& cta : part.ctas()) frames.push_back({&cta.frame(), cta.segment_bytes()});
}

template <class Part>
Reader::VariantEntry entry_of(Variant variant, const Part& part) {
  std::vector<FramePlace> frames;
  add_frames(part, frames);
  Reader::VariantEntry entry{std::move(variant), static_cast<std::uint64_t>(part.kernels_size()),
                             static_cast<std::uint64_t>(part.launches_size()),
                             static_cast<std::uint64_t>(part.ctas_size()), 0};
  for (const FramePlace& place : frames) entry.bytes += place.bytes();
  return entry;
}

void File::list_variants(const proto::Index& index) {
  variants.push_back(entry_of(Variant{plain_variant, {}, ""}, index));
  for (const proto::Variant& v : index.variants()) variants.push_back(entry_of(decode(v), v));
}

void File::choose(const std::string& variant) {
  std::vector<std::string> names;
  std::string known;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const std::string& name = variants[i].variant.name;
    if (name == variant) {
      chosen = i;
      return;
    }
    names.push_back(name);
    known += (known.empty() ? "" : ", ") + name;
  }
  fail("no variant '" + variant + "', expected one of " + known + base::suggestion(variant, names));
}

/// The frames must tile the file: nothing lies between them, and none of them is named twice.
void File::check_layout(const proto::Index& index, std::uint64_t index_offset) const {
  std::vector<FramePlace> frames;
  add_frames(index, frames);
  for (const proto::Variant& v : index.variants()) add_frames(v, frames);
  std::sort(frames.begin(), frames.end(),
            [](const FramePlace& a, const FramePlace& b) { return a.frame->offset() < b.frame->offset(); });
  std::uint64_t at = file_header_bytes;
  for (const auto& [frame, before] : frames) {
    if (before != 0 && version < segments_format_version) {
      throw Malformed("names segments, which files of version " + std::to_string(version) + " do not have");
    }
    if (before > index_offset) throw Malformed("names segments of " + std::to_string(before) + " bytes");
    at += before;
    if (frame->offset() != at) {
      throw Malformed("names a frame at byte " + std::to_string(frame->offset()) + ", expected the next at byte " +
                      std::to_string(at));
    }
    check_sizes(frame->compressed_bytes(), frame->raw_bytes());
    at += frame_header_bytes + frame->compressed_bytes();
  }
  if (at != index_offset) throw Malformed("the frames it names end at byte " + std::to_string(at));
}

/// CTAs stand launch by launch, each launch's as one ascending range, and add up to the launch's counts.
void File::check_ctas() const {
  std::size_t next = 0;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const Launch& launch = launches[i];
    std::uint64_t warp_instructions = 0;
    std::uint64_t thread_instructions = 0;
    std::uint64_t count = 0;
    for (; next < ctas.size() && ctas[next].launch == i; ++next, ++count) {
      if (ctas[next].index != launch.first_cta + count) {
        throw Malformed("entry " + std::to_string(next) + " is CTA " + std::to_string(ctas[next].index) +
                        " of launch " + std::to_string(i) + ", expected CTA " +
                        std::to_string(launch.first_cta + count));
      }
      warp_instructions += ctas[next].warp_instructions;
      thread_instructions += ctas[next].thread_instructions;
    }
    if (count != launch.cta_count || warp_instructions != launch.warp_instructions ||
        thread_instructions != launch.thread_instructions) {
      throw Malformed("the CTAs of launch " + std::to_string(i) + " do not add up to its counts");
    }
  }
  if (next != ctas.size()) {
    throw Malformed("entry " + std::to_string(next) + " is of launch " + std::to_string(ctas[next].launch) +
                    ", which is not its place");
  }
}

}  // namespace

struct Reader::Impl {
  std::shared_ptr<File> file = std::make_shared<File>();
  std::unique_ptr<FrameReader> frames;
};

Reader::Reader(const std::string& path, SectionRegistry sections, const std::string& variant) : impl_(new Impl) {
  impl_->file->sections = std::move(sections);
  impl_->file->open(path, variant);
  impl_->frames = std::make_unique<FrameReader>(*impl_->file);
}
Reader::~Reader() = default;

const std::string& Reader::path() const { return impl_->file->path; }
const std::string& Reader::producer() const { return impl_->file->producer; }
std::uint32_t Reader::version() const { return impl_->file->version; }
std::uint64_t Reader::file_bytes() const { return impl_->file->bytes; }
const std::vector<Reader::VariantEntry>& Reader::variants() const { return impl_->file->variants; }
const Variant& Reader::variant() const { return impl_->file->variants[impl_->file->chosen].variant; }
const std::vector<Kernel>& Reader::kernels() const { return impl_->file->kernels; }
const std::vector<Launch>& Reader::launches() const { return impl_->file->launches; }
const SectionRegistry& Reader::sections() const { return impl_->file->sections; }
const std::vector<Reader::CtaEntry>& Reader::ctas() const { return impl_->file->ctas; }

std::uint64_t Reader::code_digest(std::size_t kernel) const {
  const proto::FrameReference& frame = impl_->file->kernel_frames.at(kernel);
  proto::Kernel code;
  impl_->frames->read(FrameKind::kernel, frame.offset(), impl_->file->bytes, &frame, "kernel " + std::to_string(kernel),
                      code);
  return digest_of_code(std::move(code));
}

std::uint64_t Reader::data_digest() const {
  const std::vector<CtaEntry>& all = impl_->file->ctas;
  std::vector<std::uint64_t> numbers;
  constexpr std::size_t most_checksums = 64;
  const std::size_t step = all.size() / most_checksums + 1;
  for (std::size_t i = 0; i < all.size(); ++i) {
    numbers.insert(numbers.end(), {all[i].launch, all[i].index, all[i].compressed_bytes, all[i].raw_bytes,
                                   all[i].warp_instructions, all[i].thread_instructions});
    if (all[i].segment_bytes != 0) numbers.push_back(all[i].segment_bytes);
    if (i % step != 0) continue;
    FrameHeaderBytes header;
    impl_->file->read_at(all[i].offset, header.data(), header.size());
    numbers.push_back(unpack(header).checksum);
  }
  return XXH64(numbers.data(), numbers.size() * sizeof numbers[0], 0);
}

std::shared_ptr<const Cta> Reader::read(std::size_t position) const { return impl_->frames->read_cta(position); }

/// The thread reads ahead until `most_ctas` CTAs or `most_bytes` of them wait (at least one, whatever its size). It
/// continues when half of that is consumed, since waking a thread for every short CTA would cost too much.
struct Reader::Stream::Impl {
  static constexpr std::size_t most_ctas = 64;
  static constexpr std::uint64_t most_bytes = std::uint64_t{4} << 20;
  struct Ready {
    std::shared_ptr<const Cta> cta;
    std::uint64_t bytes = 0;  ///< of its frame, uncompressed
  };

  std::shared_ptr<const File> file;
  std::size_t next = 0;
  std::size_t end = 0;

  std::mutex mutex;
  std::condition_variable room, more;
  std::deque<Ready> ready;
  std::uint64_t ready_bytes = 0;
  bool reader_waits = false, taker_waits = false;
  std::exception_ptr error;
  bool done = false;
  bool stop = false;
  std::thread thread;

  bool has_room() const { return ready.empty() || (ready.size() < most_ctas && ready_bytes < most_bytes); }
  bool half_gone() const { return ready.size() <= most_ctas / 2 && ready_bytes <= most_bytes / 2; }

  /// Returns false when no more CTAs are wanted.
  bool hand_over(std::shared_ptr<const Cta> cta, std::uint64_t bytes) {
    std::unique_lock<std::mutex> lock(mutex);
    if (!stop && !has_room()) {
      reader_waits = true;
      room.wait(lock, [this] { return stop || ready.empty() || half_gone(); });
      reader_waits = false;
    }
    if (stop) return false;
    ready.push_back({std::move(cta), bytes});
    ready_bytes += bytes;
    if (taker_waits) more.notify_one();
    return true;
  }

  void run() {
    try {
      FrameReader frames(*file);
      for (; next < end; ++next) {
        if (!hand_over(frames.read_cta(next), file->ctas[next].raw_bytes)) return;
      }
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex);
      error = std::current_exception();
    }
    const std::lock_guard<std::mutex> lock(mutex);
    done = true;
    more.notify_one();
  }
};

Reader::Stream::Stream(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {
  impl_->thread = std::thread([s = impl_.get()] { s->run(); });
}

Reader::Stream::~Stream() {
  {
    const std::lock_guard<std::mutex> lock(impl_->mutex);
    impl_->stop = true;
    impl_->room.notify_one();
  }
  impl_->thread.join();
}

std::shared_ptr<const Cta> Reader::Stream::next() {
  Impl& s = *impl_;
  std::unique_lock<std::mutex> lock(s.mutex);
  s.taker_waits = true;
  s.more.wait(lock, [&s] { return !s.ready.empty() || s.done; });
  s.taker_waits = false;
  if (s.ready.empty()) {
    if (s.error) std::rethrow_exception(s.error);
    return nullptr;
  }
  std::shared_ptr<const Cta> cta = std::move(s.ready.front().cta);
  s.ready_bytes -= s.ready.front().bytes;
  s.ready.pop_front();
  if (s.reader_waits && (s.ready.empty() || s.half_gone())) s.room.notify_one();
  return cta;
}

std::unique_ptr<Reader::Stream> Reader::stream(std::size_t first, std::size_t count) const {
  auto impl = std::make_unique<Stream::Impl>();
  impl->file = impl_->file;
  impl->next = std::min(first, impl_->file->ctas.size());
  impl->end = impl->next + std::min(count, impl_->file->ctas.size() - impl->next);
  return std::unique_ptr<Stream>(new Stream(std::move(impl)));
}

}  // namespace regatta::trace
