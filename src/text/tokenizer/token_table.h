// The bytes of every token, and the reverse look-up.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tern/options.h"

namespace tern {

inline constexpr TokenId kNoToken = -1;

uint64_t hash_bytes(std::string_view bytes);

class TokenTable {
 public:
  explicit TokenTable(size_t n_tokens);

  // Assigns the next id, starting at 0, to `bytes`.
  TokenId add(std::string_view bytes);

  // Lets find() return `id`. Returns kNoToken, or the token that already has the same bytes.
  TokenId make_findable(TokenId id);

  std::string_view bytes(TokenId id) const {
    const size_t begin = ends_[static_cast<size_t>(id)];
    return std::string_view(arena_).substr(begin, ends_[static_cast<size_t>(id) + 1] - begin);
  }

  TokenId find(std::string_view bytes) const;

  size_t size() const { return ends_.size() - 1; }

 private:
  // Open addressing over ids. The stored hash means that a probe rarely has to read the bytes.
  struct Slot {
    uint32_t hash = 0;
    TokenId id = kNoToken;
  };
  size_t slot_of(std::string_view bytes, uint32_t& hash) const;

  std::string arena_;
  std::vector<size_t> ends_;  // token i's bytes are arena_[ends_[i], ends_[i + 1])
  std::vector<Slot> slots_;   // a power of two, at least twice the number of tokens
};

}  // namespace tern
