// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous copies and mbarriers. Modifiers that ask for something a cluster of one CTA cannot give stand in the
// rows, so that the handler can refuse them with a sentence.
#include "form_tables.h"

#include "lowering.h"

namespace regatta::ptx {

using ir::Opcode;

std::vector<Form> async_forms() {
  constexpr const char* copy = "ca cg shared shared::cta global L2::cache_hint L2::64B L2::128B L2::256B";
  constexpr const char* counts = "release relaxed cta cluster shared shared::cta shared::cluster";
  constexpr const char* waits = "acquire relaxed cta cluster parity shared shared::cta";
  constexpr const char* bulk =
      "global shared::cta shared::cluster mbarrier::complete_tx::bytes bulk_group multicast::cluster "
      "L2::cache_hint cp_mask";
  constexpr const char* tensor =
      "global shared::cta shared::cluster mbarrier::complete_tx::bytes bulk_group tile tile::gather4 tile::scatter4 "
      "im2col im2col_no_offs im2col::w im2col::w::128 multicast::cluster cta_group::1 cta_group::2 L2::cache_hint";
  constexpr const char* reduce =
      "global shared::cta shared::cluster mbarrier::complete_tx::bytes bulk_group L2::cache_hint noftz add min max inc "
      "dec and or xor";
  std::vector<Form> forms = {
      {"cp.async.ca.global", copy, "", "", Opcode::cp_async, "3..5", lower_cp_async},
      {"cp.async.cg.global", copy, "", "", Opcode::cp_async, "3..5", lower_cp_async},
      {"cp.async.commit_group", "", "", "", Opcode::cp_async_commit, "", nullptr},
      {"cp.async.wait_group", "", "", "", Opcode::cp_async_wait, "1..1", lower_async_wait},
      {"cp.async.wait_all", "", "", "", Opcode::cp_async_wait, "0..0", lower_async_wait},
      {"cp.async.mbarrier.arrive", "noinc shared shared::cta", "b64", "", Opcode::cp_async_arrive, "1..1",
       lower_mbarrier},
      {"mbarrier.init", "shared shared::cta", "b64", "", Opcode::mbarrier, "2..2", lower_mbarrier},
      {"mbarrier.inval", "shared shared::cta", "b64", "", Opcode::mbarrier, "1..1", lower_mbarrier},
      {"mbarrier.expect_tx", counts, "b64", "", Opcode::mbarrier, "2..2", lower_mbarrier},
      {"mbarrier.complete_tx", counts, "b64", "", Opcode::mbarrier, "2..2", lower_mbarrier},
      {"mbarrier.arrive.expect_tx", counts, "b64", "", Opcode::mbarrier, "3..3", lower_mbarrier},
      {"mbarrier.arrive_drop.expect_tx", counts, "b64", "", Opcode::mbarrier, "3..3", lower_mbarrier},
      {"mbarrier.arrive.noComplete", counts, "b64", "", Opcode::mbarrier, "3..3", lower_mbarrier},
      {"mbarrier.arrive_drop.noComplete", counts, "b64", "", Opcode::mbarrier, "3..3", lower_mbarrier},
      {"mbarrier.arrive", counts, "b64", "", Opcode::mbarrier, "2..3", lower_mbarrier},
      {"mbarrier.arrive_drop", counts, "b64", "", Opcode::mbarrier, "2..3", lower_mbarrier},
      {"mbarrier.test_wait", waits, "b64", "", Opcode::mbarrier, "3..3", lower_mbarrier_wait},
      {"mbarrier.try_wait", waits, "b64", "", Opcode::mbarrier, "3..4", lower_mbarrier_wait},
      {"mbarrier.pending_count", "", "b64", "", Opcode::bfe, "2..2", lower_pending_count},
      {"cp.async.bulk.commit_group", "", "", "", Opcode::bulk_commit, "", nullptr},
      {"cp.async.bulk.wait_group", "read", "", "", Opcode::bulk_wait, "1..1", lower_async_wait},
      {"cp.async.bulk.prefetch.L2.global", "L2::cache_hint", "", "", Opcode::nop, "2..3", lower_bulk_prefetch},
      {"cp.reduce.async.bulk", reduce, "u32 s32 u64 s64 b32 b64 f16 bf16 f32 f64", "", Opcode::bulk_copy, "3..5",
       lower_bulk_copy},
      {"cp.async.bulk", bulk, "", "", Opcode::bulk_copy, "3..6", lower_bulk_copy},
      {"fence.mbarrier_init.release.cluster", "", "", "", Opcode::membar, "0..0", lower_proxy_fence},
      {"fence.proxy.alias", "", "", "", Opcode::membar, "0..0", lower_proxy_fence},
      {"fence.proxy.async", "global shared::cta shared::cluster", "", "", Opcode::membar, "0..0", lower_proxy_fence},
      {"fence.proxy.tensormap::generic.release", "cta cluster gpu sys", "", "", Opcode::membar, "0..0",
       lower_proxy_fence},
      {"fence.proxy.tensormap::generic.acquire", "cta cluster gpu sys", "", "", Opcode::membar, "2..2",
       lower_proxy_fence},
  };
  static constexpr const char* tensor_names[] = {"cp.async.bulk.tensor.1d", "cp.async.bulk.tensor.2d",
                                                 "cp.async.bulk.tensor.3d", "cp.async.bulk.tensor.4d",
                                                 "cp.async.bulk.tensor.5d"};
  static constexpr const char* prefetch_names[] = {
      "cp.async.bulk.prefetch.tensor.1d.L2.global", "cp.async.bulk.prefetch.tensor.2d.L2.global",
      "cp.async.bulk.prefetch.tensor.3d.L2.global", "cp.async.bulk.prefetch.tensor.4d.L2.global",
      "cp.async.bulk.prefetch.tensor.5d.L2.global"};
  for (const char* name : tensor_names)
    forms.push_back({name, tensor, "", "", Opcode::bulk_tensor, "2..6", lower_bulk_tensor});
  for (const char* name : prefetch_names)
    forms.push_back({name, "tile L2::cache_hint", "", "", Opcode::nop, "1..2", lower_bulk_prefetch});
  return forms;
}

}  // namespace regatta::ptx
