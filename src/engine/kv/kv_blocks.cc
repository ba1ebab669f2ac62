#include "engine/kv/kv_blocks.h"

#include <algorithm>

#include "base/check.h"

namespace tern {
namespace {

// FNV-1a over 32-bit words; at the end the high bits are mixed into the low ones.
uint64_t hash_of(PrefixId parent, std::span<const TokenId> tokens) {
  uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](uint64_t word) { hash = (hash ^ word) * 0x100000001b3; };
  add(parent & 0xffffffff);
  add(parent >> 32);
  for (const TokenId token : tokens) add(static_cast<uint32_t>(token));
  return hash ^ hash >> 32;
}

}  // namespace

KvBlocks::KvBlocks(std::unique_ptr<KvStore> store, const Options& options)
    : store_(std::move(store)), options_(options) {
  if (!options_.hash) options_.hash = hash_of;
}

uint64_t KvBlocks::state_bytes() const {
  return static_cast<uint64_t>(stats_.n_states) * store_->state_memory() +
         static_cast<uint64_t>(stats_.n_snapshots) * store_->state_bytes();
}

bool KvBlocks::has_bytes_for(uint64_t n) const {
  const uint64_t used = static_cast<uint64_t>(n_with_memory_) * store_->block_bytes() + state_bytes();
  return used <= options_.max_bytes && n <= options_.max_bytes - used;
}

std::unexpected<Error> KvBlocks::out_of_bytes() const {
  return fail(ErrorCode::kOutOfMemory,
              "keys, values and the states of {} conversations take the {} MB that they may; hold fewer or shorter "
              "conversations",
              stats_.n_states, options_.max_bytes >> 20);
}

Result<KvBlockId> KvBlocks::allocate() {
  if (n_with_memory_ >= options_.max_blocks) {
    return fail(ErrorCode::kOutOfMemory,
                "all {} blocks of keys and values, {} tokens each, are in use; hold fewer or shorter conversations, or "
                "keep them as q8_0",
                options_.max_blocks, block_tokens());
  }
  if (!has_bytes_for(store_->block_bytes())) return out_of_bytes();
  const bool is_new = without_memory_.empty();
  const auto block = is_new ? static_cast<KvBlockId>(blocks_.size()) : without_memory_.back();
  TRY_STATUS(store_->allocate(block));
  if (is_new) {
    blocks_.emplace_back();
  } else {
    without_memory_.pop_back();
  }
  ++n_with_memory_;
  return block;
}

KvBlockId KvBlocks::evict_lru() {
  const KvBlockId oldest = kept_.front();
  kept_.pop_front();
  --stats_.n_kept;
  ++stats_.dropped;
  hide(oldest);
  return oldest;
}

void KvBlocks::give_back(KvBlockId id) {
  store_->free(id);
  without_memory_.push_back(id);
  --n_with_memory_;
}

void KvBlocks::keep_at_most(int n) {
  options_.max_cached = n;
  while (stats_.n_kept > n) give_back(evict_lru());
}

Result<KvBlockId> KvBlocks::take() {
  auto block = allocate();
  if (!block && block.error().code == ErrorCode::kOutOfMemory && !kept_.empty()) {
    block = evict_lru();
  }
  while (!block && !has_bytes_for(store_->block_bytes()) && !snapshots_.empty()) {
    drop_snapshot(snapshots_.front());
    block = allocate();
  }
  if (!block) return block;
  at(*block).n_sequences = 1;
  ++stats_.n_used;
  return block;
}

void KvBlocks::share(KvBlockId id) {
  Block& block = at(id);
  if (block.n_sequences++ > 0) return;
  CHECK(block.prefix != 0);
  kept_.erase(block.kept);
  --stats_.n_kept;
  ++stats_.n_used;
}

void KvBlocks::release(KvBlockId id) {
  Block& block = at(id);
  CHECK(block.n_sequences > 0);
  if (--block.n_sequences > 0) return;
  --stats_.n_used;
  if (block.prefix != 0 && options_.max_cached > 0) {
    block.kept = kept_.insert(kept_.end(), id);
    ++stats_.n_kept;
    if (stats_.n_kept > options_.max_cached) give_back(evict_lru());
    return;
  }
  if (block.prefix != 0) hide(id);
  give_back(id);
}

Result<KvBlockId> KvBlocks::copy_on_write(KvBlockId id) {
  if (at(id).n_sequences == 1) {
    if (at(id).prefix != 0) hide(id);
    return id;
  }
  TRY(const KvBlockId copy, take());
  if (auto copied = store_->copy(id, copy); !copied) {
    release(copy);
    return std::unexpected(std::move(copied).error());
  }
  release(id);
  return copy;
}

KvBlockId KvBlocks::look_up(PrefixId parent, std::span<const TokenId> tokens) {
  const auto [first, last] = by_hash_.equal_range(options_.hash(parent, tokens));
  const auto found = std::find_if(first, last, [&](const auto& entry) {
    const Block& block = at(entry.second);
    return block.parent == parent && std::ranges::equal(block.tokens, tokens);
  });
  return found == last ? -1 : found->second;
}

