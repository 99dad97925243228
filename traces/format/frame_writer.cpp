// SPDX-License-Identifier: Apache-2.0
#include "frame_writer.h"

#include <array>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>

#include "codec.h"

namespace regatta::trace {

namespace {

/// Frames that wait may take this much; one may always wait.
constexpr std::uint64_t most_waiting_bytes = 32 << 20;
constexpr std::uint64_t batch_bytes = 512 << 10;

/// While it lives, new threads get no signals: those are for who runs the program.
class WithoutSignals {
 public:
  WithoutSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~WithoutSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

FrameWriter::~FrameWriter() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

namespace {

using VersionBytes = std::array<char, 4>;

VersionBytes pack_version(std::uint32_t version) {
  VersionBytes bytes;
  for (unsigned i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(version >> (8 * i) & 0xff);
  return bytes;
}

}  // namespace

void FrameWriter::begin(std::uint32_t version) {
  begun_ = true;
  version_ = version;
  write(file_magic.data(), file_magic.size());
  const VersionBytes bytes = pack_version(version);
  write(bytes.data(), bytes.size());
}

void FrameWriter::check_size(FrameKind kind, std::uint64_t bytes) const {
  if (bytes <= max_raw_bytes) return;
  throw InputError(file_.path() + ": a " + to_string(kind) + " takes " + std::to_string(bytes) +
                   " bytes, a trace holds at most " + std::to_string(max_raw_bytes) + " in one frame");
}

void FrameWriter::add(FrameKind kind, const google::protobuf::MessageLite& message, proto::FrameReference& reference) {
  Job job;
  job.kind = kind;
  job.reference = &reference;
  job.bytes = message.ByteSizeLong();
  check_size(kind, job.bytes);
  if (!message.AppendToString(&job.raw)) throw std::logic_error("trace::Writer: a message cannot be serialized");
  add(std::move(job));
}

void FrameWriter::end_launch(std::optional<LaunchSignature>& signature) {
  Job job;
  job.signature = &signature;
  add(std::move(job));
}

void FrameWriter::add_segment(WarpColumns&& columns, const Kernel& kernel) {
  Job job;
  job.kind = FrameKind::segment;
  job.kernel = &kernel;
  job.bytes = columns.bytes();
  job.cta.warps.push_back(std::move(columns));
  add(std::move(job));
}

void FrameWriter::add(Cta&& cta, const Kernel& kernel, proto::CtaReference& reference) {
  Job job;
  job.kernel = &kernel;
  job.cta_reference = &reference;
  job.reference = reference.mutable_frame();
  for (const WarpColumns& warp : cta.warps) job.bytes += warp.bytes();
  job.cta = std::move(cta);
  add(std::move(job));
}

void FrameWriter::add(Job&& job) {
  batch_.bytes += job.bytes;
  batch_.jobs.push_back(std::move(job));
  if (batch_.bytes >= batch_bytes) hand_over();
}

Cta FrameWriter::storage() {
  if (storage_.empty()) return {};
  Cta cta = std::move(storage_.back());
  storage_.pop_back();
  return cta;
}

void FrameWriter::hand_over() {
  if (batch_.jobs.empty()) return;
  if (!thread_.joinable()) {
    const WithoutSignals none;
    thread_ = std::thread([this] { run(); });
  }
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] {
    return error_ != nullptr || batches_.empty() || waiting_bytes_ + batch_.bytes <= most_waiting_bytes;
  });
  if (error_ != nullptr) std::rethrow_exception(error_);
  waiting_bytes_ += batch_.bytes;
  batches_.push_back(std::exchange(batch_, {}));
  for (Cta& cta : returned_) storage_.push_back(std::move(cta));
  returned_.clear();
  lock.unlock();
  changed_.notify_all();
}

void FrameWriter::drain() {
  hand_over();
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return error_ != nullptr || batches_.empty(); });
  if (error_ != nullptr) std::rethrow_exception(error_);
}

void FrameWriter::run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ends_ || !batches_.empty(); });
    if (ends_) return;
    Batch& batch = batches_.front();  // stays where it is when others are added
    lock.unlock();
    std::exception_ptr error;
    try {
      for (Job& job : batch.jobs) write_job(job);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    waiting_bytes_ -= batch.bytes;
    batches_.pop_front();
    for (Cta& cta : written_) returned_.push_back(std::move(cta));
    written_.clear();
    error_ = error;
    changed_.notify_all();
    if (error_ != nullptr) return;
  }
}

void FrameWriter::recycle(Cta& cta, std::uint64_t bytes) {
  Cta storage = std::move(cta);
  cta = Cta();
  if (bytes > batch_bytes) return;  // few are so large, and their memory is worth more than the time to get it again
  written_.push_back(std::move(storage));
}

void FrameWriter::write_job(Job& job) {
  if (job.signature != nullptr) {
    *job.signature = signature_.finish();
    return;
  }
  FrameHeader header;
  if (job.kind == FrameKind::segment) {
    WarpColumns& columns = job.cta.warps.front();
    const char* const bytes = serializer_.serialize(columns);
    const std::string_view raw{bytes, serializer_.bytes()};
    check_size(job.kind, raw.size());
    write_frame(job.kind, raw, header);
    segments_.push_back({columns.warp, header.compressed_bytes, header.raw_bytes, header.checksum});
    signature_.add_segment(std::move(columns), *job.kernel);
    job.cta = Cta();
    return;
  }
  if (job.kind == FrameKind::cta) {
    std::uint64_t segment_bytes = 0, segment_raw_bytes = 0;
    for (const SegmentPlace& s : segments_) {
      segment_bytes += frame_header_bytes + s.bytes;
      segment_raw_bytes += s.raw_bytes;
    }
    job.cta_reference->set_segment_bytes(segment_bytes);
    job.cta_reference->set_segment_raw_bytes(segment_raw_bytes);
    signature_.add(job.cta, *job.kernel);
    const char* const bytes = serializer_.serialize(job.cta, segments_);
    segments_.clear();
    recycle(job.cta, job.bytes);
    check_size(job.kind, serializer_.bytes());
    write_frame(job.kind, {bytes, serializer_.bytes()}, header);
  } else {
    write_frame(job.kind, job.raw, header);
  }
  job.reference->set_offset(offset_ - frame_header_bytes - header.compressed_bytes);
  job.reference->set_compressed_bytes(header.compressed_bytes);
  job.reference->set_raw_bytes(header.raw_bytes);
}

void FrameWriter::write_frame(FrameKind kind, std::string_view raw, FrameHeader& header) {
  header.kind = kind;
  header.raw_bytes = raw.size();
  header.compressed_bytes = compressor_.compress(raw, compressed_);
  header.checksum = checksum(header, compressed_.data());
  const FrameHeaderBytes packed = pack(header);
  write(packed.data(), packed.size());
  write(compressed_.data(), header.compressed_bytes);
}

void FrameWriter::finish(const proto::Index& index, std::uint32_t version) {
  drain();
  proto::FrameReference place;
  add(FrameKind::index, index, place);
  drain();
  const TrailerBytes trailer = pack_trailer(place.offset(), version);
  write(trailer.data(), trailer.size());
  if (version != version_) {
    const VersionBytes bytes = pack_version(version);
    file_.patch(file_magic.size(), {bytes.data(), bytes.size()});
  }
  file_.commit();
}

}  // namespace regatta::trace
