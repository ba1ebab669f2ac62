#include "server/api/service/slots.h"

#include <algorithm>
#include <utility>

namespace tern::server {

void Slots::note(int wanted, std::vector<TokenId> tokens) {
  Slot& slot = wanted >= 0 ? slots_[static_cast<size_t>(wanted)] : of_conversation(tokens);
  slot.tokens = std::move(tokens);
  slot.last_use = ++n_uses_;
}

// The slot of which most tokens recur, if at least half do: templates may omit or rewrite earlier text.
Slots::Slot& Slots::of_conversation(std::span<const TokenId> tokens) {
  Slot* best = nullptr;
  size_t most = 0;
  for (Slot& slot : slots_) {
    const auto common = static_cast<size_t>(std::ranges::mismatch(slot.tokens, tokens).in1 - slot.tokens.begin());
    if (common > most && 2 * common >= slot.tokens.size()) best = &slot, most = common;
  }
  return best ? *best : *std::ranges::min_element(slots_, {}, &Slot::last_use);
}

}  // namespace tern::server
