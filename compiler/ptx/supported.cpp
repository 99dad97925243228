// SPDX-License-Identifier: Apache-2.0
//
// The page SUPPORTED.md, generated from the tables that instructions are matched against.
#include "forms.h"
#include "lowering.h"

#include <regatta/ptx/ptx.h>

#include <algorithm>

namespace regatta::ptx {
namespace {

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> list;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (end != at) list.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return list;
}

/// `.a` `.b`, groups expanded.
std::string modifiers(const char* text) {
  std::string shown;
  for (const std::string& word : words(text)) {
    const auto group = option_groups().find(word);
    const std::string part = group == option_groups().end() ? "`." + word + "`" : modifiers(group->second);
    shown += (shown.empty() ? "" : " ") + part;
  }
  return shown;
}

std::string operand_count(const Form& f) {
  const std::string text = f.operands;
  const bool range = text.size() == 4 && text[1] == '.';
  if (!range) return std::to_string(text.size());
  return text[0] == text[3] ? std::string(1, text[0]) : std::string(1, text[0]) + " to " + text[3];
}

template <class Names>
std::string list(const Names& names) {
  std::string text;
  for (const std::string& n : names) text += (text.empty() ? "`" : ", `") + n + "`";
  return text;
}

}  // namespace

std::string supported_ptx() {
  std::string page =
      "<!-- SPDX-License-Identifier: Apache-2.0 -->\n"
      "# Supported PTX\n\n"
      "`regatta-annotate --list-instructions > compiler/ptx/SUPPORTED.md` generates this page from the tables of the "
      "front end\n(`forms_*.cpp`, `options.cpp`); a test compares the two. PTX that is not listed here is rejected "
      "with "
      "file, line and column.\n`regatta-annotate --ptx K.ptx --check` reports for every entry of a file whether it is "
      "accepted.\n\n"
      "## Instructions\n\n"
      "An instruction has the modifiers in the first column, any modifiers from the second, and one type from each of "
      "the next\ntwo columns. A matrix product has one of the lists of types, those of D, A, B and C. Any instruction "
      "may be guarded (`@p`, `@!p`).\n\n"
      "| instruction | may also have | type | second type | operands |\n| --- | --- | --- | --- | --- |\n";
  std::vector<const Form*> sorted;
  for (const Form& f : forms()) sorted.push_back(&f);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Form* a, const Form* b) { return std::string_view(a->name) < std::string_view(b->name); });
  for (const Form* f : sorted) {
    page += "| `" + std::string(f->name) + "` | " + modifiers(f->options) + " | " +
            modifiers(*f->types == '*' ? f->types + 1 : f->types) + " | " + modifiers(f->second_types) + " | " +
            operand_count(*f) + " |\n";
  }
  page +=
      "\n`shfl` and `vote` without `.sync` are rejected for `.target sm_70` and later since PTX 6.4, as by ptxas. "
      "Before, "
      "the active\nlanes take part.\n";
  page += "\n## Special registers\n\n";
  std::vector<std::string> specials;
  unsigned environment = 0;
  for (const auto& [name, special] : special_registers()) {
    // The environment registers are numbered without gaps, so the page lists them as one range.
    if (name.rfind("%envreg", 0) == 0) {
      ++environment;
    } else {
      specials.push_back(name);
    }
  }
  for (const auto& [name, place] : reserved_shared_places()) specials.push_back(name);
  specials.emplace_back(reserved_shared_size);
  for (const auto& [name, value] : cluster_constants()) specials.push_back(name);
  specials.emplace_back(explicit_cluster_name);
  std::sort(specials.begin(), specials.end());
  page += list(specials) + "; `%envreg0` to `%envreg" + std::to_string(environment - 1) +
          "`; and the constant `WARP_SZ`, which may stand in any constant expression.\n";
  page +=
      "\n## Modules\n\n"
      "Without `.address_size`, the addresses of an entry have as many bits as the registers that its code uses for "
      "them: "
      "32 where\nit uses none, 64 where it uses both. Constant expressions have C's operators, evaluated as by ptxas. "
      "Variables may be\ndeclared at module level in every state space, registers and local variables included "
      "(each kernel has its own), and in\nfunctions; registers may have several elements (`.v2`, `.v4`: `%v.x`). "
      "On `.target sm_1x`, operations on f32 flush\nsubnormal numbers.\n";
  page +=
      "\n## Calls\n\nFunctions (`.func`) of the same file are inlined. Parameters and results are `.param` variables "
      "or "
      "registers, on\neither side; a prototype needs no `;`. Supported functions of the device runtime: " +
      list(runtime_functions()) +
      ".\n\n"
      "A call through an address, with a `.callprototype` or a list of `.calltargets`, becomes a search tree of "
      "comparisons over the\nfunctions that it may reach, each inlined: those of the list, or those with the sizes of "
      "the prototype, whose address code or an\ninitial value of the module takes. The n-th of these functions, in "
      "the order of the file, has the address 16 n. The emulator\nreports a call of any other address.\n\n"
      "A recursive function stands once in the kernel. Its callers save registers in frames in local memory; the "
      "emulator reports a\nstack of more than `--stack-bytes`. Its parameters cannot be vectors or predicates.\n\n"
      "`malloc` and `free` are one atomic instruction each, on the heap of `--heap-bytes`.\n\n`brx.idx` becomes a "
      "search tree of comparisons over its list of `.branchtargets`. The emulator reports an "
      "index behind the\nlist.\n";
  page +=
      "\n## Launch bounds\n\n"
      "A kernel is allocated at most as many registers per thread as ptxas would allot it, and spills where that is "
      "too "
      "few. The\nbudget is the least of `--max-registers` and the kernel's bounds:\n\n"
      "- `.maxnreg N`: N, but at least 24; above 255 it is ignored.\n"
      "- `.maxntid` (`.reqntid`) with `.minnctapersm`: what the register file leaves. 65,536 registers are divided "
      "among "
      "the warps of\n  all these CTAs, rounded up to a multiple of 4, and rounded down to a multiple of 8 per thread.\n"
      "- `.maxntid` (`.reqntid`) alone: the same for one CTA. `.maxnreg`, where there is one, takes its place.\n\n"
      "A bound that an SM of the `.target` cannot hold (threads, CTAs), and `.minnctapersm` without `.maxntid` or "
      "`.reqntid`, are\nignored with a warning. The report, the listing and the terminal state which bound set the "
      "budget.\n\n"
      "`.reqntid` is the only block that can be launched. `.maxntid` bounds the product of a launch's block. "
      "`.maxclusterrank` has no\neffect, since every cluster is one CTA; `.reqnctapercluster` of several CTAs, and "
      "`.blocksareclusters` without `.reqnctapercluster`,\nare rejected. `.pragma` has "
      "no effect but `.pragma \"nounroll\"`, which\n`--target` respects; `.noreturn` has none.\n";
  page +=
      "\n## Clusters and register budgets\n\n"
      "A cluster is one CTA. `mapa` and `getctarank` know its rank, 0; `mapa` of another rank is rejected, or reported "
      "by the emulator.\n`.shared::cluster` is the shared memory of the CTA. `griddepcontrol` has no effect, since "
      "grids run one after another.\n`elect.sync` elects the lowest lane of its member mask.\n\n"
      "`setmaxnreg` needs the number of registers that a thread has at the kernel's entry, as with ptxas: from "
      "`.maxnreg`, or from\n`.minnctapersm` with `.maxntid` or `.reqntid`; at most what the largest `setmaxnreg.inc` "
      "asks for. Without it, `setmaxnreg` is\nignored with a warning. No code uses more registers than the last "
      "`setmaxnreg` on each way to it allows. A `setmaxnreg.dec` to\nmore registers than its warps can have is "
      "rejected, "
      "as by ptxas; the emulator reports warps of a warp group (4 warps) that execute\ndifferent `setmaxnreg`.\n";
  page +=
      "\n## Rejected by name\n\nWith modifiers: only forms that have one of them, or all of those that a `+` joins.\n\n"
      "| kind | instructions | modifiers |\n| --- | --- | --- |\n";
  for (const RefusedFamily& f : refused_families()) {
    page += "| " + std::string(f.what) + " | " + list(words(f.mnemonics)) + " | " + modifiers(f.modifiers) +
            (f.operands != 0 ? " with " + std::to_string(f.operands) + " operands" : "") + " |\n";
  }
  return page;
}

}  // namespace regatta::ptx
