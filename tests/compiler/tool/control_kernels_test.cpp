// SPDX-License-Identifier: Apache-2.0
//
// Control bits in the traces of our kernels: the verifier accepts them, every warp of the small launches obeys them
// without a fault, and the verifier refuses each single change that one of these warps shows to be wrong.
#include <regatta/passes/control.h>
#include <regatta/test/catch.h>
#include <regatta/tool/annotate.h>
#include <regatta/trace/file.h>
#include <regatta/trace/verify_control.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "control_mutations.h"
#include "control_warp.h"
#include "folder.h"

using namespace regatta;
using test::ControlMutation;

namespace {

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(REGATTA_KERNELS))
    if (std::filesystem::exists(entry.path() / "launch.small.toml")) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// A program's trace with control bits.
class AnnotatedProgram {
 public:
  explicit AnnotatedProgram(const std::string& name, unsigned warp_size = 32) {
    tool::AnnotateOptions o;
    o.launch = std::string(REGATTA_KERNELS) + "/" + name + "/launch.small.toml";
    o.out = folder_.file("k.rgt");
    o.warp_size = warp_size;
    o.annotations.emplace();
    o.pass_options = {{"control", "on"}};
    tool::annotate(o);
    reader = std::make_unique<trace::Reader>(o.out);
  }

  std::unique_ptr<trace::Reader> reader;

 private:
  const test::Folder folder_;
};

std::string control_fault(const trace::Kernel& kernel, const trace::ControlSection& control) {
  return trace::ControlVerifier(kernel, control).find_fault();
}

}  // namespace

TEST_CASE("every warp of our kernels obeys the control bits without a fault") {
  const std::vector<std::string> names = kernel_names();
  CHECK(names.size() > 50);
  std::uint64_t steps = 0, hits = 0;
  for (const std::string& name : names) {
    CAPTURE(name);
    const AnnotatedProgram program(name);
    const trace::Reader& reader = *program.reader;
    std::vector<trace::ControlSection> controls;
    for (const trace::Kernel& kernel : reader.kernels()) {
      controls.push_back(trace::find_control(kernel).value());
      REQUIRE(control_fault(kernel, controls.back()) == "");
    }
    // A few CTAs of each launch; the others go the same ways.
    for (std::size_t n = 0; n < reader.ctas().size(); n += 1 + reader.ctas().size() / 4) {
      const std::uint32_t k = reader.launches().at(reader.ctas()[n].launch).kernel;
      const auto cta = reader.read(n);
      for (const trace::WarpColumns& columns : cta->warps) {
        test::ControlWarp warp(reader.kernels()[k], controls[k]);
        REQUIRE(warp.replay(columns) == "");
        steps += warp.steps();
        hits += warp.hits();
      }
    }
  }
  CAPTURE(steps, hits);
  CHECK(hits * 50 > steps);
}

TEST_CASE("the verifier refuses every change that a warp of our kernels shows to be wrong") {
  std::array<unsigned, test::control_mutations> made{}, wrong{}, refused{};
  for (const std::string& name : test::some_of(kernel_names(), 4)) {
    const AnnotatedProgram program(name);
    const trace::Reader& reader = *program.reader;
    const std::uint32_t k = reader.launches().at(reader.ctas()[0].launch).kernel;
    const trace::Kernel& kernel = reader.kernels()[k];
    const auto cta = reader.read(0);
    test::for_each_control_mutation(
        kernel, trace::find_control(kernel).value(),
        [&](ControlMutation kind, const trace::ControlSection& mutated, const std::string& what) {
          const auto m = static_cast<std::size_t>(kind);
          bool breaks = false;
          for (std::size_t w = 0; w < cta->warps.size() && w < 4 && !breaks; ++w)
            breaks = test::ControlWarp(kernel, mutated).replay(cta->warps[w]) != "";
          const bool found = control_fault(kernel, mutated) != "";
          ++made[m];
          wrong[m] += breaks;
          refused[m] += found;
          if (breaks && !found) FAIL(name << ": " << what);
        });
  }
  for (std::size_t m = 0; m < made.size(); ++m) {
    CAPTURE(m, made[m], wrong[m], refused[m]);
    CHECK(wrong[m] * 8 > made[m]);
    CHECK(refused[m] >= wrong[m]);
  }
}
