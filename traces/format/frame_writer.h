// SPDX-License-Identifier: Apache-2.0
//
// Writes frames to a file, on a thread of its own: compressing takes about as long as executing the program.
#pragma once

#include <regatta/base/output_file.h>
#include <regatta/trace/file.h>
#include <regatta/trace/launch_signature.h>
#include <trace.pb.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cta_bytes.h"
#include "frame.h"

namespace regatta::trace {

/// The file is the same however the threads run: frames are written in the order in which they are added.
///
/// What goes wrong on the thread (InputError: a full disk, a frame that is too large) is thrown by a later call, and
/// by each one after that; the file then never gets its name.
class FrameWriter {
 public:
  explicit FrameWriter(const std::string& path) : file_(path) {}
  /// Frames that were added and not written are dropped.
  ~FrameWriter();
  FrameWriter(const FrameWriter&) = delete;
  FrameWriter& operator=(const FrameWriter&) = delete;

  const std::string& path() const { return file_.path(); }
  /// Anything has been added: the version stands at the beginning of the file, and can no longer be chosen.
  bool has_begun() const { return begun_; }
  /// The format's version, which the first frame is written behind.
  void begin(std::uint32_t version);

  /// Places and sizes go to `reference`, which must stay where it is until finish(), or until this is destroyed.
  void add(FrameKind kind, const google::protobuf::MessageLite& message, proto::FrameReference& reference);
  /// `kernel` of its launch; stays where it is until drain().
  void add(Cta&& cta, const Kernel& kernel, proto::CtaReference& reference);
  /// A segment of warp `columns.warp` of the CTA that is added next.
  void add_segment(WarpColumns&& columns, const Kernel& kernel);
  /// The signature of the CTAs since the last call goes to `signature` by drain(). Made here, beside the execution of
  /// the program.
  void end_launch(std::optional<LaunchSignature>& signature);
  /// Memory of a CTA that has been written, for another one; no warps if none is left over. What is in it does not
  /// count.
  Cta storage();
  /// Waits until nothing is left to write.
  void drain();
  /// Waits until all is written; then writes the index and the trailer, and gives the file its name. References are
  /// whole when the index is written.
  void finish(const proto::Index& index, std::uint32_t version);
  /// Whether the version can be another one than that of begin(): not that of a device or a pipe.
  bool can_change_version() const { return file_.can_patch(); }

 private:
  /// A CTA, a segment, a message as bytes, or the end of a launch.
  struct Job {
    std::optional<LaunchSignature>* signature = nullptr;  ///< the end of a launch: nothing to write
    const Kernel* kernel = nullptr;
    FrameKind kind = FrameKind::cta;
    proto::CtaReference* cta_reference = nullptr;
    proto::FrameReference* reference = nullptr;
    std::uint64_t bytes = 0;  ///< what it takes, about
    Cta cta;
    std::string raw;
  };

  /// What the caller's thread gives at a time, so that small CTAs cost no wake-up each.
  struct Batch {
    std::vector<Job> jobs;
    std::uint64_t bytes = 0;
  };

  void add(Job&& job);
  void hand_over();
  void run();
  void write_job(Job& job);
  void write_frame(FrameKind kind, std::string_view raw, FrameHeader& header);
  void recycle(Cta& cta, std::uint64_t bytes);
  void write(const void* data, std::size_t bytes) {
    file_.write(data, bytes);
    offset_ += bytes;
  }
  void check_size(FrameKind kind, std::uint64_t bytes) const;

  base::OutputFile file_;
  bool begun_ = false;
  std::uint32_t version_ = 0;
  Batch batch_;               ///< not yet given to the thread
  std::vector<Cta> storage_;  ///< of CTAs that were written

  // Of the thread, while it runs.
  std::uint64_t offset_ = 0;
  CtaSerializer serializer_;
  SignatureBuilder signature_;          // of the open launch
  std::vector<Cta> written_;            // of the batch
  std::vector<SegmentPlace> segments_;  // of the next CTA
  Buffer compressed_;
  Compressor compressor_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Batch> batches_;  ///< the first one is being written
  std::vector<Cta> returned_;  ///< storage
  std::uint64_t waiting_bytes_ = 0;
  std::exception_ptr error_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace regatta::trace
