// SPDX-License-Identifier: Apache-2.0
#include <regatta/import/import.h>
#include <regatta/trace/verify.h>
#include <unistd.h>

#include <cstdio>
#include <stdexcept>

#include "outcome.h"
#include "probes.h"

namespace regatta::test {
namespace {

/// In memory where the machine has such a folder.
std::string trace_path() {
  const std::string folder = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : ".";
  return folder + "/regatta_probe_" + std::to_string(::getpid()) + ".rgt";
}

}  // namespace

Outcome probe_import(const std::string& bytes) {
  // An xz file and a page both have bytes of value 0, text has none.
  const bool paged = bytes.rfind(
                         "\xfd"
                         "7zXZ",
                         0) != 0 &&
                     bytes.find('\0') != std::string::npos;
  const std::string out = trace_path();
  try {
    import::import_bytes(bytes, paged, out);
  } catch (const base::InputError& e) {
    const std::string message = e.what();
    if (message.rfind(paged ? "memory.tracez" : "memory.traceg", 0) != 0 ||
        message.find("error: ") == std::string::npos) {
      throw std::logic_error("a message that does not begin with the file: '" + message + "'");
    }
    return {false, message};
  }
  // What was imported is a program's run. Barriers are not checked before: which of them a warp waits at is not in the
  // file.
  try {
    trace::verify(trace::Reader(out), trace::VerifyDepth::program);
  } catch (const trace::InputError& e) {
    if (std::string(e.what()).find("waits at barrier") == std::string::npos) {
      throw std::logic_error(std::string("an imported trace is malformed: ") + e.what());
    }
  }
  std::remove(out.c_str());
  return {true, ""};
}

}  // namespace regatta::test
