// The keys and values of all sequences of one executable, in KV blocks.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/check.h"
#include "base/result.h"
#include "tern/options.h"

namespace tern {

using KvBlockId = int32_t;
using StateId = int32_t;

// Blocks of block_tokens() consecutive positions each, in all layers. The caller keeps the block tables
// (engine/kv/kv_blocks.h): a block may belong to several sequences as long as none of them writes to it.
class KvStore {
 public:
  virtual ~KvStore() = default;
  virtual KvType type() const = 0;
  virtual int block_tokens() const = 0;
  // Bytes of a block as read() returns it; a device may use a little more.
  virtual uint64_t block_bytes() const = 0;

  // Makes room for this many blocks at once, in stores that would otherwise grow gradually. kOutOfMemory.
  virtual Result<void> reserve(int /*n_blocks*/) { return {}; }

  // A block has memory between these two calls. The caller chooses the ids, from 0 up and without large gaps. The
  // initial contents are undefined. kOutOfMemory.
  virtual Result<void> allocate(KvBlockId block) = 0;
  virtual void free(KvBlockId block) = 0;

  virtual Result<void> copy(KvBlockId from, KvBlockId to) = 0;
  // Reads or writes a whole block, block_bytes() bytes in the order of kv_layout.h: the same for every backend.
  virtual Result<void> read(KvBlockId block, MutableBytes out) const = 0;
  virtual Result<void> write(KvBlockId block, Bytes in) = 0;

  // The states of recurrent layers (state_layout.h), with ids of their own. A state describes a sequence at one length.
  // Bytes of a state as read_state() returns it; 0: the model has no recurrent layers, and the rest is not called.
  virtual uint64_t state_bytes() const { return 0; }
  // Bytes of memory that the state of a sequence may take: also with pending tokens, or a second place.
  virtual uint64_t state_memory() const { return state_bytes(); }
  // The most tokens of a check (Slice::is_check); 0: a state cannot leave tokens pending.
  virtual int most_pending() const { return 0; }
  // True: a state can go back by one run instead. mark_state(), before the run: kOutOfMemory. return_state(), after it.
  virtual bool returns_states() const { return false; }
  virtual Result<void> mark_state(StateId /*state*/) { CHECK(false); }
  virtual void return_state(StateId /*state*/) { CHECK(false); }
  // A state has memory between these two calls, like a block. kOutOfMemory.
  virtual Result<void> allocate_state(StateId /*state*/) { CHECK(false); }
  virtual void free_state(StateId /*state*/) { CHECK(false); }
  // These leave out pending tokens.
  virtual Result<void> copy_state(StateId /*from*/, StateId /*to*/) { CHECK(false); }
  virtual Result<void> read_state(StateId /*state*/, MutableBytes /*out*/) const { CHECK(false); }
  virtual Result<void> write_state(StateId /*state*/, Bytes /*in*/) { CHECK(false); }
};

}  // namespace tern
