// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <algorithm>

namespace regatta::test {

std::vector<Expected> expected_btree(const LaunchData& data) {
  // Whatever the tree is like, a search finds what a search of the sorted keys finds.
  const auto keys = data.buffer<std::int32_t>("record_keys");
  const auto find = [&](std::int32_t key) -> std::int32_t {
    const auto at = std::lower_bound(keys.begin(), keys.end(), key);
    return at != keys.end() && *at == key ? static_cast<std::int32_t>(at - keys.begin()) : -1;
  };

  const auto values = data.buffer<std::int32_t>("values");
  const auto queries = data.buffer<std::int32_t>("queries");
  auto answers = data.buffer<std::int32_t>("answers");
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const std::int32_t record = find(queries[i]);
    if (record >= 0) answers[i] = values.at(static_cast<std::size_t>(record));
  }

  const auto starts = data.buffer<std::int32_t>("starts");
  const auto ends = data.buffer<std::int32_t>("ends");
  auto first_record = data.buffer<std::int32_t>("first_record");
  auto lengths = data.buffer<std::int32_t>("lengths");
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::int32_t first = find(starts[i]), last = find(ends[i]);
    if (first >= 0) first_record[i] = first;
    if (last >= 0) lengths[i] = last - first_record[i] + 1;
  }
  return {exact("answers", answers), exact("first_record", first_record), exact("lengths", lengths)};
}

}  // namespace regatta::test
