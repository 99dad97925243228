// SPDX-License-Identifier: Apache-2.0
#include "annotate_foreign.h"

#include "copy_section.h"
#include "progress.h"
#include "seen_paths.h"

#include <regatta/base/shell_words.h>
#include <regatta/ir/from_trace.h>
#include <regatta/trace/scheme_code.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regatta::tool {

namespace {

using passes::LaneOrder;
using trace::InputError;

/// Whether the warps of a kernel kept to the order that a pass takes for granted.
class OrderCheck {
 public:
  OrderCheck(const SeenPaths& seen, analysis::FunctionAnalyses& analyses) : seen_(seen), analyses_(analyses) {}

  /// Throws InputError with what they did instead.
  void require(LaneOrder order) {
    if (order == LaneOrder::any) return;
    if (!seen_.is_by_block()) {
      throw InputError(
          "warps turn to other lanes in the middle of a basic block, and it holds only if they do so between blocks");
    }
    if (order == LaneOrder::by_block) return;
    if (!is_nested()) {
      throw InputError(
          "lanes wait elsewhere than at the sides of a branch and at its post-dominator, and it holds only if they "
          "wait there");
    }
  }

 private:
  /// Looked up once: several passes ask, and the answer walks all paths.
  bool is_nested() {
    if (!nesting_is_known_) {
      is_nested_ = seen_.is_nested(analyses_.reconvergence().immediate());
      nesting_is_known_ = true;
    }
    return is_nested_;
  }

  const SeenPaths& seen_;
  analysis::FunctionAnalyses& analyses_;
  bool nesting_is_known_ = false;
  bool is_nested_ = false;
};

class ForeignTrace {
 public:
  ForeignTrace(const AnnotateOptions& options, const trace::Reader& first)
      : options_(options),
        first_(first),
        asks_for_all_(options.schemes.empty() || options.all_schemes),
        progress_(options.progress) {}

  AnnotateResult run() {
    choose_sections();
    std::vector<std::pair<trace::Variant, std::vector<trace::Kernel>>> codes;
    std::uint32_t version = trace::plain_format_version;
    for (const trace::Reader::VariantEntry& v : first_.variants()) {
      codes.emplace_back(v.variant, annotated(reader_of(v.variant)));
      for (const trace::Kernel& k : codes.back().second) version = std::max(version, trace::version_needed(k));
    }
    if (added_.empty()) {
      refuse(result_.without_variant.empty()
                 ? "it has no kernel"
                 : "no kernel can have one of the annotations: " + result_.without_variant.front());
    }
    trace::Writer writer(options_.out, options_.sections);
    writer.set_producer(producer());
    if (codes.size() > 1) writer.announce_variants();
    writer.announce_version(version);
    for (const auto& [variant, kernels] : codes) copy(variant, kernels, writer);
    writer.finish();
    std::string names;
    for (const std::string& name : options_.passes.default_names())
      if (added_.count(name) != 0) names += (names.empty() ? "" : ", ") + name;
    result_.added = options_.out + ": annotations of '" + options_.trace + "' added: " + names;
    return std::move(result_);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw InputError("error: --trace: '" + options_.trace + "': " + why);
  }

  trace::Reader reader_of(const trace::Variant& variant) const {
    return trace::Reader(options_.trace, options_.sections, variant.name);
  }

  /// Where the trace comes from stays known.
  std::string producer() const {
    std::string words = "regatta-annotate " REGATTA_VERSION " --trace " + base::shell_word(options_.trace);
    if (options_.all_schemes) {
      words += " --for all";
    } else if (!options_.schemes.empty()) {
      std::string schemes;
      for (const std::string& s : options_.schemes) schemes += (schemes.empty() ? "" : ",") + s;
      words += " --for " + schemes;
    }
    for (const auto& [name, value] : options_.pass_options)
      words += " --" + name + (value == "on" ? "" : " " + base::shell_word(value));
    return (first_.producer().empty() ? "" : first_.producer() + "; ") + words;
  }

  void choose_sections() {
    if (const auto asked = options_.passes.asked_names(options_.pass_options); !asked.empty()) {
      refuse("the annotation '" + asked.front() + "' needs the program, and regatta-annotate did not make the trace");
    }
    const std::vector<std::string> known = options_.passes.default_names();
    if (asks_for_all_) {
      sections_.insert(known.begin(), known.end());
      return;
    }
    for (const std::string& scheme : options_.schemes) {
      check_code(scheme);
      const std::optional<std::string> section = trace::annotation_of_scheme(scheme);
      if (section && std::find(known.begin(), known.end(), *section) != known.end()) sections_.insert(*section);
    }
    if (sections_.empty()) {
      throw InputError("error: --trace: '" + options_.trace +
                       "' has all that these schemes need; nothing can be added for them");
    }
  }

