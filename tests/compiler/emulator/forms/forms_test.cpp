// SPDX-License-Identifier: Apache-2.0
//
// Runs every row of the table of forms, and sees to it that no form of core_forms.txt is without a row.
#include "run.h"

#include <regatta/test/catch.h>

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
  CHECK(rows.size() > 0);
  CHECK(bad == 0);
}

std::vector<std::string> core_forms() {
  std::ifstream in(REGATTA_CORE_FORMS);
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

TEST_CASE("every form of the list has a row") {
  std::set<std::string> covered;
  for (const auto& rows : {integer_rows(), logic_rows(), float_rows(), half_rows(), convert_rows(), memory_rows(),
                           atomic_rows(), lane_rows(), control_rows()})
    for (const Row& row : rows) {
      INFO(row.form);
      // The name of a row is not a claim: its kernel has an instruction of that form.
      CHECK(row.body.find(row.form) != std::string::npos);
      covered.insert(row.form);
    }
  const std::vector<std::string> forms = core_forms();
  CHECK(forms.size() == 499);
  for (const std::string& form : forms) {
    INFO(form << " is not in the table");
    CHECK(covered.count(form) == 1);
  }
}
