// SPDX-License-Identifier: Apache-2.0
#include <regatta/launch/entry_names.h>

#include <regatta/base/suggestion.h>

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>

namespace regatta::launch {
namespace {

/// Each reference to an earlier part of a mangled name can repeat all that came before.
constexpr std::size_t most_references = 24;
constexpr std::size_t most_characters = 1024;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }

bool may_be_demangled(const std::string& name) {
  if (name.rfind("_Z", 0) != 0 || name.size() > most_characters) return false;
  std::size_t references = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] != 'S' && name[i] != 'T') continue;
    std::size_t end = i + 1;
    while (end < name.size() && (std::isdigit(static_cast<unsigned char>(name[end])) != 0 ||
                                 std::isupper(static_cast<unsigned char>(name[end])) != 0))
      ++end;
    references += end < name.size() && name[end] == '_' ? 1 : 0;
  }
  return references <= most_references;
}

/// Without the blanks that C++ does not need, so that "foo( float * )" is "foo(float*)".
std::string without_blanks(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != ' ') {
      result += text[i];
      continue;
    }
    const std::size_t next = text.find_first_not_of(' ', i);
    if (next == std::string::npos) break;
    if (!result.empty() && is_word(result.back()) && is_word(text[next])) result += ' ';
    i = next - 1;
  }
  return result;
}

/// How deep each character lies in brackets; an opening one and its closing one lie outside of them. "->" and
/// operators do not occur in names of kernels.
std::vector<int> depths(const std::string& text) {
  std::vector<int> result(text.size());
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ')' || c == '>' || c == ']') --depth;
    result[i] = depth;
    if (c == '(' || c == '<' || c == '[') ++depth;
  }
  return result;
}

/// Where the brackets begin that end at the end of `text`, which are of this kind; npos if there are none.
std::size_t last_brackets(const std::string& text, char open, char close) {
  if (text.empty() || text.back() != close) return std::string::npos;
  const std::vector<int> depth = depths(text);
  for (std::size_t i = text.size() - 1; i-- > 0;) {
    if (depth[i] == depth.back()) return text[i] == open ? i : std::string::npos;
  }
  return std::string::npos;
}

/// "foo<float>" of "foo<float>(float*)".
std::string without_parameters(const std::string& name) { return name.substr(0, last_brackets(name, '(', ')')); }
std::string without_arguments(const std::string& name) { return name.substr(0, last_brackets(name, '<', '>')); }

/// "foo<float>(float*)" of "void foo<float>(float*)": of a template's function the result comes first.
std::string without_result(const std::string& text) {
  const std::vector<int> depth = depths(text);
  const std::size_t end = std::min(last_brackets(text, '(', ')'), text.size());
  std::size_t begin = 0;
  for (std::size_t i = 0; i < end; ++i) {
    if (text[i] == ' ' && depth[i] == 0) begin = i + 1;
  }
  return text.substr(begin);
}

/// Where `text` has `separator` outside of brackets, the parts between.
std::vector<std::string> split(const std::string& text, char separator) {
  const std::vector<int> depth = depths(text);
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == separator && depth[i] == 0) {
      parts.emplace_back();
    } else {
      parts.back() += text[i];
    }
  }
  return parts;
}

/// What nvcc makes of other names of numbers.
const std::map<std::string, std::string>& same_types() {
  static const std::map<std::string, std::string> all{
      {"uchar", "unsigned char"},   {"ushort", "unsigned short"},  {"uint", "unsigned int"},
      {"ulong", "unsigned long"},   {"size_t", "unsigned long"},   {"std::size_t", "unsigned long"},
      {"int8_t", "signed char"},    {"int16_t", "short"},          {"int32_t", "int"},
      {"int64_t", "long"},          {"uint8_t", "unsigned char"},  {"uint16_t", "unsigned short"},
      {"uint32_t", "unsigned int"}, {"uint64_t", "unsigned long"}, {"uintptr_t", "unsigned long"},
      {"ptrdiff_t", "long"},        {"intptr_t", "long"}};
  return all;
}

