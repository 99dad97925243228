// SPDX-License-Identifier: Apache-2.0
//
// What wir.repeats samples: repeated computations (the WIR paper's figure 2) and what keeps them from the reuse buffer.
#include <nlohmann/json.hpp>
#include "wir_support.h"

using namespace regatta;
using test::TraceBuilder;
using test::Values;
using test::Watched;

namespace {

/// `warps` CTAs of a warp with `threads` threads, each with instructions of every kind: two constants, their sum, the
/// warp's own number, a sum with that, a barrier, the end.
Watched run(const std::string& name, unsigned warps, unsigned threads, unsigned barriers = 1) {
  TraceBuilder b;
  Values v(b);
  v.op("lane.1", 1, {});
  v.op("lane.2", 2, {});
  v.op("add", 0, {1, 2});
  v.op("id.0", 3, {});
  v.op("mul", 4, {0, 3});
  for (unsigned i = 0; i < barriers; ++i) b.barrier();
  b.exit();
  b.launch(warps, threads);
  for (unsigned w = 0; w < warps; ++w) {
    v.own = w;
    b.begin_cta();
    b.begin_warp();
    b.execute_straight();
    b.end_warp();
    b.end_cta();
  }
  Watched w = test::watch(b, name, {{"wir.repeats", "true"}});
  test::require_clean(w.result);
  return w;
}

double of(const Watched& w, const std::string& key) { return w.wir.at(key).get<double>(); }

}  // namespace

TEST_CASE("repeated computations are counted, and what keeps them from the reuse buffer") {
  const unsigned warps = 6;
  const Watched w = run("wir_repeats_6", warps, 32);
  const double all = 7.0 * warps;
  // The constants and their sum, by all warps but the first; values of a warp's own are nobody else's.
  CHECK(of(w, "repeated_fraction_1k") == Approx(3 * (warps - 1) / all));
  CHECK(of(w, "repeated_often_fraction_1k") == 0);
  CHECK(of(w, "barred.none") == 4 * warps);
  CHECK(of(w, "barred_repeats.none") == 3 * (warps - 1));
  CHECK(of(w, "barred.special") == warps);
  CHECK(of(w, "barred_repeats.special") == 0);
  CHECK(of(w, "barred.effect") == 2 * warps);
  CHECK(of(w, "barred.divergent") == 0);
  CHECK(of(w, "barriers_max") == 1);
}

// A simulation per process, so a test case each.
TEST_CASE("a computation that appears ten times in a window is not repeated often") {
  CHECK(of(run("wir_repeats_10", 10, 32), "repeated_often_fraction_1k") == 0);
}

TEST_CASE("a computation that appears eleven times counts with all of its appearances") {
  CHECK(of(run("wir_repeats_11", 11, 32), "repeated_often_fraction_1k") == Approx(3.0 / 7));
}

TEST_CASE("a computation that appears more often counts each time once") {
  CHECK(of(run("wir_repeats_14", 14, 32), "repeated_often_fraction_1k") == Approx(3.0 / 7));
}

TEST_CASE("divergent instructions repeat, and are kept from the reuse buffer") {
  const Watched w = run("wir_repeats_divergent", 4, 20);
  CHECK(of(w, "repeated_fraction_1k") == Approx(3 * 3 / 28.0));
  CHECK(of(w, "barred.none") == 0);
  CHECK(of(w, "barred.divergent") == 4 * 4);
  CHECK(of(w, "barred_repeats.divergent") == 3 * 3);
  CHECK(of(w, "barred.special") == 4);
}

TEST_CASE("barriers are counted by warp, not by slot") {
  // More warps than slots, so that slots are used again.
  const Watched w = run("wir_repeats_barriers", 20, 32, 5);
  CHECK(of(w, "barriers_max") == 5);
}

TEST_CASE("registers of resident warps are those of the resident CTAs") {
  const Watched w = run("wir_resident_registers", 20, 32);
  const nlohmann::json& pipeline = w.result.stats.at("sm0.pipeline");
  const unsigned of_a_warp = 6;  // five, by a granularity of two
  const auto ctas = pipeline.at("resident_ctas_mean").get<double>();
  CHECK(ctas > 1);
  CHECK(pipeline.at("resident_registers_mean").get<double>() == Approx(ctas * of_a_warp));
  CHECK(pipeline.at("resident_registers_max").get<double>() == 8 * of_a_warp);
}
