// SPDX-License-Identifier: Apache-2.0
//
// Random damage to texts, byte strings and Protocol Buffers messages. The same generator state gives the same damage
// on every machine: nothing here uses std::uniform_int_distribution, whose results differ between libraries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

namespace google::protobuf {
class Message;
}

namespace regatta::test {

using MutationRandom = std::mt19937_64;

/// Damages a program text (PTX, TOML) by tokens: deletes, doubles, swaps and replaces tokens and lines, and edits
/// numbers. What comes out is mostly well spelt, so that it gets beyond the lexer.
std::string mutate_tokens(const std::string& text, MutationRandom& random);

/// Damages bytes: bit flips, runs of one byte or of random bytes, pieces lost, doubled or put elsewhere, truncation.
std::string mutate_bytes(const std::string& bytes, MutationRandom& random);

/// Changes one field anywhere in the message: a number to an edge value or a neighbour, a string or a repeated field
/// shorter, longer or in another order, a message cleared. False if there is nothing in it to change.
bool mutate_message(google::protobuf::Message& message, MutationRandom& random);

}  // namespace regatta::test
