// SPDX-License-Identifier: Apache-2.0
//
// Command lines as text: what a user can paste into a shell, and the arguments of such a text.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace regatta::base {

/// A word for a POSIX shell: as it is if the shell leaves it alone, otherwise in single quotes.
std::string shell_word(const std::string& word);
/// The words with blanks between them.
std::string shell_text(const std::vector<std::string>& words);
/// The words of a text that shell_text() made; nullopt for one whose quotes are not closed.
std::optional<std::vector<std::string>> shell_words(const std::string& text);

}  // namespace regatta::base
