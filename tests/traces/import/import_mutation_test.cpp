// SPDX-License-Identifier: Apache-2.0
//
// Thousands of damaged traces of Accel-Sim: each is imported, and is then a program's run, or refused with a message
// that names the file; none crashes or hangs.
#include <mutate.h>
#include <probes.h>
#include <regatta/test/catch.h>
#include <regatta/test/patience.h>
#include <watchdog.h>

#include "hand_written.h"

using namespace regatta::test;

namespace {

constexpr unsigned rounds = 2000;

}  // namespace

TEST_CASE("damaged traces of Accel-Sim are imported or refused") {
  const Traceg whole = two_sides_traceg();
  struct Form {
    const char* name;
    std::string bytes;
    bool text;
  };
  for (const Form& form : {Form{"text", whole.text(), true}, Form{"xz", as_xz(whole.text()), false},
                           Form{"paged", whole.paged(5), false}}) {
    Watchdog watchdog(form.name, std::chrono::seconds(60 * patience));
    MutationRandom random(47);
    unsigned accepted = 0, refused = 0;
    for (unsigned n = 0; n < rounds; ++n) {
      std::string bytes =
          form.text && n % 4 != 0 ? mutate_tokens(form.bytes, random) : mutate_bytes(form.bytes, random);
      INFO(form.name << " round " << n);
      watchdog.restart(std::string(form.name) + " round " + std::to_string(n));
      ++(probe_import(bytes).accepted ? accepted : refused);
    }
    CAPTURE(form.name, accepted, refused);
    CHECK(refused > rounds / 4);
    CHECK((!form.text || accepted > 20));
  }
}