/// The integer type that these words are, in whatever order they stand; empty if they are none.
std::string integer_type(const std::vector<std::string>& words) {
  const auto times = [&](const char* word) { return std::count(words.begin(), words.end(), word); };
  const auto all = times("unsigned") + times("signed") + times("int") + times("long") + times("short") + times("char");
  if (words.empty() || all != static_cast<std::ptrdiff_t>(words.size())) return "";
  const std::string sign = times("unsigned") != 0 ? "unsigned " : "";
  if (times("char") != 0) return (times("signed") != 0 ? "signed " : sign) + "char";
  if (times("short") != 0) return sign + "short";
  return sign + (times("long") == 2 ? "long long" : times("long") == 1 ? "long" : "int");
}

/// A type as the demangler writes it: "const unsigned*" is "unsigned int const*". `is_parameter`: without the const of
/// the parameter itself, which callers do not see.
std::string canonical_type(const std::string& type, bool is_parameter) {
  // Stars within template arguments are theirs.
  const std::size_t arguments_end = type.find('<') == std::string::npos ? 0 : type.rfind('>');
  const std::size_t end = std::min(type.find_first_of("*&[(", arguments_end), type.size());
  std::vector<std::string> words;
  bool is_const = false, is_volatile = false;
  for (const std::string& word : split(type.substr(0, end), ' ')) {
    is_const |= word == "const";
    is_volatile |= word == "volatile";
    if (word == "const" || word == "volatile" || word == "struct" || word == "enum" || word == "class") continue;
    const auto same = same_types().find(word);
    words.push_back(same == same_types().end() ? word : same->second);
  }
  std::string base = integer_type(words);
  if (base.empty()) {
    for (const std::string& word : words) base += (base.empty() ? "" : " ") + word;
  }
  if (base.empty()) return type;
  std::string rest = type.substr(end);
  for (const char* word : {"__restrict__", "__restrict"}) {
    for (std::size_t at; (at = rest.find(word)) != std::string::npos;) rest.erase(at, std::strlen(word));
  }
  const std::string last = "const";
  if (is_parameter && rest.size() >= last.size() && rest.compare(rest.size() - last.size(), last.size(), last) == 0)
    rest.erase(rest.size() - last.size());
  if (is_parameter && rest.empty()) return base;
  return base + (is_const ? " const" : "") + (is_volatile ? " volatile" : "") + rest;
}

std::string canonical_types(const std::string& list, bool is_parameter) {
  if (is_parameter && list == "void") return "";
  std::string result;
  for (const std::string& type : split(list, ','))
    result += (result.empty() ? "" : ",") + canonical_type(type, is_parameter);
  return result;
}

/// A name without blanks, its types as the demangler writes them.
std::string canonical(const std::string& text) {
  std::string name = without_parameters(text);
  std::string parameters = text.substr(name.size());
  if (!parameters.empty()) parameters = "(" + canonical_types(parameters.substr(1, parameters.size() - 2), true) + ")";
  const std::string plain = without_arguments(name);
  if (plain.size() != name.size())
    name = plain + "<" + canonical_types(name.substr(plain.size() + 1, name.size() - plain.size() - 2), false) + ">";
  return name + parameters;
}

/// Under what names C++ knows the function: with and without what can be left out.
std::vector<std::string> spellings(const std::string& readable) {
  const std::string name = without_parameters(readable);
  const std::string parameters = readable.substr(name.size());
  const std::string plain = without_arguments(name);
  return {name + parameters, plain + parameters, name, plain};
}

/// Whether `text` is `spelling`, or what is left of it behind enclosing namespaces.
bool is_end_of(const std::string& text, const std::string& spelling) {
  if (text == spelling) return true;
  if (text.size() + 2 > spelling.size()) return false;
  const std::size_t begin = spelling.size() - text.size();
  if (spelling.compare(begin, text.size(), text) != 0 || spelling.compare(begin - 2, 2, "::") != 0) return false;
  return depths(spelling)[begin - 1] == 0;
}