void KvBlocks::hide(KvBlockId id) {
  Block& block = at(id);
  const auto [first, last] = by_hash_.equal_range(options_.hash(block.parent, block.tokens));
  by_hash_.erase(std::find_if(first, last, [&](const auto& entry) { return entry.second == id; }));
  block.prefix = 0;
  drop_snapshot(id);
}

PrefixId KvBlocks::publish(PrefixId parent, std::span<const TokenId> tokens, KvBlockId& id, bool in_use) {
  if (const KvBlockId other = look_up(parent, tokens); other >= 0) {
    if (other == id || in_use) return at(other).prefix;
    share(other);
    release(id);
    id = other;
    return at(id).prefix;
  }
  Block& block = at(id);
  CHECK(block.prefix == 0 && static_cast<int>(tokens.size()) == block_tokens());
  block.parent = parent;
  block.tokens.assign(tokens.begin(), tokens.end());
  block.prefix = next_prefix_++;
  by_hash_.emplace(options_.hash(parent, tokens), id);
  return block.prefix;
}

std::optional<KvBlocks::Found> KvBlocks::find(PrefixId parent, std::span<const TokenId> tokens) {
  const KvBlockId id = look_up(parent, tokens);
  if (id < 0) {
    ++stats_.misses;
    return std::nullopt;
  }
  ++stats_.hits;
  share(id);
  return Found{id, at(id).prefix};
}

Result<StateId> KvBlocks::allocate_state(uint64_t bytes) {
  if (!has_bytes_for(bytes)) return out_of_bytes();
  const bool is_new = free_states_.empty();
  const StateId state = is_new ? n_states_ : free_states_.back();
  TRY_STATUS(store_->allocate_state(state));
  if (is_new) {
    ++n_states_;
  } else {
    free_states_.pop_back();
  }
  return state;
}

Result<StateId> KvBlocks::take_state() {
  const uint64_t bytes = store_->state_memory();
  auto state = allocate_state(bytes);
  while (!state && state.error().code == ErrorCode::kOutOfMemory) {
    if (!snapshots_.empty()) {
      drop_snapshot(snapshots_.front());
    } else if (!has_bytes_for(bytes) && !kept_.empty()) {
      give_back(evict_lru());
    } else {
      break;
    }
    state = allocate_state(bytes);
  }
  if (state) ++stats_.n_states;
  return state;
}

void KvBlocks::free_state(StateId state) {
  store_->free_state(state);
  free_states_.push_back(state);
}

void KvBlocks::release_state(StateId state) {
  free_state(state);
  --stats_.n_states;
}

void KvBlocks::keep_snapshot(KvBlockId id, StateId state) {
  constexpr int kFewest = 2;
  Block& block = at(id);
  if (block.prefix == 0) return;  // an equal block of another sequence is in the prefix cache instead
  if (block.snapshot >= 0) return snapshots_.splice(snapshots_.end(), snapshots_, block.used);
  const uint64_t each = store_->state_bytes();
  const auto most = std::max<uint64_t>(options_.max_snapshot_bytes / each, kFewest);
  while (snapshots_.size() >= most || (!snapshots_.empty() && !has_bytes_for(each))) drop_snapshot(snapshots_.front());
  const auto copy = allocate_state(each);
  if (!copy) return;
  block.snapshot = *copy;
  block.used = snapshots_.insert(snapshots_.end(), id);
  ++stats_.n_snapshots;
  if (!store_->copy_state(state, *copy)) drop_snapshot(id);
}

Result<void> KvBlocks::copy_snapshot(KvBlockId id, StateId to) {
  const Block& block = at(id);
  CHECK(block.snapshot >= 0);
  snapshots_.splice(snapshots_.end(), snapshots_, block.used);
  TRY_STATUS(store_->copy_state(block.snapshot, to));
  ++stats_.snapshot_hits;
  return {};
}

void KvBlocks::drop_snapshot(KvBlockId id) {
  Block& block = at(id);
  if (block.snapshot < 0) return;
  free_state(block.snapshot);
  block.snapshot = -1;
  snapshots_.erase(block.used);
  --stats_.n_snapshots;
}

int KvBlocks::drop(PrefixId root, std::span<const TokenId> tokens) {
  const auto n = static_cast<size_t>(block_tokens());
  std::vector<KvBlockId> chain;
  for (PrefixId parent = root; (chain.size() + 1) * n <= tokens.size(); parent = at(chain.back()).prefix) {
    const KvBlockId id = look_up(parent, tokens.subspan(chain.size() * n, n));
    if (id < 0) break;
    chain.push_back(id);
  }
  int n_dropped = 0;
  for (; !chain.empty(); chain.pop_back(), ++n_dropped) {
    const KvBlockId id = chain.back();
    const PrefixId prefix = at(id).prefix;
    const bool is_before_others =
        std::ranges::any_of(blocks_, [&](const Block& other) { return other.prefix != 0 && other.parent == prefix; });
    if (at(id).n_sequences > 0 || is_before_others) break;
    kept_.erase(at(id).kept);
    --stats_.n_kept;
    hide(id);
    give_back(id);
  }
  return n_dropped;
}

}  // namespace tern
