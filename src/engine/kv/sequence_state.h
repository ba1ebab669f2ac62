// The state of a sequence's recurrent layers, and how many tokens it describes.
#pragma once

#include <cstddef>

#include "backend/backend.h"
#include "base/result.h"
#include "engine/kv/kv_blocks.h"

namespace tern {

class SequenceState {
 public:
  explicit SequenceState(KvBlocks& pool) : pool_(pool) {}
  SequenceState(const SequenceState&) = delete;
  SequenceState& operator=(const SequenceState&) = delete;
  ~SequenceState() { release(); }

  // Takes the memory, if the state has none yet. kOutOfMemory.
  Result<void> take();

  // True if a run can continue after n tokens.
  bool is_valid_for(size_t n) const { return n == 0 || (is_valid_ && n_tokens_ + n_confirmed_ == n); }
  // True if the state alone, without pending tokens, describes n tokens.
  bool describes(size_t n) const { return is_valid_ && n_confirmed_ == 0 && n_tokens_ == n; }

  // The tokens that the state alone describes; 0: none.
  size_t n_described() const { return is_valid_ ? n_tokens_ : 0; }

  // The sequence forgets the tokens from n on. What the state has taken in, it cannot forget.
  void truncate(size_t n);
  // The sequence becomes the n tokens up to the end of a cached block. False if memory is short.
  bool copy_snapshot(KvBlockId block, size_t n);
  // Makes this state the snapshot at the end of a cached block. `rolls`: it replaces the last one that was kept so.
  void keep_snapshot(KvBlockId block, bool rolls);
  // Reads or replaces what describes n tokens (KvStore::read_state).
  Result<void> read(MutableBytes out) const { return pool_.store().read_state(id_, out); }
  Result<void> write(Bytes in, size_t n);

  // Puts the state into a slice that continues the sequence. Until add() is called, the state counts as invalid: the
  // run may fail. kOutOfMemory.
  Result<void> begin_run(Slice& slice, bool is_check);
  // Puts the state into the slice that starts a stream. It describes the tokens that add() has been told of at any
  // time: a stream runs ahead of them in other memory.
  Result<void> begin_stream(Slice& slice);
  // In a store that returns states, after the last add() of a check: goes back to the state before it, unless all
  // tokens have stayed.
  void settle();
  // n tokens of the last slice stay: all of them, or after a check, in one call or several, those that were right.
  void add(size_t n);

 private:
  void release();
  void has_taken_in(size_t n);  // the state describes n tokens, and none is pending

  KvBlocks& pool_;
  StateId id_ = -1;         // -1: none yet
  bool is_valid_ = false;   // it describes n_tokens_ tokens
  size_t n_tokens_ = 0;     // without pending tokens
  size_t n_confirmed_ = 0;  // pending tokens that the sequence has kept
  int confirmed_set_ = 0;
  bool is_running_ = false, is_check_ = false;  // of the last slice
  bool is_marked_ = false;                      // it is a check that is not settled
  size_t n_run_ = 0, n_added_ = 0;              // tokens of that slice, and those that stay
  KvBlockId rolling_ = -1;                      // block of the last snapshot that rolls
};

}  // namespace tern