  /// Why a scheme cannot run on a kernel, because it needs another code; "" if it can.
  static std::string misfit(const std::string& scheme, const trace::Kernel& k) {
    const trace::SchemeCode* code = trace::code_of_scheme(scheme);
    if (code == nullptr) return "";
    const std::vector<trace::CodeOption> its_options = code->options_for(true);
    for (const trace::CodeOption& o : its_options) {
      if (o.name == "reorder-registers") continue;  // any numbers will do
      if (o.name == "max-registers" && k.registers_per_thread <= std::stoul(o.value)) continue;
      if (o.name == "warp-size" && k.warp_size == std::stoul(o.value)) continue;
      return "the scheme " + scheme + " runs on another code (" + trace::to_string(its_options) + ") than kernel " +
             k.name + " has (" + std::to_string(k.registers_per_thread) + " registers, " + std::to_string(k.warp_size) +
             " lanes); only the code of a trace that regatta-annotate made can be changed";
    }
    return "";
  }

  void check_code(const std::string& scheme) const {
    const auto& variants = first_.variants();
    const bool has_its_own = std::any_of(variants.begin(), variants.end(), [&](const trace::Reader::VariantEntry& v) {
      return std::find(v.variant.schemes.begin(), v.variant.schemes.end(), scheme) != v.variant.schemes.end();
    });
    for (const trace::Kernel& k : first_.kernels())
      if (const std::string why = misfit(scheme, k); !has_its_own && !why.empty()) refuse(why);
  }

  /// The kernels of a variant with the new sections.
  std::vector<trace::Kernel> annotated(const trace::Reader& reader) {
    std::vector<trace::Kernel> kernels = reader.kernels();
    std::vector<std::unique_ptr<ir::Function>> functions;
    std::vector<SeenPaths> seen;
    for (const trace::Kernel& kernel : reader.kernels()) {
      functions.push_back(std::make_unique<ir::Function>(ir::from_trace(kernel)));
      seen.emplace_back(kernel);
    }
    const auto stream = reader.stream(0, reader.ctas().size());
    std::uint64_t done = 0;
    while (const auto cta = stream->next()) {
      SeenPaths& paths = seen[reader.launches()[cta->launch].kernel];
      for (const trace::WarpColumns& warp : cta->warps) paths.add(warp);
      progress_.update("looking at paths", ++done, reader.ctas().size());
    }
    for (std::size_t k = 0; k < kernels.size(); ++k) annotate(*functions[k], seen[k], kernels[k]);
    return kernels;
  }

  void annotate(const ir::Function& function, const SeenPaths& seen, trace::Kernel& kernel) {
    analysis::FunctionAnalyses analyses(function, seen.flow());
    OrderCheck check(seen, analyses);
    trace::Kernel fresh = kernel;
    fresh.annotations.clear();
    fresh.inserted.clear();
    for (const auto& pass : options_.passes.make(options_.pass_options, sections_)) {
      const std::string name = pass->name();
      try {
        check.require(pass->lane_order());
        pass->run(fresh, analyses);
        copy_section(fresh, name, options_.sections, kernel);
        added_.insert(name);
      } catch (const InputError& e) {
        std::string why;
        for (const std::string& scheme : trace::schemes_with_code())
          if (why.empty() && trace::annotation_of_scheme(scheme) == name) why = misfit(scheme, kernel);
        leave_out(kernel, name, why.empty() ? e.what() : why);
      }
    }
  }

  void leave_out(const trace::Kernel& kernel, const std::string& name, std::string why) {
    const std::string prefix = "error: ";
    if (why.rfind(prefix, 0) == 0) why.erase(0, prefix.size());
    const std::string line = kernel.name + ": no annotation '" + name + "': " + why;
    for (const std::string& scheme : options_.schemes) {
      if (!asks_for_all_ && trace::annotation_of_scheme(scheme) == name)
        throw InputError("error: --for " + scheme + ": " + line);
    }
    result_.without_variant.push_back(line);
  }

  void copy(const trace::Variant& variant, const std::vector<trace::Kernel>& kernels, trace::Writer& writer) {
    const trace::Reader reader = reader_of(variant);
    if (variant.name != trace::plain_variant) writer.begin_variant(variant);
    for (const trace::Kernel& kernel : kernels) writer.add_kernel(kernel);
    const auto stream = reader.stream(0, reader.ctas().size());
    auto cta = stream->next();
    std::uint64_t done = 0;
    for (std::uint32_t l = 0; l < reader.launches().size(); ++l) {
      writer.begin_launch(reader.launches()[l]);
      for (; cta != nullptr && cta->launch == l; cta = stream->next()) {
        writer.add_cta(*cta);
        progress_.update("writing", ++done, reader.ctas().size());
      }
    }
  }

  const AnnotateOptions& options_;
  const trace::Reader& first_;
  const bool asks_for_all_;
  Progress progress_;
  std::set<std::string> sections_;  ///< wanted
  std::set<std::string> added_;     ///< those that some kernel has now
  AnnotateResult result_;
};

}  // namespace

AnnotateResult annotate_foreign(const AnnotateOptions& options, const trace::Reader& first) {
  return ForeignTrace(options, first).run();
}

}  // namespace regatta::tool
