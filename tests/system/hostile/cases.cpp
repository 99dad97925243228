// SPDX-License-Identifier: Apache-2.0
#include "cases.h"

#include <regatta/test/catch.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "folder.h"
#include "process.h"

namespace regatta::test {
namespace {

namespace fs = std::filesystem;

/// Words as a shell splits them; "..." holds blanks and the escapes \n, \t, \" and \\.
std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> words;
  bool quoted = false, open = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (!quoted && c == ' ') {
      open = false;
      continue;
    }
    if (!open) words.emplace_back();
    open = true;
    if (c == '"') {
      quoted = !quoted;
    } else if (quoted && c == '\\' && i + 1 < line.size()) {
      const char next = line[++i];
      words.back() += next == 'n' ? '\n' : next == 't' ? '\t' : next;
    } else {
      words.back() += c;
    }
  }
  return words;
}

std::uint64_t number(const std::string& text) {
  std::size_t end = 0;
  const std::uint64_t value = std::stoull(text, &end);
  const std::string unit = text.substr(end);
  if (unit == "M") return value << 20;
  if (unit == "G") return value << 30;
  if (!unit.empty()) throw std::runtime_error("unknown unit '" + unit + "'");
  return value;
}

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

constexpr const char* kernel =
    ".version 8.0\n.target sm_75\n.address_size 64\n.global .u32 g;\n.visible .entry k(.param .u64 a, .param .u32 s) "
    "{\n"
    ".reg .b64 %p, %o; .reg .b32 %t, %c, %r<3>;\nld.param.u64 %p, [a]; ld.param.u32 %r2, [s];\nmov.u32 %t, %tid.x; "
    "mov.u32 %c, %ctaid.x;\nmad.lo.u32 %t, %c, 32, %t;\nmul.wide.u32 %o, %t, 4; add.u64 %p, %p, %o;\n"
    "ld.global.u32 %r1, [%p]; add.u32 %r1, %r1, %r2; st.global.u32 [%p], %r1;\nret;\n}\n";
constexpr const char* launch =
    "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [4]\nblock = [32]\n[[param]]\nname = \"a\"\nbuffer = 512\ninit = \"file\"\n"
    "file = \"a.bin\"\n[[param]]\nscalar = 3\ntype = \"u32\"\n";

/// The folder that every case begins with: a kernel with its launch file and data, its trace, and files that may be
/// anything else.
void fill(const Folder& folder) {
  static const std::string trace = [] {
    const Folder made;
    made.write("k.ptx", kernel);
    made.write("l.toml", launch);
    made.write("a.bin", std::string(512, '\1'));
    ProcessOptions o;
    o.directory = made.path();
    const ProcessResult r = run_process({REGATTA_ANNOTATE, "--launch", "l.toml", "--out", "k.rgt"}, o);
    if (r.status != 0) throw std::runtime_error("the suite's own kernel is refused: " + r.err);
    return made.read("k.rgt");
  }();
  folder.write("k.ptx", kernel);
  folder.write("l.toml", launch);
  folder.write("a.bin", std::string(512, '\1'));
  folder.write("k.rgt", trace);
  folder.write("c.toml", "[l1]\nmshrs = 16\n");
  folder.write("keep.txt", "not to be touched\n");
  fs::create_directory(folder.file("folder"));
}

void set_up(const Folder& folder, const std::vector<std::string>& words) {
  const std::string& what = words.at(0);
  const auto path = [&](std::size_t i) { return folder.file(words.at(i)); };
  if (what == "write") {
    folder.write(words.at(1), words.size() > 2 ? words[2] : "");
  } else if (what == "append") {
    folder.write(words.at(1), folder.read(words[1]) + words.at(2));
  } else if (what == "copy") {
    fs::copy_file(path(1), path(2), fs::copy_options::overwrite_existing);
  } else if (what == "link") {
    fs::create_symlink(words.at(1), path(2));
  } else if (what == "hard") {
    fs::create_hard_link(path(1), path(2));
  } else if (what == "dir") {
    fs::create_directory(path(1));
  } else if (what == "fifo") {
    if (mkfifo(path(1).c_str(), 0600) != 0) throw std::runtime_error("mkfifo");
  } else if (what == "size") {
    if (!fs::exists(path(1))) folder.write(words[1], "");
    fs::resize_file(path(1), number(words.at(2)));
  } else if (what == "flip") {
    std::string bytes = folder.read(words.at(1));
    bytes.at(number(words.at(2))) ^= 1;
    folder.write(words[1], bytes);
  } else if (what == "remove") {
    fs::remove(path(1));
  } else if (what == "mode") {
    fs::permissions(path(1), static_cast<fs::perms>(std::stoul(words.at(2), nullptr, 8)));
  } else {
    throw std::runtime_error("unknown command '" + what + "'");
  }
}

/// Adds what lies in `folder`, whose name is `prefix`, to `files`. By hand: the library's recursive iterator does not
/// survive links that form a circle.
void add_files(const fs::path& folder, const std::string& prefix, std::map<std::string, std::string>& files) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = prefix + entry.path().filename().string();
    const fs::file_type type = entry.symlink_status().type();
    if (type == fs::file_type::symlink) {
      files[name] = "link to " + fs::read_symlink(entry.path()).string();
    } else if (type == fs::file_type::directory) {
      files[name] = "folder";
      add_files(entry.path(), name + "/", files);
    } else if (type != fs::file_type::regular) {
      files[name] = "kind " + std::to_string(static_cast<int>(type));
    } else if (entry.file_size() > (std::uint64_t{1} << 26)) {
      files[name] = "bytes " + std::to_string(entry.file_size());
    } else {
      files[name] = "file " + read(entry.path());
    }
  }
}

