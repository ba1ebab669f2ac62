// Keys, values and states of a model whose layers are on two devices.
#pragma once

#include <array>
#include <memory>

#include "backend/kv_store.h"

namespace tern::hybrid {

// A block has the part of each device's layers there, under the same id; a state likewise.
class LayerSplitKvStore final : public KvStore {
 public:
  explicit LayerSplitKvStore(std::array<std::unique_ptr<KvStore>, 2> parts);

  KvType type() const override { return parts_[0]->type(); }
  int block_tokens() const override { return parts_[0]->block_tokens(); }
  uint64_t block_bytes() const override { return sum(&KvStore::block_bytes); }
  Result<void> reserve(int n_blocks) override;
  Result<void> allocate(KvBlockId block) override;
  void free(KvBlockId block) override;
  Result<void> copy(KvBlockId from, KvBlockId to) override;
  Result<void> read(KvBlockId block, MutableBytes out) const override;
  Result<void> write(KvBlockId block, Bytes in) override;

  uint64_t state_bytes() const override { return sum(&KvStore::state_bytes); }
  uint64_t state_memory() const override { return sum(&KvStore::state_memory); }
  Result<void> allocate_state(StateId state) override;
  void free_state(StateId state) override;
  Result<void> copy_state(StateId from, StateId to) override;
  Result<void> read_state(StateId state, MutableBytes out) const override;
  Result<void> write_state(StateId state, Bytes in) override;

  KvStore& part(size_t i) const { return *parts_[i]; }

 private:
  uint64_t sum(uint64_t (KvStore::*bytes)() const) const { return ((*parts_[0]).*bytes)() + ((*parts_[1]).*bytes)(); }
  bool has_states(size_t i) const { return parts_[i]->state_bytes() > 0; }

  std::array<std::unique_ptr<KvStore>, 2> parts_;
};

}  // namespace tern::hybrid
