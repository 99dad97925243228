// SPDX-License-Identifier: Apache-2.0
//
// regatta-registers: registers per thread that our compiler needs, beside what NVIDIA's assembler reports for the same
// PTX, and how long our compiler took.
#include <regatta/base/output_file.h>
#include <regatta/support/logging.h>
#include <regatta/support/table.h>
#include <regatta/tool/annotate.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <systemc>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr const char* usage =
    "usage: regatta-registers [--limits] [--max-registers N] [--no-schedule] [PTX...]\n\n"
    "Registers per thread of every entry of the PTX files (those nvcc made in traces/kernels unless some are named,\n"
    "and, for the time it takes, a generated one of 7,000 instructions): ours, and those of 'ptxas -v' for the target\n"
    "in the file's name (none: sm_75). ptxas is that of the variable PTXAS, on the PATH or in /usr/local/cuda/bin.\n"
    "With --limits the exit status is 3 when the geometric mean of ours over theirs is above 1.25, one entry is above\n"
    "1.6 or spills; 77 when there is no ptxas.\n";

constexpr double largest_mean = 1.25, largest_ratio = 1.6;
constexpr int limit_exceeded = 3, skipped = 77;

class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Options {
  bool limits = false;
  regatta::tool::AnnotateOptions compile;
  std::vector<std::string> files;
  bool generated = false;  ///< and a generated kernel of 7,000 instructions
};

/// "sm_80" of "name.sm80.ptx"; empty for other names.
std::string target_of(const fs::path& path) {
  const std::string target = path.stem().extension().string();
  return path.extension() == ".ptx" && target.rfind(".sm", 0) == 0 ? "sm_" + target.substr(3) : "";
}

Options parse(int argc, char** argv) {
  Options o;
  o.compile.check = true;
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    if (a == "--limits") {
      o.limits = true;
    } else if (a == "--no-schedule") {
      o.compile.schedule = false;
    } else if (a == "--max-registers") {
      const std::string n = ++i < argc ? argv[i] : "";
      if (n.empty() || n.size() > 3 || n.find_first_not_of("0123456789") != std::string::npos)
        throw UsageError("--max-registers: expected an integer, found '" + n + "'");
      o.compile.max_registers = static_cast<unsigned>(std::stoul(n));
    } else if (a.rfind("--", 0) == 0) {
      throw UsageError("unknown option '" + a + "'");
    } else {
      o.files.push_back(a);
    }
  }
  if (o.files.empty()) {
    for (const auto& entry : fs::recursive_directory_iterator(REGATTA_KERNELS)) {
      const std::string path = entry.path().string();
      // sm35 is clang's.
      if (const std::string target = target_of(path); !target.empty() && target.rfind("sm_35", 0) != 0)
        o.files.push_back(path);
    }
    std::sort(o.files.begin(), o.files.end());
    o.generated = true;
  }
  return o;
}

bool is_program(const std::string& path) { return ::access(path.c_str(), X_OK) == 0 && !fs::is_directory(path); }

/// Path of ptxas, or empty.
std::string find_ptxas() {
  if (const char* named = std::getenv("PTXAS")) return is_program(named) ? named : "";
  std::vector<std::string> candidates;
  std::istringstream folders(std::getenv("PATH") ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(folders, folder, ':');) candidates.push_back(folder + "/ptxas");
  candidates.emplace_back("/usr/local/cuda/bin/ptxas");
  const auto found = std::find_if(candidates.begin(), candidates.end(), is_program);
  return found == candidates.end() ? "" : *found;
}

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

/// What ptxas says of each entry.
std::map<std::string, unsigned> assemble(const std::string& ptxas, const std::string& file) {
  const std::string target = target_of(file);
  const std::string command = quoted(ptxas) + " -v -arch=" + quoted(target.empty() ? "sm_75" : target) + " " +
                              quoted(file) + " -o /dev/null 2>&1";
  const auto close = [](std::FILE* f) { ::pclose(f); };
  const std::unique_ptr<std::FILE, decltype(close)> pipe(::popen(command.c_str(), "r"), close);
  if (!pipe) throw std::runtime_error("cannot run " + command);
  std::map<std::string, unsigned> registers;
  std::string entry, all;
  std::array<char, 4096> line{};
  while (std::fgets(line.data(), static_cast<int>(line.size()), pipe.get()) != nullptr) {
    const std::string text = line.data();
    all += text;
    const std::string head = "entry function '";
    if (const auto at = text.find(head); at != std::string::npos) {
      const auto first = at + head.size();
      entry = text.substr(first, text.find('\'', first) - first);
    }
    if (const auto at = text.find("Used "); at != std::string::npos && !entry.empty())
      registers[entry] = static_cast<unsigned>(std::strtoul(text.c_str() + at + 5, nullptr, 10));
  }
  if (registers.empty()) throw std::runtime_error("ptxas says of '" + file + "':\n" + all);
  return registers;
}

