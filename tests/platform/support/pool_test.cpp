// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/pool.h>
#include <regatta/test/catch.h>

#include <set>
#include <vector>

using regatta::support::Pool;

TEST_CASE("objects are distinct, stay put, and are used again") {
  Pool<std::vector<int>, 4> pool;
  CHECK(pool.capacity() == 0);
  std::set<std::vector<int>*> taken;
  for (int i = 0; i < 9; ++i) taken.insert(pool.acquire());
  CHECK(taken.size() == 9);
  CHECK(pool.capacity() == 12);
  CHECK(pool.in_use() == 9);
  std::vector<int>* last = *taken.begin();
  last->assign(100, 7);
  for (auto* object : taken) {
    if (object != last) pool.release(object);
  }
  pool.release(last);
  CHECK(pool.in_use() == 0);
  std::vector<int>* again = pool.acquire();
  CHECK(again == last);
  CHECK(again->size() == 100);
  pool.release(again);
}

TEST_CASE("no chunk is added in the steady state") {
  Pool<int, 8> pool;
  for (int round = 0; round < 1000; ++round) {
    std::vector<int*> taken;
    for (int i = 0; i < 8; ++i) taken.push_back(pool.acquire());
    for (int* object : taken) pool.release(object);
  }
  CHECK(pool.capacity() == 8);
}

TEST_CASE("a handle gives its object back") {
  Pool<int> pool;
  {
    auto handle = pool.make();
    *handle = 3;
    CHECK(pool.in_use() == 1);
  }
  CHECK(pool.in_use() == 0);
}
