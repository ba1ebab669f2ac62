// Slots as in llama.cpp's server: names for conversations whose keys and values clients save, restore and erase.
// Nothing is computed in a slot, and none is ever occupied: all replies share the KV cache, whatever their slot.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tern/scheduler.h"

namespace tern::server {

// The tokens of each slot's latest request. Used by one thread.
class Slots {
 public:
  explicit Slots(int n) : slots_(static_cast<size_t>(n)) {}

  // Records that a reply has ended with these tokens, its prompt first. `wanted`: the requested slot; -1: the slot of
  // the conversation that it continues, else an unused one, else the least recently used.
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
