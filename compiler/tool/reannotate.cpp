// SPDX-License-Identifier: Apache-2.0
#include "reannotate.h"

#include <regatta/tool/command_line.h>
#include "annotate_foreign.h"
#include "copy_section.h"
#include "program.h"
#include "scheme_codes.h"

#include <regatta/base/clashes.h>
#include <regatta/emulator/device_memory.h>
#include <regatta/emulator/module_image.h>
#include <regatta/trace/making.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

namespace regatta::tool {

namespace {

using trace::InputError;
using trace::Making;

/// The options of the command that made the trace.
AnnotateOptions options_of(const Making& making, const AnnotateOptions& options) {
  std::vector<std::string> words = making.words();
  words.insert(words.begin(), "regatta-annotate");
  std::vector<char*> arguments;
  arguments.reserve(words.size());
  for (std::string& word : words) arguments.push_back(word.data());
  AnnotateOptions made =
      read_command_line(static_cast<int>(arguments.size()), arguments.data(), options.passes, options.sections).options;
  made.out = options.out;
  made.report.clear();
  made.listing.clear();
  made.dumps.clear();
  if (made.annotations) {
    for (const std::string& scheme : made.schemes)
      if (const auto section = trace::annotation_of_scheme(scheme)) made.annotations->insert(*section);
  }
  made.schemes.clear();
  for (const auto& [name, value] : options.pass_options) made.pass_options[name] = value;
  return made;
}

class Addition {
 public:
  /// `making`: the command that made the trace.
  Addition(const AnnotateOptions& options, const trace::Reader& first, Making making)
      : options_(options), first_(first), making_(std::move(making)) {
    if (options.schemes.empty() && options.passes.asked_names(options.pass_options).empty())
      throw InputError("error: --trace needs --for SCHEME,...: whose annotations to add");
    try {
      made_ = options_of(making_, options);
      program_ = read_program(made_);
    } catch (const InputError& e) {
      refuse("its program cannot be compiled again: " + without_prefix(e.what()));
    }
  }

  AnnotateResult run() {
    choose_sections();
    trace::Writer writer(options_.out, options_.sections);
    writer.set_producer(producer());
    if (first_.variants().size() > 1) writer.announce_variants();
    AnnotateResult result;
    for (const trace::Reader::VariantEntry& v : first_.variants()) copy(v.variant, writer);
    writer.finish();
    std::string names;
    for (const std::string& name : sections_) names += (names.empty() ? "" : ", ") + name;
    for (const std::string& name : asked_) names += (names.empty() ? "" : ", ") + name;
    result.added = options_.out + ": annotations of '" + options_.trace + "' added: " + names;
    return result;
  }

 private:
  static std::string without_prefix(const std::string& text) {
    const std::string prefix = "error: ";
    return text.rfind(prefix, 0) == 0 ? text.substr(prefix.size()) : text;
  }

  [[noreturn]] void refuse(const std::string& why) const {
    Making again = making_;
    again.set("out", options_.out);
    for (const std::string& scheme : options_.schemes) again.add_scheme(scheme);
    for (const auto& [name, value] : options_.pass_options) again.set(name, value == "on" ? "" : value);
    for (const char* output : {"report", "listing", "dump-buffer"}) again.remove(output);
    throw InputError("error: --trace: '" + options_.trace + "': " + why +
                     "\nThis command executes the program again: " + again.text());
  }

  /// The command that would have made the new trace.
  std::string producer() const {
    Making making = making_;
    making.set("out", options_.out);
    for (const std::string& scheme : options_.schemes) making.add_scheme(scheme);
    for (const auto& [name, value] : options_.pass_options) making.set(name, value == "on" ? "" : value);
    const std::string text = making.text(), program = "regatta-annotate";
    return program + " " REGATTA_VERSION + text.substr(program.size());
  }

  bool has_variant_for(const std::string& scheme) const {
    const auto& all = first_.variants();
    return std::any_of(all.begin(), all.end(), [&](const trace::Reader::VariantEntry& v) {
      return std::find(v.variant.schemes.begin(), v.variant.schemes.end(), scheme) != v.variant.schemes.end();
    });
  }

  /// The sections of the schemes, and those that options ask for. A scheme whose code the trace does not have is
  /// refused.
  void choose_sections() {
    for (const std::string& name : options_.passes.asked_names(options_.pass_options)) asked_.insert(name);
    const std::vector<std::string> known = options_.passes.default_names();
    for (const std::string& scheme : options_.schemes) {
      const trace::SchemeCode* code = trace::code_of_scheme(scheme);
      if (code != nullptr && !has_variant_for(scheme)) {
        const Code plain = compile_code({{trace::plain_variant, {}, ""}, made_, {}}, program_);
        const std::vector<trace::CodeOption> its_options = code->options_for(uses_shared_memory(program_));
        const AnnotateOptions other = with_code(made_, its_options);
        if (!is_same(plain, compile_code({{code->name, {}, ""}, other, {}}, program_))) {
          refuse("the scheme " + scheme + " runs on another code (" + options_text(other, its_options) + ")");
        }
      }
      const std::optional<std::string> section = trace::annotation_of_scheme(scheme);
      if (section && std::find(known.begin(), known.end(), *section) != known.end()) sections_.insert(*section);
    }
    if (sections_.empty() && asked_.empty()) {
      throw InputError("error: --trace: '" + options_.trace +
                       "' has all that these schemes need; nothing can be added for them");
    }
  }

