// SPDX-License-Identifier: Apache-2.0
#include "harness.h"

#include <regatta/analysis/function_analyses.h>
#include <regatta/passes/register_allocation.h>
#include <regatta/ptx/ptx.h>
#include <regatta/trace/types.h>

#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace regatta::test {

Machine::Machine(const std::string& ptx, unsigned warp_size, unsigned max_registers, const std::string& entry,
                 const passes::Target& target)
    : module(ptx::parse_module(ptx, "k.ptx")), function(&module.functions.at(0)) {
  for (ir::Function& f : module.functions) {
    if (f.name == entry) function = &f;
  }
  options.warp_size = warp_size;
  passes::AllocationOptions allocation;
  allocation.max_registers = max_registers;
  allocation.target = &target;
  passes::allocate_registers(*function, allocation);
  ir::build_edges(*function);
  analysis::FunctionAnalyses analyses(*function);
  reconvergence = analyses.reconvergence().immediate();
  image = std::make_unique<emulator::ModuleImage>(module, memory, &textures);
  options.textures = &textures;
  kernel = ir::to_trace(*function, reconvergence, warp_size);
}

emulator::RunCounts Machine::run(emulator::TraceSink* sink) {
  emulator::Emulator emulator(*function, reconvergence, memory, *image, options);
  return emulator.run(request, &kernel, sink);
}

std::string Machine::error() {
  try {
    run();
  } catch (const trace::InputError& e) {
    return e.what();
  }
  return "";
}

std::vector<emulator::Race> Machine::races() {
  emulator::Emulator emulator(*function, reconvergence, memory, *image, options);
  emulator.run(request);
  return emulator.races();
}

std::string module_text(const std::string& parameters, const std::string& body, const std::string& before,
                        const std::string& target) {
  return ".version 9.0\n.target " + target + "\n.address_size 64\n" + before + ".visible .entry k(" + parameters +
         ")\n{\n" + body + "}\n";
}

std::string sample(const std::string& name) {
  std::ifstream in(REGATTA_EMULATOR_SAMPLES "/" + name);
  std::stringstream text;
  text << in.rdbuf();
  if (text.str().empty()) throw std::runtime_error("no sample " + name);
  return text.str();
}

}  // namespace regatta::test
