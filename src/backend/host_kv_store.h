// Keys and values in host memory.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "backend/host_memory.h"
#include "backend/kv_store.h"
#include "backend/ops.h"

namespace tern {

// Regions of memory by id.
class HostRegions {
 public:
  // kOutOfMemory; `what` is for the message.
  Result<void> allocate(int id, uint64_t bytes, const char* what);
  void free(int id) { regions_[static_cast<size_t>(id)] = {}; }
  HostMemory& at(int id) { return regions_[static_cast<size_t>(id)]; }
  std::byte* data(int id) const { return regions_[static_cast<size_t>(id)].data(); }
  // These copy the first n bytes, or as many as the span has.
  void copy(int from, int to, uint64_t n) const { std::copy_n(data(from), n, data(to)); }
  void read(int id, MutableBytes out) const { std::copy_n(data(id), out.size(), out.data()); }
  void write(int id, Bytes in) const { std::ranges::copy(in, data(id)); }
  void reserve(size_t n) { regions_.reserve(n); }

 private:
  std::vector<HostMemory> regions_;  // empty: not allocated
};

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

  uint64_t state_bytes() const override { return states_layout_.kept_bytes(); }
  uint64_t state_memory() const override { return states_layout_.bytes(); }
  int most_pending() const override { return kMostPending; }
  Result<void> allocate_state(StateId state) override;
  void free_state(StateId state) override;
  Result<void> copy_state(StateId from, StateId to) override;
  Result<void> read_state(StateId state, MutableBytes out) const override;
  Result<void> write_state(StateId state, Bytes in) override;

  const StateLayer& state_layer(int index) const { return states_layout_.layer(index); }
  std::byte* state(StateId id) const { return states_.data(id); }
  const ops::KvLayer& layer(int index) const { return layers_[static_cast<size_t>(index)]; }
  std::byte* data(KvBlockId block) const { return blocks_.data(block); }

 private:
  KvType type_;
  uint64_t block_bytes_ = 0;
  std::vector<ops::KvLayer> layers_;
  HostRegions blocks_;
  StateLayout states_layout_;
  HostRegions states_;
};

}  // namespace tern
