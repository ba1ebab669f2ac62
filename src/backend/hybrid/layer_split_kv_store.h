// Keys, values and states of a model whose layers are on two devices.
#pragma once

#include <array>
#include <memory>
#include <utility>

#include "backend/hybrid/paired_kv_store.h"

namespace tern::hybrid {

// A block has the part of each device's layers there, under the same id; a state likewise.
class LayerSplitKvStore final : public PairedKvStore {
 public:
  explicit LayerSplitKvStore(std::array<std::unique_ptr<KvStore>, 2> stores) : PairedKvStore(std::move(stores)) {}

  uint64_t block_bytes() const override { return sum(&KvStore::block_bytes); }
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

 private:
  uint64_t sum(uint64_t (KvStore::*bytes)() const) const { return ((*stores_[0]).*bytes)() + ((*stores_[1]).*bytes)(); }
  bool has_states(size_t i) const { return stores_[i]->state_bytes() > 0; }
};

}  // namespace tern::hybrid
