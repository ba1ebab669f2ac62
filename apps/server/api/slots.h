// Slots, as clients of llama.cpp's server know them: names for the conversations whose keys and values they save,
// restore and erase. Nothing is computed in a slot, and none is ever taken: answers share what is in memory whichever
// slot they are of.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tern/scheduler.h"

namespace tern::server {

// What each slot's latest request left. One thread's.
class Slots {
 public:
  explicit Slots(int n) : slots_(static_cast<size_t>(n)) {}

  // A reply has ended with these tokens, its prompt's first. `wanted`: the slot that it asked for; -1: that of the
  // conversation which it goes on with, else a new one, else the one that nobody has used for longest.
  void note(int wanted, std::vector<TokenId> tokens);
  std::span<const TokenId> tokens(int slot) const { return slots_[static_cast<size_t>(slot)].tokens; }
  int size() const { return static_cast<int>(slots_.size()); }

 private:
  struct Slot {
    std::vector<TokenId> tokens;
    uint64_t last_use = 0;  // 0: never
  };
  Slot& of_conversation(std::span<const TokenId> tokens);

  std::vector<Slot> slots_;
  uint64_t n_uses_ = 0;
};

}  // namespace tern::server
