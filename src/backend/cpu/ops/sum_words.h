// Sums all words (modulo 2⁶⁴) as fast as the core can read memory.
#pragma once

#include <cstdint>
#include <span>

namespace tern::cpu {

uint64_t sum_words(std::span<const uint64_t> words);

}  // namespace tern::cpu
