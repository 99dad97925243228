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
#include "tolerances.h"

namespace {

namespace fs = std::filesystem;
using namespace regatta::hardware;

constexpr const char* usage =
    "usage: regatta-hardware [--full | --all] [--ptx nvcc|clang|both] [--kernels FOLDER] [--driver LIBRARY] "
    "[KERNEL...]\n"
    "       regatta-hardware --launch FILE [--with PTX] [--driver LIBRARY]\n\n"
    "Runs PTX on the first NVIDIA GPU and in the emulator and compares what is left in memory: our kernels, all of\n"
    "them unless some are named, small unless --full, from both compilers unless --ptx names one; or the launch file\n"
    "FILE. --all: small launches from both compilers and full ones from nvcc. Exit status: 0 all equal, 3 something\n"
    "differs, 2 bad usage or input, 77 there is no GPU.\n";

constexpr int skipped = 77;

struct Options {
  bool small = true, full = false;
  std::vector<std::string> compilers{"nvcc", "clang"};       // of small launches
  std::vector<std::string> full_compilers{"nvcc", "clang"};  // of full ones
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
    } else if (a == "--full" || a == "--all") {
      if (o.full && o.small != (a == "--all")) throw UsageError("--full and --all: expected one or the other");
      o.full = true;
      o.small = a == "--all";
    } else if (a.rfind("-", 0) == 0) {
      throw UsageError("unknown option '" + a + "'");
    } else {
      o.names.push_back(a);
    }
  }
  if (compilers == "nvcc" || compilers == "clang") {
    o.compilers = o.full_compilers = {compilers};
  } else if (compilers != "both") {
    throw UsageError("--ptx: expected nvcc, clang or both, found '" + compilers + "'");
  } else if (o.small) {
    o.full_compilers = {"nvcc"};
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
  std::uint64_t elements = 0, differing = 0, wrong = 0, pointers = 0, moved = 0;
  double largest = 0;
  for (const Comparison& c : all) {
    elements += c.elements;
    differing += c.differing;
    wrong += c.wrong;
    pointers += c.pointers;
    moved += c.moved;
    largest = std::max(largest, c.largest);
  }
  std::cout << title << ": " << elements << " elements in " << all.size() << " buffers, ";
  if (differing == 0) {
    std::cout << "all bits equal";
  } else {
    std::cout << differing << " differ in bits, " << wrong << " too much; largest relative difference " << largest;
  }
  if (pointers != 0) std::cout << "; " << pointers << " pointers equal as offsets into buffers";
  if (moved != 0) std::cout << "; " << moved << " elements in the places that atomics gave them";
  std::cout << "\n";
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

/// The kernel `name`, at full size or small, as the compilers made it.
void run_kernel(const Gpu& gpu, const Options& o, const std::string& name, bool full, Summary& summary) {
  const fs::path folder = fs::path(o.kernels) / name;
  const fs::path launch = folder / (full ? "launch.toml" : "launch.small.toml");
  for (const std::string& compiler : full ? o.full_compilers : o.compilers) {
    // Launch files name nvcc's, which is for the oldest target that has all instructions.
    const fs::path file = compiler == "nvcc" ? fs::path(regatta::launch::read_launch_file(launch.string()).ptx.at(0))
                                             : folder / (name + ".sm35.ptx");
    const std::string title =
        name + " (" + file.stem().extension().string().substr(1) + (full && o.small ? ", full" : "") + ")";
    if (!fs::exists(file)) {  // clang's PTX is kept for some kernels only
      std::cout << title << ": not run: no '" << file.string() << "' (traces/kernels/build_ptx.sh makes it)\n";
      ++summary.refused;
      continue;
    }
    run(gpu, title, launch.string(), file.string(), tolerances_of(name, gpu.compute_capability()), summary);
  }
}

int run_all(const Gpu& gpu, const Options& o) {
  Summary summary;
  if (!o.launch.empty()) {
    run(gpu, o.launch, o.launch, o.with, {}, summary);
  }
  for (const std::string& name : o.names) {
    if (o.small) run_kernel(gpu, o, name, false, summary);
    if (o.full) run_kernel(gpu, o, name, true, summary);
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
