// Keys and values in host memory.
#pragma once

#include <memory>
#include <vector>

#include "backend/host_memory.h"
#include "backend/kv_store.h"
#include "backend/ops.h"

namespace tern {

// A block is one piece of memory: the layers in order, each [2][n_kv_heads, kKvBlock, head_dim].
class HostKvStore final : public KvStore {
 public:
  HostKvStore(const Config& config, KvType type);

  KvType type() const override { return type_; }
  int block_tokens() const override { return kKvBlock; }
  uint64_t block_bytes() const override { return block_bytes_; }
  Result<void> allocate(KvBlockId block) override;
  void free(KvBlockId block) override;
  Result<void> copy(KvBlockId from, KvBlockId to) override;
  Result<void> read(KvBlockId block, MutableBytes out) const override;
  Result<void> write(KvBlockId block, Bytes in) override;

  const ops::KvLayer& layer(int index) const { return layers_[static_cast<size_t>(index)]; }
  std::byte* data(KvBlockId block) const { return blocks_[static_cast<size_t>(block)].data(); }

 private:
  KvType type_;
  uint64_t block_bytes_ = 0;
  std::vector<ops::KvLayer> layers_;
  std::vector<HostMemory> blocks_;  // by id; empty: not allocated
};

}  // namespace tern
