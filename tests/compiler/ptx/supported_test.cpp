// SPDX-License-Identifier: Apache-2.0
//
// The page on supported PTX says what the tables say.
#include <regatta/ptx/ptx.h>

#include <regatta/test/catch.h>

#include <fstream>
#include <sstream>

using namespace regatta;

namespace {

/// The lines of a page that start as a row of a table for `instruction`.
std::string row(const std::string& page, const std::string& instruction) {
  const std::size_t at = page.find("\n| `" + instruction + "` |");
  return at == std::string::npos ? "" : page.substr(at + 1, page.find('\n', at + 1) - at - 1);
}

}  // namespace

TEST_CASE("supported PTX: the page is what the tables make") {
  std::ifstream in(REGATTA_SOURCE_DIR "/compiler/ptx/SUPPORTED.md");
  std::stringstream page;
  page << in.rdbuf();
  INFO("make it again: regatta-annotate --list-instructions > compiler/ptx/SUPPORTED.md");
  // Not CHECK(a == b): nobody reads two pages in a message.
  const bool same = page.str() == ptx::supported_ptx();
  CHECK(same);
}

TEST_CASE("supported PTX: rows name modifiers, types and operands") {
  const std::string page = ptx::supported_ptx();
  CHECK(row(page, "fns") == "| `fns` |  | `.b32` |  | 4 |");
  CHECK(row(page, "vote.sync") == "| `vote.sync` | `.all` `.any` `.uni` | `.pred` |  | 3 |");
  CHECK(row(page, "dp4a") == "| `dp4a` |  | `.u32` `.s32` | `.u32` `.s32` | 4 |");
  CHECK(row(page, "bar.sync") == "| `bar.sync` | `.cta` |  |  | 1 to 2 |");
  CHECK(row(page, "shfl.sync") == "| `shfl.sync` | `.up` `.down` `.bfly` `.idx` | `.b32` |  | 5 |");
  CHECK(row(page, "wmma").empty());
  CHECK(page.find("`%reserved_smem_offset_1`") != std::string::npos);
  CHECK(page.find("| tensor core instruction of sm_100 | `tcgen05` |") != std::string::npos);
}
