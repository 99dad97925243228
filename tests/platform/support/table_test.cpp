// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/table.h>
#include <regatta/test/catch.h>

#include <cmath>

using namespace regatta::support;

TEST_CASE("columns are aligned") {
  Table table({{"name"}, {"cycles", Table::Align::right}, {"unit"}});
  table.row({"a", "1,000", "cycles"});
  table.row({"é\u00b5", "5"});
  table.rule();
  table.row({"longer", "12"});
  CHECK(table.str() ==
        "name    cycles  unit\n"
        "----------------------\n"
        "a        1,000  cycles\n"
        "éµ           5\n"
        "----------------------\n"
        "longer      12\n");
  CHECK_THROWS_AS(table.row({"1", "2", "3", "4"}), std::logic_error);
}

TEST_CASE("numbers for people") {
  CHECK(with_thousands(0) == "0");
  CHECK(with_thousands(999) == "999");
  CHECK(with_thousands(1000) == "1,000");
  CHECK(with_thousands(UINT64_MAX) == "18,446,744,073,709,551,615");
  CHECK(fixed(1234.5, 2) == "1,234.50");
  CHECK(fixed(-1234567.0, 0) == "-1,234,567");
  CHECK(fixed(-0.001, 1) == "0.0");
  CHECK(fixed(NAN, 2) == "-");
  CHECK(with_prefix(1234567, "instr/s") == "1.23 M instr/s");
  CHECK(with_prefix(999.7, "B") == "1.00 k B");
  CHECK(with_prefix(12.345, "x") == "12.3 x");
  CHECK(with_prefix(0, "x") == "0.00 x");
  CHECK(bytes_text(100) == "100 B");
  CHECK(bytes_text(1536) == "1.5 KiB");
  CHECK(bytes_text(1048575) == "1.0 MiB");
  CHECK(percent(0.25) == "25.0%");
  CHECK(percent(NAN) == "-");
  CHECK(duration_text(0.85) == "850 ms");
  CHECK(duration_text(12.34) == "12.3 s");
  CHECK(duration_text(125.0) == "2 m 05 s");
  CHECK(duration_text(3720.0) == "1 h 02 m");
}
