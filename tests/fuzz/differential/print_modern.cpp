// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "matrix.h"
#include "modern.h"

namespace regatta::test::differential {
namespace {

using Kind = Statement::Kind;

std::string number(unsigned v) { return std::to_string(v); }
std::string braces(const Operand* first, std::size_t count) {
  std::string text = "{";
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + operand_name(first[i]);
  return text + "}";
}
std::string scratch(const char* name, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i) text += std::string(i == 0 ? "%" : ", %") + name + number(i);
  return text + "}";
}

class ModernPrinter {
 public:
  ModernPrinter(const Program& program, const Statement& s, unsigned phase, const std::function<std::string()>& label)
      : program_(program), s_(s), phase_(phase), label_(label) {}

  std::string run(const std::string& copy_body) {
    switch (s_.kind) {
      case Kind::copy:
        copy(copy_body);
        break;
      case Kind::product:
        product();
        break;
      case Kind::transpose:
        line("movmatrix.sync.aligned.m8n8.trans.b16 " + operand_name(s_.to[0]) + ", " + operand_name(s_.from[0]));
        break;
      case Kind::matrix_load:
        matrix_load();
        break;
      case Kind::matrix_store:
        matrix_store();
        break;
      case Kind::memory_product:
        memory_product();
        break;
      case Kind::exchange:
        exchange();
        break;
      case Kind::bulk_load:
        bulk_load();
        break;
      default:
        bulk_store();
    }
    return std::move(text_);
  }

 private:
  void line(const std::string& text) { text_ += "  " + text + ";\n"; }
  void guarded(const std::string& text) { text_ += "  " + guard_text(s_) + text + ";\n"; }
  bool is(MatrixMode bit) const { return (s_.mode & bit) != 0; }

  void copy(const std::string& body) {
    for (const CopyPart& c : s_.copies) {
      std::string more;
      if (c.mode == CopyPart::Mode::cut) {
        line("and.b32 %t0, " + operand_name(c.operand) + ", " + number(c.bytes - 1));
        more = ", %t0";
      } else if (c.mode == CopyPart::Mode::ignored) {
        more = ", " + operand_name(c.operand);
      }
      guarded(std::string("cp.async.") + (c.mode == CopyPart::Mode::global_level ? "cg" : "ca") +
              ".shared.global [%own_shared+" + number(c.to) + "], [%own_global+" + number(c.from) + "], " +
              number(c.bytes) + more);
      line("cp.async.commit_group");
    }
    text_ += body;
    line("cp.async.wait_group " + number(std::min(s_.trips, static_cast<unsigned>(s_.copies.size()) - 1)));
    guarded("ld.shared.u32 " + operand_name(s_.to[0]) + ", [%own_shared+" + number(s_.copies[0].to) + "]");
    line("cp.async.wait_all");
  }

  void product() {
    const MatrixForm& f = matrix_forms()[s_.row];
    const bool doubles = f.a == MatrixElement::f64;
    const std::size_t a = doubles ? 1 : f.a_words(), b = doubles ? 1 : f.b_words(), c = s_.to.size();
    line(f.text() + " " + braces(s_.to.data(), c) + ", " + braces(s_.from.data(), a) + ", " +
         braces(s_.from.data() + a, b) + ", " + braces(s_.from.data() + a + b, c));
  }

  void barrier() { line(is(warp_barrier) ? "bar.warp.sync 0xffffffff" : "bar.sync 0"); }
  void store_row(const Operand* row) { line("st.shared.v4.u32 [%own_row], " + braces(row, 4)); }
  /// The address of row %t0 of the warp.
  std::string row_address() {
    line("shl.b32 %t0, %t0, 4");
    line("add.u32 %t0, %matrix, %t0");
    if (!is(generic_rows)) return "[%t0]";
    line("cvt.u64.u32 %u0, %t0");
    line("cvta.shared.u64 %u0, %u0");
    return "[%u0]";
  }
  std::string shape() const {
    return std::string("sync.aligned.m8n8.x") + number(s_.count) + (is(transposed) ? ".trans" : "") +
           (is(generic_rows) ? "" : ".shared") + ".b16 ";
  }