  AnnotateOptions options_for(const trace::Variant& variant) const {
    AnnotateOptions o = made_;
    if (variant.name != trace::plain_variant) {
      const auto& all = trace::scheme_codes();
      const auto code = std::find_if(all.begin(), all.end(), [&](const auto& c) { return c.name == variant.name; });
      if (code == all.end()) refuse("how its variant " + variant.name + " is compiled is not known");
      o = with_code(std::move(o), code->options_for(uses_shared_memory(program_)));
    }
    // With the passes that the trace was made with: they may have had a say in the numbers of registers.
    if (o.annotations) o.annotations->insert(sections_.begin(), sections_.end());
    return o;
  }

  /// The kernels of a variant with the new sections.
  std::vector<trace::Kernel> annotated(const trace::Reader& reader) const {
    Code code{reader.variant(), options_for(reader.variant()), {}};
    try {
      code = compile_code(std::move(code), program_);
    } catch (const InputError& e) {
      refuse(without_prefix(e.what()));
    }
    if (code.kernels.size() != reader.kernels().size()) refuse("its program has other kernels now");
    emulator::DeviceMemory memory(program_.below_4_gb);
    std::vector<emulator::ModuleImage> images;
    images.reserve(program_.variables.size());
    for (const ir::Module& m : program_.variables) images.emplace_back(m, memory);
    std::vector<trace::Kernel> kernels = reader.kernels();
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      CompiledKernel& compiled = code.kernels[k].second;
      const emulator::ModuleImage& image = images[code.kernels[k].first];
      ir::place_variables(
          *compiled.function, [&image](const std::string& v) { return image.global_address(v); },
          compiled.trace_kernel);
      if (trace::code_digest(compiled.trace_kernel) != trace::code_digest(kernels[k])) {
        refuse("the code of kernel " + kernels[k].name + " is not what " + compiled.function->ptx_file +
               " compiles to now");
      }
      for (std::size_t p = 0; p < compiled.passes.size(); ++p) {
        const std::string name = compiled.passes[p]->name();
        if (sections_.count(name) + asked_.count(name) == 0) continue;
        if (trace::lanes_apart(kernels[k]) && compiled.passes[p]->needs_stack_order()) {
          if (asked_.count(name) != 0 || needs(reader.variant(), name)) {
            refuse("kernel " + kernels[k].name + ": " + lanes_apart_text);
          }
          continue;
        }
        if (!compiled.left_out[p].empty() && needs(reader.variant(), name)) refuse(compiled.left_out[p]);
        copy_section(compiled.trace_kernel, name, options_.sections, kernels[k]);
      }
    }
    return kernels;
  }

  /// Whether a scheme that was asked for reads this section of this variant.
  bool needs(const trace::Variant& variant, const std::string& section) const {
    return std::any_of(options_.schemes.begin(), options_.schemes.end(), [&](const std::string& scheme) {
      const bool is_here = has_variant_for(scheme) ? std::find(variant.schemes.begin(), variant.schemes.end(),
                                                               scheme) != variant.schemes.end()
                                                   : variant.name == trace::plain_variant;
      return is_here && trace::annotation_of_scheme(scheme) == section;
    });
  }

  void copy(const trace::Variant& variant, trace::Writer& writer) const {
    const trace::Reader reader(options_.trace, options_.sections, variant.name);
    if (variant.name != trace::plain_variant) writer.begin_variant(variant);
    for (const trace::Kernel& kernel : annotated(reader)) writer.add_kernel(kernel);
    const auto stream = reader.stream(0, reader.ctas().size());
    auto cta = stream->next();
    for (std::uint32_t l = 0; l < reader.launches().size(); ++l) {
      writer.begin_launch(reader.launches()[l]);
      for (; cta != nullptr && cta->launch == l; cta = stream->next()) writer.add_cta(*cta);
    }
  }

  const AnnotateOptions& options_;
  const trace::Reader& first_;
  const Making making_;
  AnnotateOptions made_;  ///< those of the trace's making, with the new ones of annotations
  Program program_;
  std::set<std::string> sections_;  ///< of passes that run without an option
  std::set<std::string> asked_;     ///< of others
};

}  // namespace

AnnotateResult add_annotations(const AnnotateOptions& options) {
  base::refuse_clashes({{"--out", options.out, true}, {"--trace", options.trace, false}});
  const trace::Reader first(options.trace, options.sections);
  if (std::optional<Making> making = Making::of(first.producer()))
    return Addition(options, first, *std::move(making)).run();
  return annotate_foreign(options, first);
}

}  // namespace regatta::tool