/// Contents of every regular file below the folder, by name; links and special files by their kind.
std::map<std::string, std::string> snapshot(const Folder& folder) {
  std::map<std::string, std::string> files;
  add_files(folder.path(), "", files);
  return files;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

void check_whole(const Folder& folder, const std::string& name) {
  CAPTURE(name);
  if (ends_with(name, ".rgt")) {
    const ProcessResult r = run_process({REGATTA_TRACE, "verify", folder.file(name)});
    CHECK(r.err.empty());
    CHECK(r.status == 0);
  } else if (ends_with(name, ".json")) {
    CHECK(nlohmann::json::accept(read(folder.file(name))));
  } else {
    CHECK_FALSE(read(folder.file(name)).empty());
  }
}

void parse_line(HostileCase& c, const std::string& key, const std::string& rest) {
  const auto line_of = [](std::string& text) { text += text.empty() ? "" : "\n"; };
  if (key == "+") {
    c.set_up.push_back(split(rest));
  } else if (key == "status") {
    c.status = std::stoi(rest);
  } else if (key == "err") {
    line_of(c.err);
    c.err += rest;
  } else if (key == "out") {
    if (c.out == "*") c.out.clear();
    line_of(c.out);
    c.out += rest;
  } else if (key == "made") {
    for (std::string& name : split(rest)) c.made.push_back(std::move(name));
  } else if (key == "memory") {
    c.memory_bytes = number(rest);
  } else if (key == "file") {
    c.file_bytes = number(rest);
  } else {
    throw std::runtime_error("unknown word '" + key + "'");
  }
}

}  // namespace

std::vector<HostileCase> read_cases(const std::string& name) {
  std::ifstream in(std::string(REGATTA_HOSTILE_CASES) + "/" + name);
  if (!in) throw std::runtime_error(name + ": cannot be read");
  std::vector<HostileCase> cases;
  unsigned at = 0;
  for (std::string line; std::getline(in, line);) {
    ++at;
    const std::string place = name + ":" + std::to_string(at);
    if (line.empty() || line[0] == '#') continue;
    try {
      if (line[0] == '$') {
        HostileCase c;
        c.place = place;
        c.command = split(line.substr(1));
        cases.push_back(std::move(c));
        continue;
      }
      if (cases.empty() || line.rfind("  ", 0) != 0) throw std::runtime_error("expected '$ command' or '  word ...'");
      const std::size_t end = line.find(' ', 2);
      parse_line(cases.back(), line.substr(2, end == std::string::npos ? end : end - 2),
                 end == std::string::npos ? "" : line.substr(end + 1));
    } catch (const std::exception& e) {
      throw std::runtime_error(place + ": " + e.what());
    }
  }
  return cases;
}

bool matches(const std::string& pattern, const std::string& text) {
  std::size_t p = 0, t = 0, star = std::string::npos, from = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string::npos) {
      p = star + 1;
      t = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

void check_case(const HostileCase& c) {
  const Folder folder;
  fill(folder);
  for (const auto& words : c.set_up) set_up(folder, words);
  const auto before = snapshot(folder);

  const std::map<std::string, std::string> programs{
      {"annotate", REGATTA_ANNOTATE}, {"sim", REGATTA_SIM}, {"trace", REGATTA_TRACE}};
  std::vector<std::string> command = c.command;
  command.at(0) = programs.at(command[0]);
  ProcessOptions o;
  o.directory = folder.path();
  o.file_bytes = c.file_bytes;
  o.memory_bytes = c.memory_bytes;
  const ProcessResult r = run_process(command, o);

  std::string said = c.place + ":";
  for (const std::string& word : c.command) said += " " + word;
  CAPTURE(said, r.out);
  CHECK(r.signal == 0);
  CHECK(r.status == c.status);
  std::string err = r.err;
  if (!err.empty() && err.back() == '\n') err.pop_back();
  if (!matches(c.err, err)) CHECK(err == c.err);
  if (!matches(c.out, r.out)) CHECK(r.out == c.out);
  if (c.status != 0) CHECK_FALSE(c.err.empty());
  for (const char* text : {"internal error", "bad_alloc", "terminate called", "std::"}) {
    CAPTURE(text);
    CHECK(err.find(text) == std::string::npos);
  }
  const auto after = snapshot(folder);
  for (const auto& [name, content] : before) {
    CAPTURE(name);
    if (std::find(c.made.begin(), c.made.end(), name) != c.made.end()) continue;
    const auto found = after.find(name);
    CHECK(found != after.end());
    if (found != after.end() && found->second != content) CHECK(name == "(unchanged)");
  }
  for (const auto& [name, content] : after) {
    const bool made = std::find(c.made.begin(), c.made.end(), name) != c.made.end();
    if (before.count(name) == 0 && !made) CHECK(name == "(no new file)");
  }
  for (const std::string& name : c.made) check_whole(folder, name);
}

}  // namespace regatta::test