  void matrix_load() {
    store_row(s_.from.data());
    barrier();
    line("and.b32 %t0, " + operand_name(s_.from[4]) + ", 31");
    const std::string at = row_address();
    line("ldmatrix." + shape() + braces(s_.to.data(), s_.count) + ", " + at);
    barrier();
  }
  void matrix_store() {
    store_row(s_.from.data());
    barrier();
    line("and.b32 %t0, %tid, 31");
    line("xor.b32 %t0, %t0, " + number(s_.distance));
    const std::string at = row_address();
    line("stmatrix." + shape() + at + ", " + braces(s_.from.data() + 4, s_.count));
    barrier();
    line("ld.shared.v4.u32 " + braces(s_.to.data(), 4) + ", [%own_row]");
    barrier();
  }

  void memory_product() {
    const MatrixForm& f = wmma_forms()[s_.row];
    const auto layout = [](bool columns) { return std::string(columns ? "col" : "row"); };
    const std::string text = f.text();  // mma.sync.aligned.SHAPE.row.col.TYPES
    const std::string head = ".sync.aligned.", at_shape = ".m16n16k16.shared.";
    const auto type = [](MatrixElement e) {
      return std::string(e == MatrixElement::f16    ? "f16"
                         : e == MatrixElement::bf16 ? "bf16"
                         : e == MatrixElement::s8   ? "s8"
                         : e == MatrixElement::u8   ? "u8"
                         : e == MatrixElement::f32  ? "f32"
                                                    : "s32");
    };
    const unsigned ab = f.a == MatrixElement::f16 ? 8 : f.a_words();
    const unsigned c = f.c == MatrixElement::f16 ? 4 : 8;
    line("shl.b32 %t0, %tid, 5");
    line("and.b32 %t0, %t0, 992");
    line("add.u32 %t0, %matrix, %t0");
    line("st.shared.v4.u32 [%t0], " + braces(s_.from.data(), 4));
    line("st.shared.v4.u32 [%t0+16], " + braces(s_.from.data() + 4, 4));
    barrier();
    line("wmma.load.a" + head + layout(is(transposed)) + at_shape + type(f.a) + " " + scratch("wa", ab) +
         ", [%matrix]");
    line("wmma.load.b" + head + layout(is(b_by_columns)) + at_shape + type(f.b) + " " + scratch("wb", ab) +
         ", [%matrix+" + number(32 * bits_of(f.a)) + "]");
    line("wmma.load.c" + head + layout(is(c_by_columns)) + at_shape + type(f.c) + " " + scratch("wc", c) +
         ", [%matrix]");
    const std::string types = f.a == MatrixElement::f16
                                  ? type(f.c) + "." + type(f.c)
                                  : type(f.c) + "." + type(f.a) + "." + type(f.b) + "." + type(f.c);
    line("wmma.mma" + head + layout(is(transposed)) + "." + layout(is(b_by_columns)) + ".m16n16k16." + types +
         (f.saturates ? ".satfinite " : " ") + scratch("wc", c) + ", " + scratch("wa", ab) + ", " + scratch("wb", ab) +
         ", " + scratch("wc", c));
    line("wmma.store.d" + head + layout(is(d_by_columns)) + at_shape + type(f.c) + " [%matrix+1024], " +
         scratch("wc", c));
    barrier();
    // Of an f16 D a lane has 16 bytes.
    const bool half = f.c == MatrixElement::f16;
    line("and.b32 %t0, %tid, 31");
    line(std::string("shl.b32 %t0, %t0, ") + (half ? "4" : "5"));
    line("add.u32 %t0, %matrix, %t0");
    line("ld.shared.v4.u32 " + braces(s_.to.data(), 4) + ", [%t0+" + number(1024 + (is(upper_half) && !half ? 16 : 0)) +
         "]");
    barrier();
  }

  void own_word() {
    line("shl.b32 %t0, %tid, 2");
    line("mov.u32 %t1, area");
    line("add.u32 %t2, %t1, %t0");
  }
  void wait_for_parity() {
    const std::string again = label_();
    text_ += again + ":\n";
    line("mbarrier.try_wait.parity.shared.b64 %q0, [phase], " + number(phase_ & 1));
    line("@!%q0 bra " + again);
  }
  void wait_for_state(const char* how) {
    const std::string again = label_();
    text_ += again + ":\n";
    line(std::string("mbarrier.") + how + ".shared.b64 %q0, [phase], %u0");
    line("@!%q0 bra " + again);
  }

