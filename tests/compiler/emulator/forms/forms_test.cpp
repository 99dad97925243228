// SPDX-License-Identifier: Apache-2.0
//
// Runs every row of the table of forms, and sees to it that no form of core_forms.txt is without a row.
#include "run.h"

#include "../harness.h"

#include <regatta/ptx/ptx.h>
#include <regatta/test/catch.h>
#include <regatta/trace/types.h>

#include <fstream>
#include <set>

using namespace regatta::test::forms;

namespace {

/// All four ways for each row. At most this many messages are shown.
void run(const Rows& rows) {
  constexpr std::size_t shown = 40;
  std::size_t bad = 0;
  for (const Row& row : rows)
    for (const Configuration& c : {Configuration{32, 255}, Configuration{64, 255}, Configuration{32, 16}}) {
      const std::string wrong = run_row(row, c);
      if (wrong.empty()) continue;
      if (++bad <= shown)
        UNSCOPED_INFO("warp size " << c.warp_size << ", registers " << c.max_registers << ": " << wrong);
      break;
    }
  CHECK(bad == 0);
  CHECK(!rows.empty());
}

std::vector<std::string> listed(const std::string& file) {
  std::ifstream in(REGATTA_FORMS + file);
  std::vector<std::string> forms;
  for (std::string line; std::getline(in, line);)
    if (!line.empty() && line[0] != '#') forms.push_back(line);
  return forms;
}

}  // namespace

TEST_CASE("forms: integer arithmetic and bit fields") { run(integer_rows()); }
TEST_CASE("forms: logic, comparison, selection, moves") { run(logic_rows()); }
TEST_CASE("forms: f32 and f64") { run(float_rows()); }
TEST_CASE("forms: f16 and f16x2") { run(half_rows()); }
TEST_CASE("forms: conversions") { run(convert_rows()); }
TEST_CASE("forms: loads and stores") { run(memory_rows()); }
TEST_CASE("forms: atomics and reductions") { run(atomic_rows()); }
TEST_CASE("forms: between lanes") { run(lane_rows()); }
TEST_CASE("forms: control, barriers, fences") { run(control_rows()); }

TEST_CASE("forms: textures and surfaces") { run(texture_rows()); }
TEST_CASE("forms: packed and narrow formats, tests of numbers, cache hints") { run(packed_rows()); }
TEST_CASE("forms: video instructions") { run(video_rows()); }

TEST_CASE("forms: asynchronous copies and mbarriers") { run(async_rows()); }

TEST_CASE("every form of the list has a row") {
  std::set<std::string> covered;
  for (const auto& rows :
       {integer_rows(), logic_rows(), float_rows(), half_rows(), convert_rows(), memory_rows(), atomic_rows(),
        lane_rows(), control_rows(), texture_rows(), packed_rows(), video_rows(), async_rows()})
    for (const Row& row : rows) {
      INFO(row.form);
      // The name of a row is not a claim: its kernel has an instruction of that form.
      CHECK(row.body.find(row.form) != std::string::npos);
      covered.insert(row.form);
    }
  const std::vector<std::string> forms = listed("/core_forms.txt"), intrinsics = listed("/intrinsic_forms.txt");
  CHECK(forms.size() == 932);
  CHECK(intrinsics.size() == 337);
  for (const auto* list : {&forms, &intrinsics})
    for (const std::string& form : *list) {
      INFO(form << " is not in the table");
      CHECK(covered.count(form) == 1);
    }
}

TEST_CASE("forms outside the list's core are refused by name and place") {
  const std::vector<std::string> forms = listed("/refused_forms.txt");
  CHECK(forms.size() == 1);
  for (const std::string& form : forms) {
    INFO(form);
    std::string message;
    try {
      regatta::ptx::parse_module(regatta::test::module_text("", "  " + form + " {%r1}, [%r2];\nret;\n"), "k.ptx");
    } catch (const regatta::trace::InputError& e) {
      message = e.what();
    }
    CHECK(message.find("k.ptx:6:3: error: ") == 0);
    CHECK(message.find("'" + form + "' is not supported") != std::string::npos);
  }
}
