// SPDX-License-Identifier: Apache-2.0
//
// regatta-hardware: the kernels of traces/kernels on this machine's NVIDIA GPU against the emulator (README.md).
#include <regatta/launch/launch_file.h>
#include <regatta/trace/types.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "compare.h"

namespace {

namespace fs = std::filesystem;
using namespace regatta::hardware;

constexpr const char* usage =
    "usage: regatta-hardware [--full] [--ptx nvcc|clang|both] [--kernels FOLDER] [--driver LIBRARY] [KERNEL...]\n"
    "       regatta-hardware --launch FILE [--with PTX] [--driver LIBRARY]\n\n"
    "Runs PTX on the first NVIDIA GPU and in the emulator and compares what is left in memory: our kernels, all of\n"
    "them unless some are named, small unless --full, from both compilers unless --ptx names one; or the launch file\n"
    "FILE. Exit status: 0 all equal, 3 something differs, 2 bad usage or input, 77 there is no GPU.\n";

constexpr int skipped = 77;

/// NVIDIA specifies ex2.approx, rsqrt.approx, sin.approx and cos.approx by their largest error alone; the emulator
/// rounds them correctly. Results differ by as much, and differences of nearly equal numbers by more. README.md says
/// how the limits were chosen.
const std::map<std::string, std::vector<Tolerance>>& tolerances() {
  static const std::map<std::string, std::vector<Tolerance>> all{
      {"binomial_options", {{"nodes", 1e-5}, {"value", 1e-5}}},
      {"black_scholes", {{"call", 1e-5}, {"put", 1e-5}}},
      {"cutcp", {{"potential", 1e-5}}},
      {"flash_attention", {{"out", 1e-3, 1e-4}}},
      {"gemm_split_k", {{"out", 8e-3, 1e-3}}},
      {"layer_norm", {{"normal", 1e-3, 1e-4}, {"means", 1e-5, 1e-6}, {"scaled", 8e-3}}},
      {"libor", {{"value", 5e-5}, {"by_last_rate", 1e-5}, {"value_alone", 5e-5}}},
      {"monte_carlo", {{"expected", 1e-5}, {"confidence", 1e-5}}},
      {"moe_routing", {{"weights", 1e-5}, {"out", 8e-3, 1e-4}}},
      {"mri_q", {{"qr", 1e-5}, {"qi", 1e-5}}},
      {"myocyte", {{"state", 1e-5}, {"trial", 1e-5}, {"slope", 1}}},
      {"paged_attention", {{"out", 2e-3, 1e-4}}},
      {"rotary", {{"table", 0, 1e-5}, {"q", 1e-3, 1e-4}, {"k", 1e-3, 1e-4}}},
      {"softmax", {{"weights", 1e-3, 1e-7}, {"probabilities", 1e-5}}},
      {"srad",
       {{"picture", 1e-5},
        {"now", 1e-5},
        {"next", 1e-5},
        {"sums", 1e-5},
        {"squares", 1e-5},
        {"speckle", 1e-4},
        {"coefficient", 1e-3}}},
      {"swiglu", {{"product", 8e-3}, {"product_half", 8e-3, 1e-4}}},
  };
  return all;
}

struct Options {
  bool full = false;
  std::vector<std::string> compilers{"nvcc", "clang"};
  std::string kernels = REGATTA_KERNELS;
  std::string driver = "libcuda.so.1";
  std::string launch;
  std::string with;
  std::vector<std::string> names;
};

class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::vector<std::string> names_in(const std::string& folder) {
  if (!fs::is_directory(folder)) throw UsageError("--kernels: '" + folder + "' is no folder");
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (fs::exists(entry.path() / "launch.small.toml")) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Options parse(int argc, char** argv) {
  Options o;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  std::string compilers = "both";
  const std::map<std::string, std::string*> values{{"--ptx", &compilers},
                                                   {"--kernels", &o.kernels},
                                                   {"--driver", &o.driver},
                                                   {"--launch", &o.launch},
                                                   {"--with", &o.with}};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& a = arguments[i];
    if (const auto value = values.find(a); value != values.end()) {
      if (++i == arguments.size()) throw UsageError(a + ": a value is missing");
      *value->second = arguments[i];
    } else if (a == "--full") {
      o.full = true;
    } else if (a.rfind("-", 0) == 0) {
      throw UsageError("unknown option '" + a + "'");
    } else {
      o.names.push_back(a);
    }
  }
  if (compilers == "nvcc" || compilers == "clang") {
    o.compilers = {compilers};
  } else if (compilers != "both") {
    throw UsageError("--ptx: expected nvcc, clang or both, found '" + compilers + "'");
  }
  if (!o.launch.empty()) {
    if (!o.names.empty()) throw UsageError("--launch and kernel '" + o.names[0] + "': expected one or the other");
    return o;
  }
  if (!o.with.empty()) throw UsageError("--with needs --launch");
  const std::vector<std::string> known = names_in(o.kernels);
  for (const std::string& n : o.names) {
    if (std::find(known.begin(), known.end(), n) == known.end())
      throw UsageError("'" + o.kernels + "' has no kernel '" + n + "'");
  }
  if (o.names.empty()) o.names = known;
  return o;
}

/// What became of all runs.
struct Summary {
  unsigned equal = 0, different = 0, refused = 0;
};

void report(const std::string& title, const std::vector<Comparison>& all, Summary& summary) {
  std::uint64_t elements = 0, differing = 0, wrong = 0;
  double largest = 0;
  for (const Comparison& c : all) {
    elements += c.elements;
    differing += c.differing;
    wrong += c.wrong;
    largest = std::max(largest, c.largest);
  }
  std::cout << title << ": " << elements << " elements in " << all.size() << " buffers, ";
  if (differing == 0) {
    std::cout << "all bits equal\n";
  } else {
    std::cout << differing << " differ in bits, " << wrong << " too much; largest relative difference " << largest
              << "\n";
  }
  for (const Comparison& c : all) {
    if (c.wrong != 0) std::cout << "  " << c.first_wrong << "\n";
  }
  ++(wrong == 0 ? summary.equal : summary.different);
}

void run(const Gpu& gpu, const std::string& title, const std::string& launch, const std::string& ptx,
         const std::vector<Tolerance>& tolerance, Summary& summary) {
  try {
    report(title, run_both(gpu, launch, ptx, tolerance), summary);
  } catch (const CudaError& e) {
    // A driver may be too old for the PTX, or have dropped its target; that says nothing about the emulator.
    if (e.code() != cuda_no_binary_for_gpu && e.code() != cuda_unsupported_ptx_version) throw;
    std::cout << title << ": not run: " << e.what() << "\n";
    ++summary.refused;
  }
  std::cout << std::flush;
}

int run_all(const Gpu& gpu, const Options& o) {
  Summary summary;
  if (!o.launch.empty()) {
    run(gpu, o.launch, o.launch, o.with, {}, summary);
  }
  for (const std::string& name : o.names) {
    const fs::path folder = fs::path(o.kernels) / name;
    const auto tolerance = tolerances().find(name);
    const fs::path launch = folder / (o.full ? "launch.toml" : "launch.small.toml");
    for (const std::string& compiler : o.compilers) {
      // Launch files name nvcc's, which is for the oldest target that has all instructions.
      const fs::path file = compiler == "nvcc" ? fs::path(regatta::launch::read_launch_file(launch.string()).ptx.at(0))
                                               : folder / (name + ".sm35.ptx");
      const std::string title = name + " (" + file.stem().extension().string().substr(1) + ")";
      if (!fs::exists(file)) {  // clang's PTX is kept for some kernels only
        std::cout << title << ": not run: no '" << file.string() << "' (traces/kernels/build_ptx.sh makes it)\n";
        ++summary.refused;
        continue;
      }
      run(gpu, title, launch.string(), file.string(),
          tolerance == tolerances().end() ? std::vector<Tolerance>{} : tolerance->second, summary);
    }
  }
  std::cout << summary.equal << " equal, " << summary.different << " different, " << summary.refused << " not run\n";
  return summary.different == 0 ? 0 : 3;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 2 && (std::string(argv[1]) == "--help" || std::string(argv[1]) == "-h")) {
      std::cout << usage;
      return 0;
    }
    const Options o = parse(argc, argv);
    CudaDriver driver{};
    std::string why;
    if (!load_driver(o.driver, driver, why)) {
      std::cout << "skipped: no NVIDIA driver: " << why << "\n";
      return skipped;
    }
    const Gpu gpu(driver);
    std::cout << gpu.description() << "\n" << std::flush;
    return run_all(gpu, o);
  } catch (const UsageError& e) {
    std::cerr << "regatta-hardware: " << e.what() << "\n" << usage;
    return 2;
  } catch (const CudaError& e) {
    if (e.code() == cuda_no_device) {
      std::cout << "skipped: no NVIDIA GPU: " << e.what() << "\n";
      return skipped;
    }
    std::cerr << "regatta-hardware: " << e.what() << "\n";
    return 1;
  } catch (const regatta::trace::InputError& e) {
    std::cerr << e.what() << "\n";
    return 2;
  } catch (const std::exception& e) {
    std::cerr << "regatta-hardware: " << e.what() << "\n";
    return 1;
  }
}
