// SPDX-License-Identifier: Apache-2.0
#include "frame_writer.h"

#include <csignal>
#include <cstring>
#include <utility>

#include "codec.h"

namespace regatta::trace {

namespace {

/// Frames that wait may take this much; one may always wait.
constexpr std::uint64_t most_waiting_bytes = 32 << 20;

template <class T>
std::uint64_t bytes_of(const std::vector<T>& column) {
  return column.size() * sizeof(T);
}

std::uint64_t bytes_of(const WarpColumns& w) {
  return bytes_of(w.run_start) + bytes_of(w.run_length) + bytes_of(w.mask_at) + bytes_of(w.mask) +
         bytes_of(w.guard_mask) + w.address_kind.size() + bytes_of(w.address_base) + bytes_of(w.address_delta) +
         w.value_kind.size() + w.value_data.size() + bytes_of(w.predicate) + bytes_of(w.stack_at) +
         bytes_of(w.stack_event) + bytes_of(w.stack_mask) + w.shared_value_kind.size() + w.shared_value_data.size();
}

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

void FrameWriter::begin(std::uint32_t version) {
  begun_ = true;
  char header[file_header_bytes];
  std::memcpy(header, file_magic.data(), file_magic.size());
  for (unsigned i = 0; i < 4; ++i) header[file_magic.size() + i] = static_cast<char>(version >> (8 * i) & 0xff);
  write(header, sizeof header);
}

std::string FrameWriter::serialized(FrameKind kind, const google::protobuf::MessageLite& message) {
  const std::size_t bytes = message.ByteSizeLong();
  if (bytes > max_raw_bytes) {
    throw InputError(file_.path() + ": a " + to_string(kind) + " takes " + std::to_string(bytes) +
                     " bytes, a trace holds at most " + std::to_string(max_raw_bytes) + " in one frame");
  }
  std::string raw;
  if (!message.AppendToString(&raw)) throw std::logic_error("trace::Writer: a message cannot be serialized");
  return raw;
}

void FrameWriter::add(FrameKind kind, const google::protobuf::MessageLite& message, proto::FrameReference& reference) {
  Job job;
  job.kind = kind;
  job.reference = &reference;
  job.raw = serialized(kind, message);
  job.bytes = job.raw.size();
  add(std::move(job));
}

void FrameWriter::add(Cta&& cta, proto::FrameReference& reference) {
  Job job;
  job.reference = &reference;
  for (const WarpColumns& warp : cta.warps) job.bytes += bytes_of(warp);
  job.cta = std::move(cta);
  add(std::move(job));
}

void FrameWriter::add(Job&& job) {
  if (!thread_.joinable()) {
    const WithoutSignals none;
    thread_ = std::thread([this] { run(); });
  }
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock,
                [&] { return error_ != nullptr || jobs_.empty() || waiting_bytes_ + job.bytes <= most_waiting_bytes; });
  if (error_ != nullptr) std::rethrow_exception(error_);
  waiting_bytes_ += job.bytes;
  jobs_.push_back(std::move(job));
  lock.unlock();
  changed_.notify_all();
}

void FrameWriter::drain() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return error_ != nullptr || jobs_.empty(); });
  if (error_ != nullptr) std::rethrow_exception(error_);
}

void FrameWriter::run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ends_ || !jobs_.empty(); });
    if (ends_) return;
    Job& job = jobs_.front();  // stays where it is when others are added
    lock.unlock();
    std::exception_ptr error;
    try {
      write_frame(job);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    waiting_bytes_ -= job.bytes;
    jobs_.pop_front();
    error_ = error;
    changed_.notify_all();
    if (error_ != nullptr) return;
  }
}

void FrameWriter::write_frame(Job& job) {
  if (job.kind == FrameKind::cta) {
    message_.Clear();
    encode(job.cta, message_);
    job.cta = Cta();  // half of what it takes
    job.raw = serialized(job.kind, message_);
  }
  FrameHeader header;
  header.kind = job.kind;
  header.raw_bytes = job.raw.size();
  header.compressed_bytes = compressor_.compress(job.raw, compressed_);
  header.checksum = checksum(header, compressed_.data());
  job.reference->set_offset(offset_);
  job.reference->set_compressed_bytes(header.compressed_bytes);
  job.reference->set_raw_bytes(header.raw_bytes);
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
  file_.commit();
}

}  // namespace regatta::trace
