// SPDX-License-Identifier: Apache-2.0
#include "codec.h"

#include <xxhash.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>

namespace regatta::trace {
namespace {

static_assert(static_cast<unsigned>(proto::OP_ASYNC) == static_cast<unsigned>(OpClass::async));
static_assert(static_cast<unsigned>(proto::OP_SFU) == static_cast<unsigned>(OpClass::sfu));
static_assert(static_cast<unsigned>(proto::SPACE_ASYNCHRONOUS) == static_cast<unsigned>(MemorySpace::asynchronous));
static_assert(static_cast<unsigned>(proto::ASYNC_BULK_WAIT_READ) == static_cast<unsigned>(AsyncKind::bulk_wait_read));
static_assert(static_cast<unsigned>(proto::Operand::CONSTANT_BANK) ==
              static_cast<unsigned>(Operand::Kind::constant_bank));
static_assert(static_cast<unsigned>(proto::DISPOSITION_ISSUE) == static_cast<unsigned>(Disposition::issue));
static_assert(static_cast<unsigned>(proto::VALUE_RAW) == static_cast<unsigned>(ValueKind::raw));
static_assert(static_cast<unsigned>(proto::ADDRESS_SCATTERED) == static_cast<unsigned>(AddressKind::scattered));
static_assert(static_cast<unsigned>(proto::FRAME_INDEX) == static_cast<unsigned>(FrameKind::index));

/// `value` as the narrower type T.
template <class T, class V>
T narrow(V value, const char* what) {
  if (value < 0 || static_cast<std::uint64_t>(value) > static_cast<std::uint64_t>(std::numeric_limits<T>::max())) {
    throw Malformed(std::string(what) + " is " + std::to_string(value) + ", expected 0 to " +
                    std::to_string(std::numeric_limits<T>::max()));
  }
  return static_cast<T>(value);
}

template <class Enum, class V>
Enum narrow_enum(V value, const char* what) {
  return static_cast<Enum>(narrow<std::uint8_t>(static_cast<std::int64_t>(value), what));
}

/// `to` keeps its memory.
template <class T>
void assign(std::vector<T>& to, const google::protobuf::RepeatedField<T>& field) {
  to.assign(field.data(), field.data() + field.size());
}

template <class T>
std::vector<T> to_vector(const google::protobuf::RepeatedField<T>& field) {
  return std::vector<T>(field.data(), field.data() + field.size());
}

template <class From, class To>
void copy_to(const std::vector<From>& from, google::protobuf::RepeatedField<To>* to) {
  to->Add(from.begin(), from.end());
}

/// A counted array of small numbers.
template <std::size_t size>
std::uint8_t to_array(const google::protobuf::RepeatedField<std::uint32_t>& from, std::array<std::uint8_t, size>& to,
                      const char* what) {
  if (from.size() > static_cast<int>(size)) {
    throw Malformed("number of " + std::string(what) + "s is " + std::to_string(from.size()) + ", expected at most " +
                    std::to_string(size));
  }
  for (int i = 0; i < from.size(); ++i) to[i] = narrow<std::uint8_t>(from[i], what);
  return static_cast<std::uint8_t>(from.size());
}

template <std::size_t size>
void from_array(const std::array<std::uint8_t, size>& from, unsigned count,
                google::protobuf::RepeatedField<std::uint32_t>* to) {
  to->Add(from.begin(), from.begin() + count);
}

void encode(const StaticInstruction& i, proto::StaticInstruction& m) {
  m.set_opcode(i.opcode);
  m.set_opcode_id(i.opcode_id);
  m.set_op_class(static_cast<proto::OpClass>(i.op_class));
  if (i.guard.predicate >= 0) m.set_guard(static_cast<std::uint32_t>(i.guard.predicate));
  m.set_guard_negated(i.guard.negated);
  from_array(i.sources, i.source_count, m.mutable_sources());
  from_array(i.destinations, i.destination_count, m.mutable_destinations());
  from_array(i.source_predicates, i.source_predicate_count, m.mutable_source_predicates());
  from_array(i.destination_predicates, i.destination_predicate_count, m.mutable_destination_predicates());
  m.set_space(static_cast<proto::MemorySpace>(i.space));
  m.set_access_bytes(i.access_bytes);
  m.set_is_volatile(i.is_volatile);
  m.set_bypasses_l1(i.bypasses_l1);
  m.set_reads_memory(i.reads_memory);
  m.set_writes_memory(i.writes_memory);
  if (i.branch_target >= 0) m.set_branch_target(static_cast<std::uint32_t>(i.branch_target));
  m.set_barrier_id(i.barrier_id);
  m.set_barrier_threads(i.barrier_threads);
  m.set_barrier_arrives(i.barrier_arrives);
  m.set_barrier_half(static_cast<proto::BarrierHalf>(i.barrier_half));
  m.set_register_budget(i.register_budget);
  m.set_raises_budget(i.raises_budget);
  for (const Operand& operand : i.operands) {
    proto::Operand* o = m.add_operands();
    o->set_kind(static_cast<proto::Operand::Kind>(operand.kind));
    o->set_words(operand.words);
    o->set_negated(operand.negated);
    o->set_value(operand.value);
  }
  m.set_operand_destinations(i.operand_destinations);
  m.set_ptx_line(i.ptx_line);
  m.set_source_file(i.source_file);
  m.set_source_line(i.source_line);
  m.set_scheme(i.scheme);
  m.set_reads_carry(i.reads_carry);
  m.set_writes_carry(i.writes_carry);
  m.set_address_offset(i.address_offset);
  m.set_async_kind(static_cast<proto::AsyncKind>(i.async));
  m.set_async_value(i.async_value);
}

StaticInstruction decode(const proto::StaticInstruction& m) {
  StaticInstruction i;
  i.opcode = m.opcode();
  i.opcode_id = m.opcode_id();
  i.op_class = narrow_enum<OpClass>(m.op_class(), "operation class");
  if (m.has_guard()) i.guard.predicate = narrow<std::int8_t>(m.guard(), "guard predicate");
  i.guard.negated = m.guard_negated();
  i.source_count = to_array(m.sources(), i.sources, "source register");
  i.destination_count = to_array(m.destinations(), i.destinations, "destination register");
  i.source_predicate_count = to_array(m.source_predicates(), i.source_predicates, "source predicate");
  i.destination_predicate_count =
      to_array(m.destination_predicates(), i.destination_predicates, "destination predicate");
  i.space = narrow_enum<MemorySpace>(m.space(), "memory space");
  i.access_bytes = narrow<std::uint8_t>(m.access_bytes(), "access bytes");
  i.is_volatile = m.is_volatile();
  i.bypasses_l1 = m.bypasses_l1();
  i.reads_memory = m.reads_memory();
  i.writes_memory = m.writes_memory();
  if (m.has_branch_target()) i.branch_target = narrow<std::int32_t>(m.branch_target(), "branch target");
  i.async = narrow_enum<AsyncKind>(m.async_kind(), "asynchronous operation");
  i.async_value = m.async_value();
  i.barrier_id = narrow<std::uint8_t>(m.barrier_id(), "barrier");
  i.barrier_threads = m.barrier_threads();
  i.barrier_arrives = m.barrier_arrives();
  i.barrier_half = narrow_enum<BarrierHalf>(m.barrier_half(), "half of a barrier");
  i.register_budget = narrow<std::uint16_t>(m.register_budget(), "register budget");
  i.raises_budget = m.raises_budget();
  i.operands.reserve(static_cast<std::size_t>(m.operands_size()));
  for (const proto::Operand& o : m.operands()) {
    Operand operand;
    operand.kind = narrow_enum<Operand::Kind>(o.kind(), "operand kind");
    operand.words = narrow<std::uint8_t>(o.words(), "operand words");
    operand.negated = o.negated();
    operand.value = o.value();
    i.operands.push_back(operand);
  }
  i.operand_destinations = narrow<std::uint8_t>(m.operand_destinations(), "number of destination operands");
  i.ptx_line = m.ptx_line();
  i.source_file = m.source_file();
  i.source_line = m.source_line();
  i.scheme = m.scheme();
  i.reads_carry = m.reads_carry();
  i.writes_carry = m.writes_carry();
  i.address_offset = m.address_offset();
  return i;
}

void decode(proto::WarpColumns& m, WarpColumns& c) {
  assign(c.run_start, m.run_start());
  assign(c.run_length, m.run_length());
  assign(c.mask_at, m.mask_at());
  assign(c.mask, m.mask());
  assign(c.guard_mask, m.guard_mask());
  c.address_kind.swap(*m.mutable_address_kind());
  assign(c.address_base, m.address_base());
  assign(c.address_delta, m.address_delta());
  c.value_kind.swap(*m.mutable_value_kind());
  c.value_data.swap(*m.mutable_value_data());
  assign(c.predicate, m.predicate());
  assign(c.stack_at, m.stack_at());
  assign(c.stack_event, m.stack_event());
  assign(c.stack_mask, m.stack_mask());
  c.shared_value_kind.swap(*m.mutable_shared_value_kind());
  c.shared_value_data.swap(*m.mutable_shared_value_data());
  c.texel_count.swap(*m.mutable_texel_count());
  c.warp_instructions = m.warp_instructions();
  c.thread_instructions = m.thread_instructions();
}

}  // namespace

void encode(const Kernel& kernel, proto::Kernel& m) {
  m.set_name(kernel.name);
  m.set_ptx_file(kernel.ptx_file);
  for (const std::string& file : kernel.source_files) m.add_source_files(file);
  m.set_warp_size(kernel.warp_size);
  m.set_registers_per_thread(kernel.registers_per_thread);
  m.set_launch_registers(kernel.launch_registers);
  m.set_predicates(kernel.predicates);
  m.set_static_shared_bytes(kernel.static_shared_bytes);
  m.set_local_bytes_per_thread(kernel.local_bytes_per_thread);
  m.set_spilled_registers(kernel.spilled_registers);
  m.set_static_revision(kernel.static_revision);
  m.set_shared_values(kernel.shared_values);
  m.set_version_tags(kernel.version_tags);
  for (const StaticInstruction& instruction : kernel.instructions) encode(instruction, *m.add_instructions());
  for (const BasicBlock& block : kernel.blocks) {
    proto::BasicBlock* b = m.add_blocks();
    b->set_first(block.first);
    b->set_count(block.count);
    copy_to(block.successors, b->mutable_successors());
    if (block.reconvergence >= 0) {
      b->set_reconvergence(static_cast<std::uint32_t>(block.reconvergence));
    }
  }
  for (const SharedVariable& variable : kernel.shared_variables) {
    proto::SharedVariable* v = m.add_shared_variables();
    v->set_name(variable.name);
    v->set_offset(variable.offset);
    v->set_bytes(variable.bytes);
  }
  for (const AnnotationSection& section : kernel.annotations) {
    proto::AnnotationSection* a = m.add_annotations();
    a->set_name(section.name);
    a->set_version(section.version);
    a->set_payload(section.payload);
  }
  for (const InsertedInstruction& inserted : kernel.inserted) {
    proto::InsertedInstruction* i = m.add_inserted();
    i->set_before(inserted.before);
    encode(inserted.instruction, *i->mutable_instruction());
    i->set_disposition(static_cast<proto::Disposition>(inserted.disposition));
    if (inserted.after >= 0) i->set_after(static_cast<std::uint32_t>(inserted.after));
  }
}

Kernel decode(const proto::Kernel& m) {
  Kernel kernel;
  kernel.name = m.name();
  kernel.ptx_file = m.ptx_file();
  kernel.source_files.assign(m.source_files().begin(), m.source_files().end());
  kernel.warp_size = m.warp_size();
  kernel.registers_per_thread = m.registers_per_thread();
  kernel.launch_registers = m.launch_registers();
  kernel.predicates = m.predicates();
  kernel.static_shared_bytes = m.static_shared_bytes();
  kernel.local_bytes_per_thread = m.local_bytes_per_thread();
  kernel.spilled_registers = m.spilled_registers();
  kernel.static_revision = m.static_revision();
  kernel.shared_values = m.shared_values();
  kernel.version_tags = m.version_tags();
  kernel.instructions.reserve(static_cast<std::size_t>(m.instructions_size()));
  for (int i = 0; i < m.instructions_size(); ++i) {
    try {
      kernel.instructions.push_back(decode(m.instructions(i)));
    } catch (const Malformed& e) {
      throw Malformed("instruction " + std::to_string(i) + ": " + e.what());
    }
  }
  for (const proto::BasicBlock& b : m.blocks()) {
    BasicBlock block;
    block.first = b.first();
    block.count = b.count();
    block.successors = to_vector(b.successors());
    if (b.has_reconvergence()) {
      block.reconvergence = narrow<std::int32_t>(b.reconvergence(), "reconvergence block");
    }
    kernel.blocks.push_back(std::move(block));
  }
  for (const proto::SharedVariable& v : m.shared_variables()) {
    kernel.shared_variables.push_back({v.name(), v.offset(), v.bytes()});
  }
  for (const proto::AnnotationSection& a : m.annotations()) {
    kernel.annotations.push_back({a.name(), a.version(), a.payload()});
  }
  for (int i = 0; i < m.inserted_size(); ++i) {
    try {
      const proto::InsertedInstruction& from = m.inserted(i);
      InsertedInstruction& inserted = kernel.inserted.emplace_back();
      inserted.before = from.before();
      inserted.instruction = decode(from.instruction());
      inserted.disposition = narrow_enum<Disposition>(from.disposition(), "disposition");
      if (from.has_after()) inserted.after = narrow<std::int32_t>(std::int64_t{from.after()}, "end of an edge");
    } catch (const Malformed& e) {
      throw Malformed("inserted instruction " + std::to_string(i) + ": " + e.what());
    }
  }
  return kernel;
}

void encode(const Launch& launch, proto::Launch& m) {
  m.set_kernel(launch.kernel);
  m.mutable_grid()->Add(launch.grid.begin(), launch.grid.end());
  m.mutable_block()->Add(launch.block.begin(), launch.block.end());
  m.set_dynamic_shared_bytes(launch.dynamic_shared_bytes);
  m.set_shared_bytes_per_cta(launch.shared_bytes_per_cta);
  m.set_first_cta(launch.first_cta);
  m.set_cta_count(launch.cta_count);
  m.set_warp_instructions(launch.warp_instructions);
  m.set_thread_instructions(launch.thread_instructions);
  if (!launch.signature) return;
  const LaunchSignature& s = *launch.signature;
  proto::LaunchSignature& signature = *m.mutable_signature();
  // Classes that came later are left out where they do not occur: traces without them stay as they were.
  const auto* end = s.classes.data() + s.classes.size();
  while (end != s.classes.data() + static_cast<unsigned>(OpClass::metadata) + 1 && end[-1] == 0) --end;
  signature.mutable_class_instructions()->Add(s.classes.data(), end);
  signature.mutable_value_kinds()->Add(s.values.begin(), s.values.end());
  signature.set_lines(s.lines);
  signature.set_requests(s.requests);
  signature.set_bytes(s.bytes);
}

namespace {

/// Copies a list with a place per class. A trace of a later version may have more classes: a signature that lacks them
/// would be wrong, so there is none then.
template <class List, std::size_t size>
bool copy_counts(const List& from, std::array<std::uint64_t, size>& to) {
  if (static_cast<std::size_t>(from.size()) > size) return false;
  std::copy(from.begin(), from.end(), to.begin());
  return true;
}

std::optional<LaunchSignature> decode(const proto::LaunchSignature& m) {
  LaunchSignature s;
  if (!copy_counts(m.class_instructions(), s.classes) || !copy_counts(m.value_kinds(), s.values)) return std::nullopt;
  s.lines = m.lines();
  s.requests = m.requests();
  s.bytes = m.bytes();
  return s;
}

}  // namespace

Launch decode(const proto::Launch& m) {
  if (m.grid_size() != 3 || m.block_size() != 3) throw Malformed("the grid or block does not have 3 dimensions");
  Launch launch;
  launch.kernel = m.kernel();
  for (int i = 0; i < 3; ++i) {
    launch.grid[i] = m.grid(i);
    launch.block[i] = m.block(i);
  }
  launch.dynamic_shared_bytes = m.dynamic_shared_bytes();
  launch.shared_bytes_per_cta = m.shared_bytes_per_cta();
  launch.first_cta = m.first_cta();
  launch.cta_count = m.cta_count();
  launch.warp_instructions = m.warp_instructions();
  launch.thread_instructions = m.thread_instructions();
  if (m.has_signature()) launch.signature = decode(m.signature());
  return launch;
}

void decode(proto::Cta& m, Cta& cta) {
  cta.launch = m.launch();
  cta.index = m.index();
  cta.warps.resize(static_cast<std::size_t>(m.warps_size()));
  for (int i = 0; i < m.warps_size(); ++i) {
    WarpColumns& warp = cta.warps[static_cast<std::size_t>(i)];
    decode(*m.mutable_warps(i), warp);
    warp.segments.reset();
    warp.cta = cta.index;
    warp.warp = static_cast<std::uint32_t>(i);
  }
}

void decode(proto::Segment& m, WarpColumns& columns) { decode(*m.mutable_columns(), columns); }

void encode(const Variant& variant, proto::Variant& message) {
  message.set_name(variant.name);
  for (const std::string& scheme : variant.schemes) message.add_schemes(scheme);
  message.set_options(variant.options);
}

Variant decode(const proto::Variant& message) {
  return {message.name(), {message.schemes().begin(), message.schemes().end()}, message.options()};
}

void validate_variants(const proto::Index& index, std::uint32_t version) {
  if (version < variants_format_version && index.variants_size() != 0) {
    throw Malformed("names variants, which files of version " + std::to_string(version) + " do not have");
  }
  constexpr std::size_t most_letters = 64;
  std::set<std::string> names{plain_variant}, schemes;
  for (const proto::Variant& v : index.variants()) {
    const bool is_name = !v.name().empty() && v.name().size() <= most_letters &&
                         v.name().find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
    if (!is_name) throw Malformed("the name of a variant is not made of lower-case letters, digits and '_'");
    if (!names.insert(v.name()).second) throw Malformed("two variants are called '" + v.name() + "'");
    for (const std::string& scheme : v.schemes()) {
      if (!schemes.insert(scheme).second) throw Malformed("the scheme '" + scheme + "' has two variants");
    }
  }
}

std::uint64_t digest_of_code(proto::Kernel code) {
  code.clear_ptx_file();
  code.clear_source_files();
  code.clear_annotations();
  code.clear_inserted();
  code.clear_shared_values();
  code.clear_version_tags();
  for (proto::StaticInstruction& i : *code.mutable_instructions()) {
    i.clear_opcode_id();  // a number within the trace
    i.clear_ptx_line();
    i.clear_source_file();
    i.clear_source_line();
  }
  const std::string bytes = code.SerializeAsString();  // it has no map, whose order could vary
  return XXH64(bytes.data(), bytes.size(), 0);
}

std::uint64_t code_digest(const Kernel& kernel) {
  proto::Kernel code;
  encode(kernel, code);
  return digest_of_code(std::move(code));
}

bool same_static_part(const Kernel& a, const Kernel& b) {
  proto::Kernel first, second;
  encode(a, first);
  encode(b, second);
  return first.SerializeAsString() == second.SerializeAsString();
}

}  // namespace regatta::trace
