// SPDX-License-Identifier: Apache-2.0
#include <regatta/models/wir/value_signature_buffer.h>

namespace regatta::models::wir {

PhysicalRegister ValueSignatureBuffer::insert(std::uint32_t hash, PhysicalRegister reg) {
  if (entries_.empty()) return reg;
  Entry& e = entries_[index(hash)];
  const PhysicalRegister before = drop(e);
  e = Entry{true, hash, reg};
  return before;
}

}  // namespace regatta::models::wir
