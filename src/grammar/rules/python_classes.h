// The classes \d, \w and \s as Python's module re has them for text.
#pragma once

#include "grammar/rules/char_set.h"

namespace tern::grammar {

const CharSet& python_digits();
const CharSet& python_word_chars();
const CharSet& python_spaces();

}  // namespace tern::grammar
