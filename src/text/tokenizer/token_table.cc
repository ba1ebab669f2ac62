#include "text/tokenizer/token_table.h"

#include <bit>
#include <cstring>

namespace tern {

uint64_t hash_bytes(std::string_view bytes) {
  constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15u;  // 2^64 / golden ratio: spreads low bits upward
  uint64_t hash = bytes.size() * kMultiplier;
  const auto mix = [&](uint64_t word) {
    hash = (hash ^ word) * kMultiplier;
    hash ^= hash >> 32;
  };
  const char* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    mix(word);
  }
  if (left > 0) {
    uint64_t word = 0;
    std::memcpy(&word, at, left);
    mix(word);
  }
  return hash;
}

TokenTable::TokenTable(size_t n_tokens) : ends_{0}, slots_(std::bit_ceil(2 * n_tokens + 1)) {
  ends_.reserve(n_tokens + 1);
  arena_.reserve(8 * n_tokens);
}

TokenId TokenTable::add(std::string_view bytes) {
  arena_ += bytes;
  ends_.push_back(arena_.size());
  return static_cast<TokenId>(ends_.size() - 2);
}

size_t TokenTable::slot_of(std::string_view wanted, uint32_t& hash) const {
  hash = static_cast<uint32_t>(hash_bytes(wanted));
  const size_t mask = slots_.size() - 1;
  size_t at = hash & mask;
  const auto taken_by_another = [&](const Slot& slot) {
    return slot.id != kNoToken && (slot.hash != hash || bytes(slot.id) != wanted);
  };
  while (taken_by_another(slots_[at])) at = (at + 1) & mask;
  return at;
}

TokenId TokenTable::make_findable(TokenId id) {
  uint32_t hash;
  Slot& slot = slots_[slot_of(bytes(id), hash)];
  if (slot.id != kNoToken) return slot.id;
  slot = {hash, id};
  return kNoToken;
}

TokenId TokenTable::find(std::string_view wanted) const {
  uint32_t hash;
  return slots_[slot_of(wanted, hash)].id;
}

}  // namespace tern
