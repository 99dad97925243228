// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <regatta/base/error.h>
#include <regatta/base/output_file.h>
#include <regatta/base/path.h>
#include <regatta/base/temporaries.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

namespace regatta::base {
namespace {

/// So often the disk is asked to begin, so that commit() has little to wait for.
constexpr std::uint64_t send_bytes = 8 << 20;

/// The descriptor among standard output and standard error that writes to this very file, -1 if none does.
int standard_descriptor(const struct stat& file) {
  for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat status {};
    if (fstat(descriptor, &status) == 0 && status.st_dev == file.st_dev && status.st_ino == file.st_ino) {
      return descriptor;
    }
  }
  return -1;
}

/// Opens a named pipe for writing, once a process reads it. -1 and errno on failure.
int open_pipe(const std::string& path) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(pipe_wait_ms);
  for (;;) {
    const int descriptor = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor >= 0) {
      fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
      return descriptor;
    }
    if (errno != ENXIO || std::chrono::steady_clock::now() > end) return -1;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
  struct stat status {};
  const bool exists = stat(path_.c_str(), &status) == 0;
  if (!exists && errno == ELOOP) fail(ELOOP);
  if (exists && S_ISDIR(status.st_mode)) fail(EISDIR);
  const int standard = exists ? standard_descriptor(status) : -1;
  if (standard >= 0) {
    // Its own open file, with the place where the program writes: the other one would be overwritten, or gone.
    const int descriptor = dup(standard);
    if (descriptor < 0) fail(errno);
    take(descriptor);
  } else if (exists && !S_ISREG(status.st_mode)) {
    open_directly(S_ISFIFO(status.st_mode));
  } else {
    if (exists && access(path_.c_str(), W_OK) != 0) fail(errno);  // rename would not ask
    open_temporary();
    // A file that is replaced keeps its mode.
    if (exists) fchmod(fileno(file_), status.st_mode & 07777);
  }
}

void OutputFile::open_directly(bool is_pipe) {
  const int descriptor = is_pipe ? open_pipe(path_) : open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0 && is_pipe && errno == ENXIO) {
    throw InputError("cannot write '" + path_ + "': it is a pipe that no process reads (waited " +
                     std::to_string(pipe_wait_ms / 1000) + " s)");
  }
  if (descriptor < 0) fail(errno);
  take(descriptor);
}

void OutputFile::take(int descriptor) {
  file_ = fdopen(descriptor, "wb");
  if (file_ != nullptr) return;
  const int error = errno;
  close(descriptor);
  fail(error);
}

void OutputFile::open_temporary() {
  // Through a symbolic link, the file it names is replaced, not the link.
  target_ = follow_links(path_);
  if (path_.empty() || path_.back() == '/') fail(path_.empty() ? ENOENT : EISDIR);
  for (;;) {
    temporary_ = Temporary::make(target_);
    const int descriptor = open(temporary_->name(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) file_ = fdopen(descriptor, "wb");
    if (file_ != nullptr) return;
    const int error = errno;
    if (descriptor >= 0) {
      close(descriptor);
      unlink(temporary_->name());
    }
    temporary_->release();
    temporary_ = nullptr;
    if (error != EEXIST) fail(error);
  }
}

OutputFile::~OutputFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  if (temporary_ != nullptr) {
    unlink(temporary_->name());
    temporary_->release();
  }
}

void OutputFile::fail(int error) const { throw InputError("cannot write '" + path_ + "': " + std::strerror(error)); }

void OutputFile::write(std::string_view bytes) {
  if (error_ == 0 && !bytes.empty() && std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) {
    error_ = errno;
  }
  if (error_ != 0) fail(error_);
  unsent_ += bytes.size();
  if (unsent_ >= send_bytes && temporary_ != nullptr) {
    unsent_ = 0;
#ifdef SYNC_FILE_RANGE_WRITE
    // What the file system makes of it does not matter: commit() waits for all.
    static_cast<void>(sync_file_range(fileno(file_), 0, 0, SYNC_FILE_RANGE_WRITE));
#endif
  }
}

void OutputFile::patch(std::uint64_t offset, std::string_view bytes) {
  if (error_ == 0 && std::fflush(file_) != 0) error_ = errno;
  while (error_ == 0 && !bytes.empty()) {
    const ssize_t written = pwrite(fileno(file_), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno != EINTR) error_ = errno;
    if (written <= 0) continue;
    offset += static_cast<std::uint64_t>(written);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  if (error_ != 0) fail(error_);
}

void OutputFile::commit() {
  // The C library forgets what it could not write, and would flush the rest as if nothing had happened.
  if (error_ == 0 && std::fflush(file_) != 0) error_ = errno;
  if (error_ != 0) fail(error_);
  // Devices and pipes have nothing to sync; the result of a regular file must be on the disk before its name is.
  if (temporary_ != nullptr) {
    // Some network file systems cannot sync and say so.
    if (fsync(fileno(file_)) != 0 && errno != EINVAL && errno != ENOSYS) fail(errno);
    if (std::rename(temporary_->name(), target_.c_str()) != 0) fail(errno);
    temporary_->release();
    temporary_ = nullptr;
  }
  std::FILE* const done = file_;
  file_ = nullptr;
  // A network file system may report a full disk only here.
  if (std::fclose(done) != 0) fail(errno);
}

void write_file(const std::string& path, std::string_view bytes) {
  OutputFile file(path);
  file.write(bytes);
  file.commit();
}

}  // namespace regatta::base
