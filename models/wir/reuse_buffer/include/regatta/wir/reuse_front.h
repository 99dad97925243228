// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/lifecycle.h>
#include <regatta/protocol/lookup.h>
#include <regatta/wir/retry_queue.h>
#include <regatta/wir/reuse_buffer.h>

#include <systemc>

namespace regatta::models::wir {

/// The ports of a block between the reuse stage and the reuse buffer: a victim buffer, a filter. It takes the buffer's
/// side toward the stages and a user's side toward the buffer. WirScheme::reuse_front() inserts one.
///
/// Such a block answers lookups itself or forwards them, and forwards the updates, also those of others: the rename
/// stage calls only fetch_ahead(), the allocation stage book_write(), the reuse stage update() and count_retries().
///
/// A forwarded lookup that misses may claim an entry for its instruction. If the block has the result itself, it
/// completes the claim in the instruction's place: book_write(), and in the cycle booked (support::CycleClient)
/// update() with the instruction's owner. An update without a result gives the claim up; one whose entry is gone is
/// ignored. As the stage then sees neither the claim nor an eviction, the block calls RetryAccess::retry_all(). An
/// instruction has references to its sources only until it is answered: a block that needs them longer shares them when
/// it sees the claim.
///
/// A victim buffer implements ReuseVictims, and returns itself from victims(). The buffer calls replaced() while it
/// takes a forwarded lookup or update, so an entry found before the call may be gone after it. In low-register mode
/// nothing is replaced.
///
/// A block may answer any request with a result, also a retry; `claimed` and `evicted` are then not looked at. It may
/// enter what update() brings with `claimed` false, as the buffer does without pending-retry. If low_mode() is set,
/// look_up() begins with References::settle(), before the block looks at its entries and before it forwards.
///
/// It owns the references of its entries, gives them up as a ReferenceKeeper, and drops the loads of a CTA that ends
/// (cta_finished(); their tags have the CTA's slot + 1 in `block`), as the buffer does. With --check-protocol it is
/// an error to answer with such a load, or to have one, if count() adds entries by their tag and result. For statistics
/// and energy it derives from support::StatProvider, for the report of a deadlock from support::HoldsWork.
class ReuseFront : public sc_core::sc_module, public protocol::LifecycleListener {
 public:
  // Toward the stages.
  protocol::LookupTarget<ReuseRequest, ReuseAnswer> lookups;
  sc_core::sc_export<ReuseUpdates> updates;
  // Toward the reuse buffer.
  protocol::LookupInitiator<ReuseRequest, ReuseAnswer> buffer;
  sc_core::sc_port<ReuseUpdates> behind;
  // Toward the allocator and the retry queue.
  sc_core::sc_port<References> references;
  sc_core::sc_export<ReferenceKeeper> keeper;
  sc_core::sc_port<RetryAccess> retries;
  /// Who is told of results that the buffer replaces; null: nobody. Asked once, when the blocks are connected.
  virtual ReuseVictims* victims() { return nullptr; }

  /// `block` answers the stage, `user` takes the buffer's late answers. The block binds `updates` and `keeper`.
  ReuseFront(const sc_core::sc_module_name& name, protocol::Lookup<ReuseRequest, ReuseAnswer>& block,
             protocol::LookupClient<ReuseAnswer>& user)
      : sc_module(name),
        lookups("lookup", block),
        updates("updates"),
        buffer("buffer", user),
        behind("behind"),
        references("references"),
        keeper("keeper"),
        retries("retries") {}
};

}  // namespace regatta::models::wir
