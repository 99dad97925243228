// SPDX-License-Identifier: Apache-2.0
//
// regatta-trace on what regatta-annotate writes. Its own tests (tests/traces) look at its output in detail.
#include <regatta/test/catch.h>
#include <regatta/trace/file.h>

#include "kernels.h"
#include "process.h"

using namespace regatta;
using test::Folder;
using test::ProcessResult;
using test::Size;

namespace {

ProcessResult run(const Folder& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), REGATTA_TRACE);
  test::ProcessOptions o;
  o.directory = folder.path();
  return test::run_process(arguments, o);
}

void trace_refuses(const Folder& folder, const std::vector<std::string>& arguments, const std::string& message) {
  const ProcessResult r = run(folder, arguments);
  CHECK(r.err == "regatta-trace: " + message + "\n");
  CHECK(r.out.empty());
  CHECK(r.status == 2);
}

}  // namespace

TEST_CASE("regatta-trace: every kernel's trace is whole") {
  const Folder folder;
  for (const char* kernel : {"vector_add", "sgemm", "hotspot", "bfs"}) {
    CAPTURE(kernel);
    const std::string path = test::annotate_kernel(folder, kernel, Size::small);
    const ProcessResult verified = run(folder, {"verify", path});
    CHECK(verified.status == 0);
    CHECK(verified.out.find("ok") != std::string::npos);
    const ProcessResult info = run(folder, {"info", path});
    CHECK(info.status == 0);
    CHECK(info.out.find(kernel) != std::string::npos);
    const ProcessResult dump = run(folder, {"dump", path, "--cta", "0", "--warp", "0", "--limit", "5"});
    CHECK(dump.status == 0);
    CHECK(!dump.out.empty());
  }
}

TEST_CASE("regatta-trace: bad usage and bad files") {
  const Folder folder;
  test::annotate_kernel(folder, "sgemm", Size::small);
  const std::string whole = folder.read("sgemm.rgt");
  trace_refuses(folder, {}, "a command is missing: info, dump, verify or signatures (regatta-trace --help)");
  trace_refuses(folder, {"inf", "k.rgt"}, "unknown command 'inf'; did you mean 'info'? (regatta-trace --help)");
  trace_refuses(folder, {"dump", "k.rgt", "--cto", "1"},
                "unknown option '--cto'; did you mean '--cta'? (regatta-trace --help)");
  trace_refuses(folder, {"verify", "none.rgt"}, "none.rgt: cannot be opened: No such file or directory");
  folder.write("half.rgt", whole.substr(0, whole.size() / 2));
  trace_refuses(folder, {"verify", "half.rgt"},
                "half.rgt: byte " + std::to_string(whole.size() / 2 - 24) +
                    ": trailer: the end mark is missing: the file is truncated or was not finished");
}
