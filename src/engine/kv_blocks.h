// Which blocks of a store belong to whom: reference counts, blocks that are found again by what is in them, and which
// of these make room when memory is needed.
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

// Names what a sequence begins with: one number for one list of tokens, as long as its block can be found. Below
// kFirstPrefix: of a sequence without tokens, one for each way to turn heads (model/rope.h).
using PrefixId = uint64_t;
inline constexpr PrefixId kFirstPrefix = 16;

class KvBlocks {
 public:
  using Hash = uint64_t (*)(PrefixId parent, std::span<const TokenId> tokens);
  struct Options {
    int max_blocks = INT_MAX;  // that have memory at a time
    int max_kept = INT_MAX;    // of them, blocks that belong to nobody and can be found
    Hash hash = nullptr;       // null: a good one. For tests: whatever it gives, only equal tokens are found
  };
  struct Stats {
    int n_used = 0;     // blocks that belong to a sequence
    int n_kept = 0;     // … to nobody, and can be found
    uint64_t hits = 0;  // blocks that were asked for and found
    uint64_t misses = 0;
    uint64_t dropped = 0;  // that could be found, to make room
  };

  KvBlocks(std::unique_ptr<KvStore> store, const Options& options);
  KvBlocks(const KvBlocks&) = delete;
  KvBlocks& operator=(const KvBlocks&) = delete;

  void keep_at_most(int n);  // blocks that belong to nobody; see Options::max_kept

  KvStore& store() const { return *store_; }
  int block_tokens() const { return store_->block_tokens(); }
  const Stats& stats() const { return stats_; }

  // A block for one sequence. kOutOfMemory where all that there may be belong to sequences.
  Result<KvBlockId> take();
  void share(KvBlockId block);    // with one more sequence
  void release(KvBlockId block);  // by one of its sequences

  // Before a sequence writes to a block of its own: gives the same block where it may, or a copy in exchange for it.
  Result<KvBlockId> for_writing(KvBlockId block);

  // `block` is full of `tokens`, which come after `parent`: it can be found from now on. Where there is such a block
  // already, `block` is given up for that one, unless it is `in_use`. Returns the name of what the sequence begins with
  // now.
  PrefixId publish(PrefixId parent, std::span<const TokenId> tokens, KvBlockId& block, bool in_use = false);

  struct Found {
    KvBlockId block;
    PrefixId prefix;
  };
  // The block with these tokens after `parent`; it belongs to one more sequence then.
  std::optional<Found> find(PrefixId parent, std::span<const TokenId> tokens);

  // The blocks with the beginning of `tokens` after `root` go, the last first, as long as they belong to nobody and
  // come before nothing else that can be found. Returns how many.
  int drop(PrefixId root, std::span<const TokenId> tokens);

 private:
  struct Block {
    int n_sequences = 0;
    PrefixId prefix = 0;  // 0: it cannot be found
    PrefixId parent = 0;
    std::vector<TokenId> tokens;
    std::list<KvBlockId>::iterator kept;  // its place in kept_, where it belongs to nobody
  };
  Block& at(KvBlockId block) { return blocks_[static_cast<size_t>(block)]; }
  KvBlockId look_up(PrefixId parent, std::span<const TokenId> tokens);  // -1: none
  void hide(KvBlockId block);                                           // it can no longer be found
  Result<KvBlockId> allocate();
  KvBlockId take_oldest_kept();
  void give_back(KvBlockId block);  // its memory

  std::unique_ptr<KvStore> store_;
  Options options_;
  std::vector<Block> blocks_;
  std::vector<KvBlockId> without_memory_;  // ids to be used again
  int n_with_memory_ = 0;
  std::unordered_multimap<uint64_t, KvBlockId> by_hash_;
  std::list<KvBlockId> kept_;  // those that belong to nobody, least recently used first
  PrefixId next_prefix_ = kFirstPrefix;
  Stats stats_;
};

}  // namespace tern
