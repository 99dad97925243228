// SPDX-License-Identifier: Apache-2.0
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <limits>
#include <vector>

#include "mutate.h"

namespace regatta::test {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

/// A field that is there, in some message of the tree.
struct Place {
  Message* message;
  const FieldDescriptor* field;
};

void collect(Message& message, std::vector<Place>& places) {
  std::vector<const FieldDescriptor*> fields;
  const Reflection& reflection = *message.GetReflection();
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    places.push_back({&message, field});
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      collect(*reflection.MutableMessage(&message, field), places);
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
      collect(*reflection.MutableRepeatedMessage(&message, field, i), places);
    }
  }
}

/// An edge value, a neighbour, a bit flipped, or anything.
template <class T>
T changed(T value, MutationRandom& random) {
  switch (random() % 8) {
    case 0:
      return 0;
    case 1:
      return std::numeric_limits<T>::max();
    case 2:
      return std::numeric_limits<T>::min();
    case 3:
      return static_cast<T>(static_cast<std::uint64_t>(value) + 1);
    case 4:
      return static_cast<T>(static_cast<std::uint64_t>(value) - 1);
    case 5:
      return static_cast<T>(static_cast<std::uint64_t>(value) ^ (std::uint64_t{1} << random() % (8 * sizeof(T))));
    case 6:
      return static_cast<T>(random() % 256);
    default:
      return static_cast<T>(random());
  }
}

void change_scalar(Message& m, const Reflection& r, const FieldDescriptor* f, MutationRandom& random) {
  switch (f->cpp_type()) {
    case FieldDescriptor::CPPTYPE_UINT32:
      return r.SetUInt32(&m, f, changed(r.GetUInt32(m, f), random));
    case FieldDescriptor::CPPTYPE_UINT64:
      return r.SetUInt64(&m, f, changed(r.GetUInt64(m, f), random));
    case FieldDescriptor::CPPTYPE_INT64:
      return r.SetInt64(&m, f, changed(r.GetInt64(m, f), random));
    case FieldDescriptor::CPPTYPE_ENUM:
      return r.SetEnumValue(&m, f, changed(static_cast<std::int32_t>(r.GetEnumValue(m, f)), random));
    case FieldDescriptor::CPPTYPE_BOOL:
      return r.SetBool(&m, f, !r.GetBool(m, f));
    case FieldDescriptor::CPPTYPE_STRING:
      return r.SetString(&m, f, mutate_bytes(r.GetString(m, f), random));
    default:
      return r.ClearField(&m, f);
  }
}

void change_element(Message& m, const Reflection& r, const FieldDescriptor* f, int i, MutationRandom& random) {
  switch (f->cpp_type()) {
    case FieldDescriptor::CPPTYPE_UINT32:
      return r.SetRepeatedUInt32(&m, f, i, changed(r.GetRepeatedUInt32(m, f, i), random));
    case FieldDescriptor::CPPTYPE_UINT64:
      return r.SetRepeatedUInt64(&m, f, i, changed(r.GetRepeatedUInt64(m, f, i), random));
    case FieldDescriptor::CPPTYPE_INT64:
      return r.SetRepeatedInt64(&m, f, i, changed(r.GetRepeatedInt64(m, f, i), random));
    case FieldDescriptor::CPPTYPE_STRING:
      return r.SetRepeatedString(&m, f, i, mutate_bytes(r.GetRepeatedString(m, f, i), random));
    default:
      return r.RemoveLast(&m, f);
  }
}

/// Appends a copy of element `i`.
void repeat_element(Message& m, const Reflection& r, const FieldDescriptor* f, int i) {
  switch (f->cpp_type()) {
    case FieldDescriptor::CPPTYPE_UINT32:
      return r.AddUInt32(&m, f, r.GetRepeatedUInt32(m, f, i));
    case FieldDescriptor::CPPTYPE_UINT64:
      return r.AddUInt64(&m, f, r.GetRepeatedUInt64(m, f, i));
    case FieldDescriptor::CPPTYPE_INT64:
      return r.AddInt64(&m, f, r.GetRepeatedInt64(m, f, i));
    case FieldDescriptor::CPPTYPE_STRING:
      return r.AddString(&m, f, r.GetRepeatedString(m, f, i));
    case FieldDescriptor::CPPTYPE_MESSAGE: {
      const Message& element = r.GetRepeatedMessage(m, f, i);
      Message* copy = element.New();
      copy->CopyFrom(element);
      return r.AddAllocatedMessage(&m, f, copy);
    }
    default:
      return;
  }
}

void change_repeated(Message& m, const Reflection& r, const FieldDescriptor* f, MutationRandom& random) {
  const int size = r.FieldSize(m, f);
  const int i = static_cast<int>(random() % static_cast<std::uint64_t>(size));
  switch (random() % 5) {
    case 0:
      return r.RemoveLast(&m, f);
    case 1:
      return repeat_element(m, r, f, i);
    case 2:
      return r.SwapElements(&m, f, i, static_cast<int>(random() % static_cast<std::uint64_t>(size)));
    default:
      return change_element(m, r, f, i, random);
  }
}

}  // namespace

bool mutate_message(Message& message, MutationRandom& random) {
  std::vector<Place> places;
  collect(message, places);
  if (places.empty()) return false;
  const Place place = places[random() % places.size()];
  const Reflection& reflection = *place.message->GetReflection();
  if (place.field->is_repeated()) {
    change_repeated(*place.message, reflection, place.field, random);
  } else {
    change_scalar(*place.message, reflection, place.field, random);
  }
  return true;
}

}  // namespace regatta::test