  void exchange() {
    own_word();
    if (s_.mode == by_copy) {
      line("cp.async.ca.shared.global [%t2], [%own_global+" + number(s_.offset) + "], 4");
      line("cp.async.mbarrier.arrive.noinc.shared.b64 [phase]");
      wait_for_parity();
    } else {
      line("st.shared.u32 [%t2], " + operand_name(s_.from[0]));
      if (s_.mode == by_parity) {
        line("mbarrier.arrive.release.cta.shared::cta.b64 _, [phase]");
        wait_for_parity();
      } else {
        line(std::string("mbarrier.arrive.shared.b64 %u0, [phase]") + (s_.mode == by_test ? ", 1" : ""));
        wait_for_state(s_.mode == by_test ? "test_wait" : "try_wait");
      }
    }
    line("add.u32 %t0, %tid, " + number(s_.distance));
    line("rem.u32 %t0, %t0, " + number(threads_per_cta));
    line("shl.b32 %t0, %t0, 2");
    line("add.u32 %t2, %t1, %t0");
    line("ld.shared.u32 %t3, [%t2]");
    line("bar.sync 0");
    line("mov.b32 " + operand_name(s_.to[0]) + ", %t3");
  }

  /// %u0: the slot of thread `distance`; %q0: whether this is the thread that copies. All threads meet.
  void before_bulk() {
    line("fence.proxy.async");
    line("bar.sync 0");
    line("sub.s32 %t0, " + number(s_.distance) + ", %tid");
    line("mul.wide.s32 %u0, %t0, " + number(result_bytes(program_)));
    line("add.s64 %u0, %own_global, %u0");
    line("setp.eq.u32 %q0, %tid, 0");
  }
  void bulk_load() {
    before_bulk();
    const std::string bytes = number(s_.count);
    line("@%q0 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [phase], " + bytes);
    line("@%q0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [inbox], [%u0+" + number(s_.offset) +
         "], " + bytes + ", [phase]");
    line("mbarrier.arrive.shared.b64 _, [phase]");
    wait_for_parity();
    line("and.b32 %t0, " + operand_name(s_.from[0]) + ", " + number(s_.count / 4 - 1));
    line("shl.b32 %t0, %t0, 2");
    line("mov.u32 %t1, inbox");
    line("add.u32 %t0, %t1, %t0");
    line("ld.shared.u32 " + operand_name(s_.to[0]) + ", [%t0]");
    line("bar.sync 0");
  }
  void bulk_store() {
    own_word();
    line("st.shared.u32 [%t2], " + operand_name(s_.from[0]));
    before_bulk();
    line("@%q0 cp.async.bulk.global.shared::cta.bulk_group [%u0+" + number(s_.offset) + "], [area+" +
         number(16 * s_.trips) + "], " + number(s_.count));
    line("@%q0 cp.async.bulk.commit_group");
    line("@%q0 cp.async.bulk.wait_group 0");
    line("fence.proxy.async");
    line("bar.sync 0");
  }

  const Program& program_;
  const Statement& s_;
  unsigned phase_;
  const std::function<std::string()>& label_;
  std::string text_;
};

}  // namespace

std::string modern_start() {
  return "  .shared .align 128 .b8 matrices[" + number(threads_per_cta / 32 * matrix_bytes) +
         "];\n  .shared .align 16 .b8 inbox[" + number(inbox_bytes) +
         "];\n  .shared .align 8 .b64 phase;\n  .reg .b32 %matrix, %own_row, %wa<8>, %wb<8>, %wc<8>;\n"
         "  shr.u32 %t0, %tid, 5;\n  mov.u32 %t1, matrices;\n  mad.lo.u32 %matrix, %t0, " +
         number(matrix_bytes) +
         ", %t1;\n  and.b32 %t0, %tid, 31;\n  shl.b32 %t0, %t0, 4;\n  add.u32 %own_row, %matrix, %t0;\n"
         "  setp.eq.u32 %q0, %tid, 0;\n  @%q0 mbarrier.init.shared.b64 [phase], " +
         number(threads_per_cta) + ";\n  fence.proxy.async;\n  bar.sync 0;\n";
}

bool uses_mbarrier(const Statement& s) {
  return s.kind == Kind::bulk_load || (s.kind == Kind::exchange && s.mode != by_barrier);
}

std::string print_modern(const Program& program, const Statement& s, unsigned phase,
                         const std::function<std::string()>& label, const std::string& copy_body) {
  return ModernPrinter(program, s, phase, label).run(copy_body);
}

}  // namespace regatta::test::differential
