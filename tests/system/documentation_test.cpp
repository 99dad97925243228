// SPDX-License-Identifier: Apache-2.0
//
// What pages and comments name is there: pages, links, and the options of the tools.
#include <regatta/test/catch.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

#include "process.h"

using namespace regatta;
namespace fs = std::filesystem;

namespace {

const fs::path root = REGATTA_SOURCE_DIR;

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Files of ours with one of these extensions.
std::vector<fs::path> files_with(const std::set<std::string>& extensions) {
  std::vector<fs::path> files;
  for (const char* room : {"compiler", "examples", "models", "platform", "tests", "traces"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / room)) {
      if (entry.is_regular_file() && extensions.count(entry.path().extension().string()) != 0)
        files.push_back(entry.path());
    }
  }
  for (const auto& entry : fs::directory_iterator(root)) {
    if (entry.is_regular_file() && extensions.count(entry.path().extension().string()) != 0)
      files.push_back(entry.path());
  }
  return files;
}

std::set<std::string> matches(const std::string& text, const std::regex& pattern) {
  std::set<std::string> found;
  for (std::sregex_iterator m(text.begin(), text.end(), pattern), end; m != end; ++m) found.insert((*m)[1]);
  return found;
}

std::string output(const std::vector<std::string>& command) {
  const test::ProcessResult r = test::run_process(command);
  REQUIRE(r.status == 0);
  return r.out;
}

}  // namespace

TEST_CASE("pages that are cited are in the repository") {
  std::set<std::string> pages;
  for (const fs::path& page : files_with({".md"})) pages.insert(page.filename().string());
  REQUIRE(pages.count("README.md") == 1);
  const std::regex cited("([A-Za-z_0-9]+\\.md)\\b");
  for (const fs::path& file : files_with({".md", ".h", ".cpp", ".toml", ".cmake", ".py", ".sh"})) {
    if (file.filename() == "documentation_test.cpp") continue;
    CAPTURE(file.string());
    for (const std::string& page : matches(text_of(file), cited)) {
      CAPTURE(page);
      CHECK(pages.count(page) == 1);
    }
  }
}

TEST_CASE("every page has the same extension points") {
  // Links and anchors are the business of tests/scripts/pages_test.py.
  const std::string page = text_of(root / "platform/protocol/README.md");
  const std::set<std::string> points = matches(page, std::regex("\\n\\| \\[`(\\w+)`\\]\\(docs/"));
  REQUIRE(points.size() == 11);
  std::string path = text_of(root / "ARCHITECTURE.md");
  const std::size_t begin = path.find("## The path of an operand");
  path = path.substr(begin, path.find("\n## ", begin + 1) - begin);
  CHECK(matches(path, std::regex("`(\\w+)`")) == points);
  for (const char* other : {"README.md", "ARCHITECTURE.md"}) {
    CHECK(text_of(root / other).find("[eleven extension points](platform/protocol/README.md#extension-points)") !=
          std::string::npos);
  }
  // As the README says of TimeKeeper, all but these two derive from it.
  std::set<std::string> classes = {"WarpScheduler", "Observer"};
  for (const auto& entry : fs::directory_iterator(root / "platform/protocol/include/regatta/protocol")) {
    classes.merge(matches(text_of(entry), std::regex("\nclass (\\w+) : public virtual TimeKeeper,")));
  }
  CHECK(classes == points);
}

TEST_CASE("options that pages give to the tools exist") {
  std::string known = output({REGATTA_ANNOTATE, "--help"}) + output({REGATTA_TRACE, "--help"});
  for (const char* scheme : {"baseline", "regless", "wir", "always_on"}) {
    known += output({REGATTA_SIM, "--help", "--scheme", scheme});
  }
  const std::set<std::string> options = matches(known, std::regex("(--[a-z][a-z0-9_.-]*[a-z0-9])"));
  REQUIRE(options.count("--describe-stats") == 1);
  const std::regex option("(--[a-z][a-z0-9_.-]*[a-z0-9])");
  const std::regex call("(regatta-(?:sim|annotate|trace) [^`\\n]*)");
  std::size_t checked = 0;
  for (const fs::path& page : files_with({".md"})) {
    CAPTURE(page.string());
    for (const std::string& line : matches(text_of(page), call)) {
      CAPTURE(line);
      for (const std::string& name : matches(line, option)) {
        if (name == "--module.knob") continue;  // stands for any
        CHECK(options.count(name) == 1);
        ++checked;
      }
    }
  }
  CHECK(checked > 30);
}
