// SPDX-License-Identifier: Apache-2.0
//
// The opcodes. Sources: the instruction set reference of NVIDIA's "CUDA Binary Utilities" for the names and what they
// do; the classes are those that the compiler gives to the same operation of PTX (compiler/ir/op_class.cpp).
#include "sass_table.h"

#include <algorithm>

namespace regatta::import {
namespace {

using trace::MemorySpace;
using trace::OpClass;

struct Group {
  SassOpcode meaning;
  const char* names;
};

constexpr SassOpcode plain(OpClass c, Operands operands = Operands::words) {
  return {c, Control::none, Memory::none, MemorySpace::none, operands};
}
constexpr SassOpcode jump(Control control, Operands operands = Operands::words) {
  return {OpClass::branch, control, Memory::none, MemorySpace::none, operands};
}
constexpr SassOpcode access(Memory memory, MemorySpace space, Operands operands = Operands::words) {
  const OpClass c = memory == Memory::load ? OpClass::load : memory == Memory::store ? OpClass::store : OpClass::atomic;
  return {c, Control::none, memory, space, operands};
}
constexpr SassOpcode meets() {
  return {OpClass::nop, Control::meets, Memory::none, MemorySpace::none, Operands::reads_first};
}

const Group groups[] = {
    {plain(OpClass::int_add),
     "IADD IADD2 IADD3 IADD32I ISUB ISCADD ISCADD32I LEA LOP LOP2 LOP32I SHL SHR BFE BFI FLO POPC PRMT SEL MOV MOV32I "
     "CSET CSETP PSET PSETP PLOP3 P2R R2P ISET ISETP ICMP IABS INEG SGXT BMSK BREV VABSDIFF VABSDIFF4 ISAD SHF "
     "VIADD VADD VSHL VSHR VSET VSETP VSEL R2UR MOVM VHMNMX BMOV"},
    {plain(OpClass::int_add, Operands::predicate_first), "LOP3"},
    {plain(OpClass::int_max), "IMNMX VIMNMX VIMNMX3 VMNMX IMNMX2 VIADDMNMX"},
    {plain(OpClass::int_mul), "IMUL IMUL32I"},
    {plain(OpClass::int_mad, Operands::integer_product), "IMAD IMAD32I IMAD3 XMAD IMADSP IDP IDP4A VMAD"},
    // Uniform registers and predicates are not in the trace: these have no operands there.
    {plain(OpClass::int_add),
     "UIADD3 UIADD UMOV UMOV32I ULOP ULOP3 ULOP32I USHF USHL USHR ULEA USEL UISETP UPLOP3 UPSETP UFLO UPOPC USGXT "
     "UBMSK "
     "UBREV UPRMT UP2UR UR2UP UCLEA UVIMNMX UIABS UFADD UFMUL UFFMA UFSETP UFSEL USETMAXREG"},
    {plain(OpClass::int_mad), "UIMAD UIMAD3"},
    {plain(OpClass::fp32_add),
     "FADD FADD32I FADD2 FSWZ FSWZADD FSET FSETP FCMP FCHK FSEL HADD2 HADD2_32I HSET2 HSETP2"},
    {plain(OpClass::fp32_max), "FMNMX FMNMX3 HMNMX2 HMNMX"},
    {plain(OpClass::fp32_mul), "FMUL FMUL32I FMUL2 HMUL2 HMUL2_32I"},
    {plain(OpClass::fp32_mad), "FFMA FFMA32I FFMA2 HFMA2 HFMA2_32I"},
    {plain(OpClass::sfu), "MUFU RRO"},
    {plain(OpClass::fp64_add, Operands::pairs), "DADD DSETP"},
    {plain(OpClass::fp64_add, Operands::pair_sources), "DSET"},
    {plain(OpClass::fp64_max, Operands::pairs), "DMNMX"},
    {plain(OpClass::fp64_mul, Operands::pairs), "DMUL"},
    {plain(OpClass::fp64_mad, Operands::pairs), "DFMA"},
    {plain(OpClass::convert, Operands::conversion), "F2F F2I I2F I2I FRND"},
    {plain(OpClass::convert), "F2FP I2FP F2IP I2IP"},
    {plain(OpClass::shuffle, Operands::predicate_first), "SHFL MATCH"},
    {plain(OpClass::shuffle), "VOTE VOTEU REDUX CREDUX ELECT"},
    {plain(OpClass::constant_load), "S2R S2UR B2R ULDC LDCU R2B"},
    {plain(OpClass::constant_load, Operands::by_width), "LDC"},
    {plain(OpClass::constant_load, Operands::counter), "CS2R CS2UR"},
    // Tensor cores.
    {plain(OpClass::fp32_mad, Operands::matrix), "HMMA BMMA IMMA QMMA OMMA"},
    {plain(OpClass::fp64_mad, Operands::matrix), "DMMA"},
    {plain(OpClass::fp32_mad, Operands::warp_group), "HGMMA IGMMA QGMMA BGMMA"},
    // The tracer writes no addresses of textures and surfaces.
    {{OpClass::constant_load, Control::none, Memory::texture, MemorySpace::none, Operands::words},
     "TEX TEXS TLD TLDS TLD4 TLD4S TMML TXD TXQ TXA SULD SULDB SULDGA SUST SUSTB SUSTGA SUATOM SURED SUQ SUBFM SUCLAMP "
     "SUEAU"},
    {access(Memory::load, MemorySpace::global, Operands::by_width), "LDG LDU"},
    {access(Memory::load, MemorySpace::generic, Operands::by_width), "LD"},
    {access(Memory::load, MemorySpace::local, Operands::by_width), "LDL"},
    {access(Memory::load, MemorySpace::shared, Operands::by_width), "LDS LDSLK"},
    {access(Memory::load, MemorySpace::shared, Operands::matrix_load), "LDSM"},
    {access(Memory::load, MemorySpace::global, Operands::copy_to_shared), "LDGSTS"},
    {access(Memory::store, MemorySpace::global, Operands::by_width), "STG"},
    {access(Memory::store, MemorySpace::generic, Operands::by_width), "ST"},
    {access(Memory::store, MemorySpace::local, Operands::by_width), "STL"},
    {access(Memory::store, MemorySpace::shared, Operands::by_width), "STS STSCUL STSUL"},
    {access(Memory::store, MemorySpace::shared, Operands::matrix_load), "STSM"},
    {access(Memory::atomic, MemorySpace::global, Operands::atomic), "ATOMG RED REDG"},
    {access(Memory::atomic, MemorySpace::generic, Operands::atomic), "ATOM"},
    {access(Memory::atomic, MemorySpace::shared, Operands::atomic), "ATOMS"},
    {plain(OpClass::fence), "MEMBAR ERRBAR FENCE"},
    {{OpClass::barrier, Control::none, Memory::none, MemorySpace::none, Operands::reads_first}, "BAR"},
    {plain(OpClass::nop),
     "NOP DEPBAR LDGDEPBAR LDTM CCTL CCTLL CCTLT CCTLS LEPC PMTRIG BSSY SSY PBK PCNT PRET PLONGJMP PEXIT SETCTAID "
     "SETLMEMBASE "
     "GETLMEMBASE RTT RAM SAM IDE AL2P VILD BPT TEXDEPBAR PREEXIT ACQBULK CGAERRBAR GETCRSPTR SETCRSPTR WARPGROUP "
     "WARPGROUPSET JMXU"},
    {plain(OpClass::nop, Operands::reads_first),
     "NANOSLEEP SYNCS UBLKCP UBLKPF UBLKRED UTMALDG UTMASTG UTMAREDG UTMAPF "
     "UTMACMDFLUSH UTMACCTL ARRIVES"},
    {meets(), "BSYNC WARPSYNC YIELD BREAK"},
    {jump(Control::target), "BRA JMP CAL JCAL"},
    {jump(Control::target, Operands::reads_first), "CALL"},
    {jump(Control::anywhere, Operands::reads_first), "BRX BRXU JMX RET BRK CONT SYNC LONGJMP"},
    {{OpClass::exit, Control::exit, Memory::none, MemorySpace::none, Operands::words}, "EXIT KIL KILL"},
};

}  // namespace

const std::map<std::string, SassOpcode, std::less<>>& sass_table() {
  static const std::map<std::string, SassOpcode, std::less<>> table = [] {
    std::map<std::string, SassOpcode, std::less<>> all;
    for (const Group& group : groups) {
      std::string_view names = group.names;
      while (!names.empty()) {
        const std::size_t size = std::min(names.find(' '), names.size());
        all.emplace(names.substr(0, size), group.meaning);
        names.remove_prefix(std::min(size + 1, names.size()));
      }
    }
    return all;
  }();
  return table;
}

}  // namespace regatta::import
