// Manages the KV blocks of a store: reference counts, the prefix cache, and its eviction when memory is needed. If the
// model has recurrent layers, also their states: those of sequences, and snapshots, which are the states at the ends of
// cached blocks. Keys and values alone are no prefix there.
#pragma once

#include <climits>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "backend/kv_store.h"
#include "base/result.h"

namespace tern {

// Identifies a prefix (a list of tokens) for as long as its last block is cached. Values below kFirstPrefix are empty
// prefixes: one for each variant of RoPE (model/source/rope.h), and Sequence::kNotShared.
using PrefixId = uint64_t;
inline constexpr PrefixId kFirstPrefix = 16;

class KvBlocks {
 public:
  using Hash = uint64_t (*)(PrefixId parent, std::span<const TokenId> tokens);
  struct Options {
    int max_blocks = INT_MAX;                         // blocks with memory at a time
    int max_cached = INT_MAX;                         // of those, blocks in the prefix cache that no sequence uses
    uint64_t max_snapshot_bytes = uint64_t{1} << 30;  // of all snapshots together; there may always be two
    uint64_t max_bytes = UINT64_MAX;                  // of blocks, states and snapshots together
    Hash hash = nullptr;  // null: the default. Tests may replace it: even with collisions only equal tokens match
  };
  struct Stats {
    int n_used = 0;     // blocks in use by sequences
    int n_kept = 0;     // unused blocks in the prefix cache
    uint64_t hits = 0;  // blocks found by find()
    uint64_t misses = 0;
    uint64_t dropped = 0;  // cached blocks evicted to make room
    int n_states = 0;      // states in use by sequences
    int n_snapshots = 0;
    uint64_t snapshot_hits = 0;  // sequences that began with one
  };

  KvBlocks(std::unique_ptr<KvStore> store, const Options& options);
  KvBlocks(const KvBlocks&) = delete;
  KvBlocks& operator=(const KvBlocks&) = delete;

  void keep_at_most(int n);  // sets Options::max_cached and evicts surplus blocks

  KvStore& store() const { return *store_; }
  int block_tokens() const { return store_->block_tokens(); }
  const Stats& stats() const { return stats_; }
  uint64_t state_bytes() const;  // memory of states and snapshots

  // Returns a block for one sequence. kOutOfMemory: all blocks are in use by sequences.
  Result<KvBlockId> take();
  void share(KvBlockId block);    // adds a reference of one more sequence
  void release(KvBlockId block);  // drops a reference of one sequence

  // To be called before a sequence writes to one of its blocks. Returns the same block if it may be written (and
  // removes it from the prefix cache), or else a copy that replaces the sequence's reference.
  Result<KvBlockId> copy_on_write(KvBlockId block);

  // Adds `block`, which is full of `tokens` after the prefix `parent`, to the prefix cache. If an equal block is cached
  // already, `block` is replaced by it, unless it is `in_use`. Returns the id of the new prefix.
  PrefixId publish(PrefixId parent, std::span<const TokenId> tokens, KvBlockId& block, bool in_use = false);

  struct Found {
    KvBlockId block;
    PrefixId prefix;
  };
  // The cached block with these tokens after `parent`, with a reference added for the caller.
  std::optional<Found> find(PrefixId parent, std::span<const TokenId> tokens);

  bool has_states() const { return store_->state_bytes() > 0; }
  // Returns a state for one sequence, with undefined contents. kOutOfMemory.
  Result<StateId> take_state();
  void release_state(StateId state);
  // Makes `state` the snapshot at the end of a cached block. Best effort: without memory there is no snapshot.
  void keep_snapshot(KvBlockId block, StateId state);
  bool has_snapshot(KvBlockId block) const { return blocks_[static_cast<size_t>(block)].snapshot >= 0; }
  Result<void> copy_snapshot(KvBlockId block, StateId to);
  void drop_snapshot(KvBlockId block);  // if there is one

  // Drops the cached blocks of `tokens` after `root`, the last first. Stops at a block that a sequence uses or that
  // other cached blocks continue. Returns the number of blocks dropped.
  int drop(PrefixId root, std::span<const TokenId> tokens);

 private:
  struct Block {
    int n_sequences = 0;
    PrefixId prefix = 0;  // 0: not in the prefix cache
    PrefixId parent = 0;
    std::vector<TokenId> tokens;
    std::list<KvBlockId>::iterator kept;  // its place in kept_, if no sequence uses it
    StateId snapshot = -1;                // -1: none
    std::list<KvBlockId>::iterator used;  // its place in snapshots_, if it has a snapshot
  };
  bool has_bytes_for(uint64_t n) const;
  std::unexpected<Error> out_of_bytes() const;
  Result<StateId> allocate_state(uint64_t bytes);
  void free_state(StateId state);
  Block& at(KvBlockId block) { return blocks_[static_cast<size_t>(block)]; }
  KvBlockId look_up(PrefixId parent, std::span<const TokenId> tokens);  // -1: none
  void hide(KvBlockId block);                                           // removes it from the prefix cache
  Result<KvBlockId> allocate();
  KvBlockId evict_lru();
  void give_back(KvBlockId block);  // frees its memory

  std::unique_ptr<KvStore> store_;
  Options options_;
  std::vector<Block> blocks_;
  std::vector<KvBlockId> without_memory_;  // free ids
  int n_with_memory_ = 0;
  std::unordered_multimap<uint64_t, KvBlockId> by_hash_;
  std::list<KvBlockId> kept_;         // cached blocks that no sequence uses, least recently used first
  std::vector<StateId> free_states_;  // ids without memory
  StateId n_states_ = 0;              // ids given out
  std::list<KvBlockId> snapshots_;    // blocks with snapshots, least recently used first
  PrefixId next_prefix_ = kFirstPrefix;
  Stats stats_;
};

}  // namespace tern
