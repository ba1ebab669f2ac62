// The keys and values of all sequences of one executable, in KV blocks.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/result.h"
#include "tern/options.h"

namespace tern {

using KvBlockId = int32_t;

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
};

}  // namespace tern