bool is_spelling(const std::string& text, const std::string& entry) {
  const std::string readable = readable_name(entry);
  if (readable == entry) return false;
  for (const std::string& spelling : spellings(canonical(without_blanks(readable)))) {
    if (is_end_of(text, spelling)) return true;
  }
  return false;
}

std::string shown(const std::string& entry) {
  const std::string readable = readable_name(entry);
  return readable == entry ? entry : entry + " (" + readable + ")";
}

std::string in_quotes(const std::vector<EntryNames>& files, std::optional<std::size_t> module) {
  std::string text;
  for (std::size_t m = 0; m < files.size(); ++m) {
    if (!module || *module == m) text += (text.empty() ? "'" : ", '") + files[m].file + "'";
  }
  return text;
}

[[noreturn]] void fail_without(const std::vector<EntryNames>& files, const std::string& name,
                               std::optional<std::size_t> module, const std::string& prefix) {
  std::string all;
  std::vector<std::string> known;
  for (std::size_t m = 0; m < files.size(); ++m) {
    if (module && *module != m) continue;
    for (const std::string& e : files[m].entries) {
      all += (all.empty() ? "" : ", ") + shown(e);
      known.push_back(e);
      const std::string readable = readable_name(e);
      if (readable != e) known.push_back(without_arguments(without_parameters(readable)));
    }
  }
  const bool one = module || files.size() == 1;
  throw trace::InputError(prefix + in_quotes(files, module) + (one ? " has" : " have") + " no entry '" + name + "'; " +
                          (one ? "it has " : "they have ") + (all.empty() ? "none" : all) +
                          base::suggestion(name, known));
}

}  // namespace

std::string readable_name(const std::string& name) {
  if (!may_be_demangled(name)) return name;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  if (status != 0 || text == nullptr) return name;
  return without_result(text.get());
}

EntryPlace find_entry(const std::vector<EntryNames>& files, const std::string& name, std::optional<std::size_t> module,
                      const std::string& prefix) {
  const std::string text = canonical(without_result(without_blanks(readable_name(name))));
  const std::string plain = without_arguments(without_parameters(text));
  std::vector<EntryPlace> found;
  const auto look = [&](const auto& fits) {
    if (!found.empty()) return;
    for (std::size_t m = 0; m < files.size(); ++m) {
      if (module && *module != m) continue;
      for (std::size_t e = 0; e < files[m].entries.size(); ++e) {
        if (fits(files[m].entries[e])) found.push_back({m, e});
      }
    }
  };
  look([&](const std::string& entry) { return entry == name; });
  look([&](const std::string& entry) { return is_spelling(text, entry); });
  look([&](const std::string& entry) { return readable_name(entry) == entry && is_end_of(entry, plain); });
  if (found.empty()) fail_without(files, name, module, prefix);
  if (found.size() == 1) return found.front();
  std::string all;
  bool several_files = false;
  for (const EntryPlace& p : found) {
    all += (all.empty() ? "" : ", ") + shown(files[p.module].entries[p.entry]);
    if (files.size() > 1) all += " of '" + files[p.module].file + "'";
    several_files |= p.module != found.front().module;
  }
  throw trace::InputError(prefix + "entry '" + name + "' may be " + all + ": name one of them" +
                          (several_files ? ", and its file with ptx = \"...\" beside 'entry'" : ""));
}

void resolve_entries(LaunchFile& file, const std::vector<EntryNames>& files) {
  for (Launch& l : file.launches) {
    const std::string prefix =
        file.file + ":" + std::to_string(l.entry_where.line) + ":" + std::to_string(l.entry_where.column) + ": error: ";
    const EntryPlace place = find_entry(files, l.entry, l.module, prefix);
    l.module = place.module;
    l.entry = files[place.module].entries[place.entry];
  }
}

}  // namespace regatta::launch
