// SPDX-License-Identifier: Apache-2.0
#include <regatta/protocol/payload.h>

#include <cstring>
#include <stdexcept>
#include <string>

namespace regatta::protocol {

namespace {

/// Byte enables of eight lanes for every combination of them.
struct EnableTable {
  unsigned char bytes[256][8 * trace::bytes_per_lane];
  EnableTable() {
    for (unsigned lanes = 0; lanes < 256; ++lanes) {
      for (unsigned i = 0; i < 8 * trace::bytes_per_lane; ++i) {
        bytes[lanes][i] = (lanes >> (i / trace::bytes_per_lane)) & 1 ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED;
      }
    }
  }
};
const EnableTable enable_table;

}  // namespace

OperandPayload::OperandPayload() : byte_enables_(trace::max_lanes * trace::bytes_per_lane) {
  payload_.set_extension(&access_);
  payload_.set_dmi_allowed(false);
}

void OperandPayload::shape(tlm::tlm_command command, LaneMask lanes, unsigned warp_size) {
  const unsigned bytes = warp_size * trace::bytes_per_lane;
  command_ = command;
  warp_size_ = warp_size;
  access_.lanes = lanes;
  payload_.set_command(command);
  payload_.set_data_length(bytes);
  payload_.set_streaming_width(bytes);
  if (lanes == trace::all_lanes(warp_size)) {
    payload_.set_byte_enable_ptr(nullptr);
    payload_.set_byte_enable_length(0);
    return;
  }
  constexpr unsigned group = 8 * trace::bytes_per_lane;
  for (unsigned lane = 0; lane < warp_size; lane += 8) {
    std::memcpy(&byte_enables_[lane / 8 * group], enable_table.bytes[(lanes >> lane) & 0xff], group);
  }
  payload_.set_byte_enable_ptr(byte_enables_.data());
  payload_.set_byte_enable_length(bytes);
}

OperandPayload::~OperandPayload() { payload_.clear_extension(&access_); }

void OperandPayloadPool::give_back(const tlm::tlm_generic_payload& payload) {
  for (const std::unique_ptr<OperandPayload>& p : all_) {
    if (&p->payload() == &payload) give_back(*p);
  }
}

void missing_extension(const char* name) {
  const std::string what = std::string("a payload without its ") + name + " extension; expected one";
  SC_REPORT_ERROR("regatta/protocol", what.c_str());
  throw std::logic_error(what);  // for report handlers that let an error pass
}

class MemoryPayloadPool::Own : public tlm::tlm_generic_payload {
 public:
  explicit Own(MemoryPayloadPool& pool) : tlm_generic_payload(&pool) { set_extension(&access); }
  ~Own() override { clear_extension(&access); }

  MemoryAccess access;
};

MemoryPayloadPool::MemoryPayloadPool(unsigned line_bytes) : line_bytes_(line_bytes) {}

MemoryPayloadPool::~MemoryPayloadPool() = default;

void MemoryPayloadPool::make() {
  all_.push_back(std::make_unique<Own>(*this));
  buffers_.push_back(std::make_unique<unsigned char[]>(line_bytes_));
  all_.back()->set_data_ptr(buffers_.back().get());
  free_.push_back(all_.back().get());
}

MemoryPayloadPool::Taken MemoryPayloadPool::take_with_access(tlm::tlm_command command, std::uint64_t address) {
  if (free_.empty()) make();
  Own* const p = free_.back();
  free_.pop_back();
  ++outstanding_;
  p->acquire();
  p->set_command(command);
  p->set_address(address);
  p->set_data_length(line_bytes_);
  p->set_streaming_width(line_bytes_);
  p->set_byte_enable_ptr(nullptr);
  p->set_byte_enable_length(0);
  p->set_dmi_allowed(false);
  p->set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  return Taken{p, &p->access};
}

std::vector<const tlm::tlm_generic_payload*> MemoryPayloadPool::under_way() const {
  std::vector<const tlm::tlm_generic_payload*> payloads;
  for (const auto& own : all_) {
    if (own->get_ref_count() > 0) payloads.push_back(own.get());
  }
  return payloads;
}

void MemoryPayloadPool::free(tlm::tlm_generic_payload* payload) {
  Own* const own = static_cast<Own*>(payload);
  own->access = MemoryAccess{};
  --outstanding_;
  free_.push_back(own);
}

}  // namespace regatta::protocol
