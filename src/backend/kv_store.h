// The keys and values of all sequences of one executable, in blocks.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/result.h"
#include "tern/options.h"

namespace tern {

using KvBlockId = int32_t;

// Blocks of block_tokens() consecutive positions each, in all layers. Which sequence has which of them is the caller's
// business (engine/kv_blocks.h): a block may belong to several sequences as long as none of them writes to it.
class KvStore {
 public:
  virtual ~KvStore() = default;
  virtual KvType type() const = 0;
  virtual int block_tokens() const = 0;
  // Of a block, as read() gives it; a device may take a little more.
  virtual uint64_t block_bytes() const = 0;

  // Makes room for so many blocks at once, where it would grow bit by bit. kOutOfMemory.
  virtual Result<void> reserve(int /*n_blocks*/) { return {}; }

  // A block has memory between these two; ids are the caller's choice, from 0 up and without large gaps. What a block
  // holds at first means nothing. kOutOfMemory.
  virtual Result<void> allocate(KvBlockId block) = 0;
  virtual void free(KvBlockId block) = 0;

  virtual Result<void> copy(KvBlockId from, KvBlockId to) = 0;
  // All of a block, block_bytes() of them, in the order of kv_layout.h: every backend's store reads what another wrote.
  virtual Result<void> read(KvBlockId block, MutableBytes out) const = 0;
  virtual Result<void> write(KvBlockId block, Bytes in) = 0;
};

}  // namespace tern
