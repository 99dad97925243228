// SPDX-License-Identifier: Apache-2.0
//
// A trace file (.rgt): a header, one zstd frame per static part and per CTA, an index at the end.
// The writer never leaves a half-written file under its final name; the reader streams CTA by CTA,
// decompressing ahead in a second thread, and can seek to any CTA through the index.
#pragma once

#include <regatta/trace/kernel.h>
#include <regatta/trace/section_registry.h>
#include <regatta/trace/warp_stream.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace regatta::trace {

/// The newest version of the file format; a reader refuses a newer one by number.
inline constexpr std::uint32_t format_version = 6;
/// The version of a file with a kernel that has asynchronous operations: the newest.
inline constexpr std::uint32_t async_format_version = 6;
/// The version of a file with a kernel that has a matrix product, register budgets or the barrier of a cluster, and
/// none of these.
inline constexpr std::uint32_t tensor_format_version = 5;
inline constexpr std::uint32_t roles_format_version = 5;
/// The version of a file with a kernel that accesses textures or surfaces, or whose results are version tags, and none
/// of these.
inline constexpr std::uint32_t textures_format_version = 4;
/// The version of a file with a warp in segments, and none of these.
inline constexpr std::uint32_t segments_format_version = 3;
/// The version of a file with several codes of its program, and no warp in segments.
inline constexpr std::uint32_t variants_format_version = 2;
/// The version of a file with a single code of its program, and no warp in segments.
inline constexpr std::uint32_t plain_format_version = 1;

/// The least version of a file with this kernel, as far as its static part tells.
std::uint32_t version_needed(const Kernel& kernel);

/// The first code of a trace, which all schemes run on that no other variant is for.
inline constexpr const char* plain_variant = "plain";

/// One code of the traced program.
struct Variant {
  std::string name;                  ///< lower-case letters, digits and '_'
  std::vector<std::string> schemes;  ///< that run on this code; none for `plain_variant`
  std::string options;               ///< of regatta-annotate, that make this code: "--max-registers 63"
};

/// Writes a trace, as a base::OutputFile: data get the name `path` in finish(); a writer that is destroyed before
/// leaves nothing behind. `path` may also be a device or a pipe. Throws base::InputError when it cannot be written.
class Writer {
 public:
  /// `sections`: the annotations that add_kernel() looks into.
  explicit Writer(const std::string& path, SectionRegistry sections = SectionRegistry::with_builtin());
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// Free text about the origin ("regatta-annotate 0.1.0 --launch ..."), shown by `regatta-trace info`.
  void set_producer(const std::string& producer);
  /// Says that a kernel follows that needs a file of this version (version_needed()). Needed only if it is not the
  /// first kernel, and the file is a device or a pipe. Before the first kernel.
  void announce_version(std::uint32_t version);
  /// Says that begin_variant() follows. The file is then of version 2. Before the first kernel.
  void announce_variants();
  /// Begins another code of the program: the kernels and launches that follow are its own, numbered from 0. Throws
  /// std::logic_error for a name or a scheme that is there already.
  void begin_variant(const Variant& variant);
  /// Adds a kernel; returns its index. This and the next two throw std::logic_error for what cannot be in a trace
  /// (a register beyond registers_per_thread, a CTA out of order ...).
  std::uint32_t add_kernel(const Kernel& kernel);
  /// Opens a launch; its CTAs follow. cta_count, the instruction counts and the signature are filled in by the writer.
  std::uint32_t begin_launch(const Launch& launch);
  /// Adds a CTA of the open launch: first_cta, then ascending without a gap. It is compressed and written on a thread
  /// of the writer, at most 32 MiB or one CTA behind. If that fails, a later call throws.
  void add_cta(Cta&& cta);
  void add_cta(const Cta& cta);
  /// Whether add_segment() can be called: not if `path` is a device or a pipe.
  bool takes_segments() const;
  /// Adds a segment of a warp of the CTA of the open launch that is added next; `columns.cta` and `columns.warp` name
  /// it. All columns of a warp with segments lie in them.
  void add_segment(WarpColumns&& columns);
  /// Memory for the columns of a CTA that is to be added: that of CTAs that were written. What is in it does not count.
  Cta storage();
  /// Writes the index and gives the file its final name.
  void finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Digest of a kernel's code: equal ones are the same instructions, blocks and registers. Annotations, inserted
/// instructions, names of files and line numbers do not count.
std::uint64_t code_digest(const Kernel& kernel);
/// Whether two kernels are the same in all that a trace says of them.
bool same_static_part(const Kernel& a, const Kernel& b);

/// Reads a trace. Everything that is wrong with a file throws InputError with path, place and reason.
class Reader {
 public:
  struct CtaEntry {
    std::uint32_t launch = 0;
    std::uint64_t index = 0;
    std::uint64_t offset = 0;            ///< of the frame in the file, bytes
    std::uint64_t compressed_bytes = 0;  ///< frame payload
    std::uint64_t raw_bytes = 0;
    std::uint64_t segment_bytes = 0;      ///< before the frame, in the file
    std::uint64_t segment_raw_bytes = 0;  ///< of their payloads
    std::uint64_t warp_instructions = 0;
    std::uint64_t thread_instructions = 0;
  };

  /// A variant of the file, and how much of the file it is.
  struct VariantEntry {
    Variant variant;
    std::uint64_t kernels = 0;
    std::uint64_t launches = 0;
    std::uint64_t ctas = 0;
    std::uint64_t bytes = 0;  ///< of its frames
  };

  /// `sections`: the annotations that are looked into; a kernel that does not fit its annotations is refused.
  /// `variant`: the one that is read. Of the others only the places of their frames are checked.
  explicit Reader(const std::string& path, SectionRegistry sections = SectionRegistry::with_builtin(),
                  const std::string& variant = plain_variant);
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  const std::string& path() const;
  const std::string& producer() const;
  std::uint32_t version() const;
  std::uint64_t file_bytes() const;
  /// All variants of the file; the first is `plain_variant`.
  const std::vector<VariantEntry>& variants() const;
  /// The one that this object reads.
  const Variant& variant() const;
  const std::vector<Kernel>& kernels() const;
  const std::vector<Launch>& launches() const;
  const SectionRegistry& sections() const;
  /// All CTAs in file order.
  const std::vector<CtaEntry>& ctas() const;

  /// code_digest() of a kernel, as its frame has it.
  std::uint64_t code_digest(std::size_t kernel) const;
  /// Digest of what the CTAs did, with their values and addresses: the sizes of all, the checksums of 64 of them at
  /// most. It depends on the code, and on the version of the compression library.
  std::uint64_t data_digest() const;

  /// Reads one CTA by its position in ctas(); may be called in any order, from one thread at a time, also while
  /// streams are open. Throws std::out_of_range for a position beyond ctas().
  std::shared_ptr<const Cta> read(std::size_t position) const;

  /// Streams CTAs `first` .. `first+count-1` (or to the last) in order. A second thread reads ahead: up to 64 wait
  /// decompressed, or 4 MiB of them, one whatever its size. A stream may outlive its reader.
  class Stream {
   public:
    ~Stream();
    /// The next CTA, or nullptr at the end. Rethrows what the reading thread met.
    std::shared_ptr<const Cta> next();

   private:
    friend class Reader;
    struct Impl;
    explicit Stream(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
  };
  std::unique_ptr<Stream> stream(std::size_t first, std::size_t count) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace regatta::trace
