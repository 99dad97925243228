// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/progress.h>
#include <regatta/test/catch.h>

#include <memory>

using regatta::support::Progress;

namespace {
struct Capture {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* stream = open_memstream(&text, &size);
  ~Capture() {
    std::fclose(stream);
    free(text);
  }
  std::string str() {
    std::fflush(stream);
    return std::string(text, size);
  }
  Progress::Settings settings(bool terminal, int delay, int interval) const {
    Progress::Settings s;
    s.stream = stream;
    s.terminal = terminal;
    s.delay = std::chrono::milliseconds(delay);
    s.interval = std::chrono::milliseconds(interval);
    return s;
  }
};
}  // namespace

TEST_CASE("a terminal sees progress, and a clean line at the end") {
  Capture capture;
  {
    Progress progress("sim", 200, "instr", capture.settings(true, 0, 0));
    progress.update(50);
  }
  const std::string text = capture.str();
  CHECK(text.find("\rsim: [======                  ] 25.0%, ") == 0);
  CHECK(text.find(" left\x1b[K") != std::string::npos);
  CHECK(text.substr(text.size() - 4) == "\r\x1b[K");
}

TEST_CASE("without a total there is a count; beyond the total it stays full") {
  Capture capture;
  Progress unknown("read", 0, "B", capture.settings(true, 0, 0));
  unknown.update(1500);
  CHECK(capture.str().find("\rread: 1.50 k B, ") == 0);
  unknown.finish();
  Progress beyond("x", 10, "B", capture.settings(true, 0, 0));
  beyond.update(20);
  CHECK(capture.str().find("100.0%") != std::string::npos);
}

TEST_CASE("a pipe, a short run and a fast caller see little or nothing") {
  Capture capture;
  {
    Progress piped("sim", 10, "x", capture.settings(false, 0, 0));
    Progress brief("sim", 10, "x", capture.settings(true, 60000, 0));
    for (int i = 0; i < 10; ++i) piped.update(i), brief.update(i);
  }
  CHECK(capture.str().empty());
  {
    Progress fast("sim", 10, "x", capture.settings(true, 0, 60000));
    for (int i = 1; i < 10; ++i) fast.update(i);
  }
  const std::string text = capture.str();
  CHECK(text.find("10.0%") != std::string::npos);
  CHECK(text.find("20.0%") == std::string::npos);
}

TEST_CASE("the stream is asked whether it is a terminal") {
  Progress::Settings s;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  s.stream = file.get();
  s.delay = s.interval = std::chrono::milliseconds(0);
  Progress("sim", 10, "x", s).update(5);
  CHECK(std::ftell(file.get()) == 0);
}