/// PTX of one entry with `loops` loops, each with branches and a chain over `values` values that are live throughout:
/// some 75 instructions a loop are left after cleanup.
std::string generated_kernel(unsigned loops, unsigned values) {
  std::uint32_t state = 1;
  const auto below = [&](unsigned n) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % n;
  };
  const auto value = [&] { return "%v" + std::to_string(below(values)); };
  std::ostringstream text;
  text << ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry generated(.param .u64 data)\n{\n.reg .b32 %v<"
       << values << ">, %i; .reg .b64 %p, %a<" << loops << ">, %b<" << loops << ">; .reg .pred %q, %w;\n"
       << "ld.param.u64 %p, [data];\n";
  for (unsigned v = 0; v < values; ++v) text << "ld.global.u32 %v" << v << ", [%p+" << 4 * v << "];\n";
  for (unsigned l = 0; l < loops; ++l) {
    text << "mov.u32 %i, 0;\nL" << l << ":\n";
    for (unsigned n = 0; n < 100; ++n)
      text << (n % 3 == 0   ? "add.s32 "
               : n % 3 == 1 ? "xor.b32 "
                            : "mul.lo.s32 ")
           << value() << ", " << value() << ", " << value() << ";\n";
    text << "setp.lt.s32 %q, " << value() << ", " << value() << ";\n@%q bra M" << l << ";\n"
         << "mul.wide.u32 %a" << l << ", " << value() << ", 4;\nadd.s64 %b" << l << ", %p, %a" << l << ";\n"
         << "ld.global.u32 " << value() << ", [%b" << l << "+16];\nst.global.u32 [%p+" << 4 * l << "], " << value()
         << ";\nM" << l << ":\nadd.s32 %i, %i, 1;\nsetp.lt.s32 %w, %i, 4;\n@%w bra L" << l << ";\n";
  }
  for (unsigned v = 0; v < values; ++v) text << "st.global.u32 [%p+" << 4 * v << "], %v" << v << ";\n";
  text << "ret;\n}\n";
  return text.str();
}

/// Writes the generated kernel where it can be looked at.
std::string generated_file() {
  const fs::path file = fs::path(REGATTA_BENCH_DIRECTORY) / "generated.ptx";
  fs::create_directories(file.parent_path());
  regatta::base::write_file(file.string(), generated_kernel(96, 90));
  return file.string();
}

struct Row {
  std::string entry;
  unsigned ours = 0, theirs = 0, spills = 0;
  std::uint64_t instructions = 0;
  double seconds = 0;  ///< for the whole file
  double ratio() const { return static_cast<double>(ours) / theirs; }
};

std::vector<Row> compare(const Options& o, const std::string& ptxas, const std::string& file) {
  auto options = o.compile;
  options.ptx = file;
  const auto start = std::chrono::steady_clock::now();
  const auto result = regatta::tool::annotate(options);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const auto theirs = ptxas.empty() ? std::map<std::string, unsigned>{} : assemble(ptxas, file);
  std::vector<Row> rows;
  for (const auto& e : result.entries) {
    if (!e.accepted) throw std::runtime_error(e.message);
    const auto found = theirs.find(e.name);
    rows.push_back({e.name, e.registers, found == theirs.end() ? 0 : found->second, e.spills, e.instructions, seconds});
  }
  return rows;
}

int report(const std::vector<Row>& rows, bool limits) {
  using regatta::support::fixed;
  using regatta::support::Table;
  const auto right = Table::Align::right;
  Table table({{"entry"},
               {"instructions", right},
               {"registers", right},
               {"ptxas", right},
               {"ratio", right},
               {"spilled", right},
               {"seconds", right}});
  double logarithms = 0, largest = 0;
  unsigned compared = 0, spills = 0;
  for (const Row& r : rows) {
    const bool known = r.theirs != 0;
    table.row({r.entry, std::to_string(r.instructions), std::to_string(r.ours), known ? std::to_string(r.theirs) : "-",
               known ? fixed(r.ratio(), 2) : "-", std::to_string(r.spills), fixed(r.seconds, 3)});
    spills += r.spills;
    if (!known) continue;
    logarithms += std::log(r.ratio());
    largest = std::max(largest, r.ratio());
    ++compared;
  }
  std::cout << "registers per thread: ours, and ptxas -v\n\n" << table.str();
  if (compared == 0) return limits ? skipped : 0;
  const double mean = std::exp(logarithms / compared);
  std::cout << "\ngeometric mean of the ratio " << fixed(mean, 3) << ", largest " << fixed(largest, 3) << ", over "
            << compared << " entries\n";
  const bool good = mean <= largest_mean && largest <= largest_ratio && spills == 0;
  return limits && !good ? limit_exceeded : 0;
}

}  // namespace

// libsystemc, which support links, brings main().
int sc_main(int argc, char** argv) {
  try {
    if (argc == 2 && (std::string(argv[1]) == "--help" || std::string(argv[1]) == "-h")) {
      std::cout << usage;
      return 0;
    }
    regatta::support::setup_logging();
    const Options o = parse(argc, argv);
    const std::string ptxas = find_ptxas();
    if (ptxas.empty())
      std::cout << "There is no ptxas here (PTXAS, PATH, /usr/local/cuda/bin): nothing to compare with.\n\n";
    std::vector<Row> rows;
    for (const std::string& file : o.files)
      for (Row& r : compare(o, ptxas, file)) rows.push_back(std::move(r));
    // For the time alone: no compiler wrote it, so it is not compared.
    if (o.generated)
      for (Row& r : compare(o, "", generated_file())) rows.push_back(std::move(r));
    return report(rows, o.limits);
  } catch (const UsageError& e) {
    std::cerr << "regatta-registers: " << e.what() << "\n" << usage;
    return 2;
  } catch (const std::exception& e) {
    std::cerr << "regatta-registers: " << e.what() << "\n";
    return 1;
  }
}
