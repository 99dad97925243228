// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/file.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "sample.h"

namespace regatta::test {

using namespace trace;

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "regatta-test-XXXXXX").string();
  if (!::mkdtemp(pattern.data())) throw std::runtime_error("no temporary directory");
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

namespace {

void write_program(Writer& writer, Random& random, std::vector<std::vector<std::vector<Step>>>* steps) {
  const std::vector<Kernel> kernels = {sample_kernel(32), sample_kernel(64)};
  for (const Kernel& kernel : kernels) writer.add_kernel(kernel);
  for (std::uint32_t l = 0; l < 3; ++l) {
    Launch launch;
    launch.kernel = l % 2;
    launch.grid = {3, 2, 1};
    launch.block = {17, 5, 1};  // 85 threads: 3 warps of 32, 2 of 64
    launch.first_cta = l;
    writer.begin_launch(launch);
    for (std::uint64_t c = l; c < 6; ++c) {
      Cta cta;
      cta.launch = l;
      cta.index = c;
      std::vector<std::vector<Step>> warps;
      for (unsigned w = 0; w < launch.warps_per_cta(kernels[launch.kernel].warp_size); ++w) {
        warps.push_back(random_steps(random, kernels[launch.kernel], random() % 60));
        cta.warps.push_back(encode(kernels[launch.kernel], warps.back()));
      }
      writer.add_cta(cta);
      if (steps) steps->push_back(std::move(warps));
    }
  }
}

}  // namespace

void write_sample(const std::string& path, std::uint64_t seed, std::vector<std::vector<std::vector<Step>>>* steps) {
  Random random(seed);
  Writer writer(path);
  writer.set_producer("sample");
  write_program(writer, random, steps);
  writer.finish();
}

void write_variants(const std::string& path, std::uint64_t seed) {
  Random random(seed);
  Writer writer(path);
  writer.set_producer("sample");
  writer.announce_variants();
  write_program(writer, random, nullptr);
  writer.begin_variant({"fewer", {"a", "b"}, "--max-registers 63"});
  write_program(writer, random, nullptr);
  writer.begin_variant({"wide", {"c"}, "--warp-size 64"});
  write_program(writer, random, nullptr);
  writer.finish();
}

std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace regatta::test
