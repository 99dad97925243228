#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prove.sh [SECONDS]: proves with yosys that the logic of WIR's buffers equals that of a second micro-architecture, for
# all inputs; that the hash of 32 lanes consists of XOR gates; by induction, that small instances of both buffers do
# what README.md says; and that each seeded bug is refuted. SECONDS: the limit of each proof (default 1800).
cd "$(dirname "$0")/.." || exit 2
limit=${1:-1800}
. ../../../platform/cosim/prove_lib.sh

signatures="vsb.sv vsb_table.sv h3_hash.sv lowest_one.sv"
reuse="reuse_buffer.sv reuse_decide.sv lowest_one.sv"

# gates DEFINE CHECK: whether the hash has gates other than XOR. CHECK: none or any.
gates() {
  run "h3_hash has $2 but XOR gates," "$1" proved "
    read_verilog -sv $1 h3_hash.sv
    hierarchy -top h3_hash; proc; simplemap; opt_expr; opt_clean
    select -assert-$2 t:* t:\$_XOR_ %d"
}

# prove_state TOP FILES DEFINE EXPECTED: prove_induction of a module with memories.
prove_state() {
  run "$1" "$3" "$4" "
    read_verilog -sv -formal $3 $2 proof/$1.sv
    prep -flatten -top $1; memory_map; opt -full
    sat -tempinduct -set-init-zero -prove-asserts -verify $1"
}

for bug in COMPARE EVICT; do prove_state vsb_properties "$signatures" "-DBUG_VSB_$bug" refuted; done
for bug in OWNER PENDING LOADS; do prove_state reuse_properties "$reuse" "-DBUG_REUSE_$bug" refuted; done
for bug in OWNER PENDING; do
  prove_equal reuse_decide reuse_decide.sv reuse_decide_reference proof/reuse_decide_reference.sv "-DBUG_REUSE_$bug" refuted
done
for bug in COLUMN FOLD; do
  prove_equal hash_composed "h3_hash.sv proof/hash_composed.sv" hash_reference proof/hash_reference.sv "-DBUG_HASH_$bug" refuted
done
gates -DBUG_HASH_FOLD any
gates "" none
prove_equal hash_composed "h3_hash.sv proof/hash_composed.sv" hash_reference proof/hash_reference.sv "" proved
prove_equal lowest_one lowest_one.sv lowest_one_reference proof/lowest_one_reference.sv "" proved
prove_equal reuse_decide reuse_decide.sv reuse_decide_reference proof/reuse_decide_reference.sv "" proved
prove_state vsb_properties "$signatures" "" proved
prove_state reuse_properties "$reuse" "" proved
summary
