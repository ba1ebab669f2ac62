#include "backend/hybrid/layer_split_kv_store.h"

namespace tern::hybrid {

Result<void> LayerSplitKvStore::copy(KvBlockId from, KvBlockId to) {
  for (const auto& store : stores_) TRY_STATUS(store->copy(from, to));
  return {};
}

Result<void> LayerSplitKvStore::read(KvBlockId block, MutableBytes out) const {
  const uint64_t first = stores_[0]->block_bytes();
  TRY_STATUS(stores_[0]->read(block, out.first(first)));
  return stores_[1]->read(block, out.subspan(first));
}

Result<void> LayerSplitKvStore::write(KvBlockId block, Bytes in) {
  const uint64_t first = stores_[0]->block_bytes();
  TRY_STATUS(stores_[0]->write(block, in.first(first)));
  return stores_[1]->write(block, in.subspan(first));
}

Result<void> LayerSplitKvStore::allocate_state(StateId state) {
  if (has_states(0)) TRY_STATUS(stores_[0]->allocate_state(state));
  if (!has_states(1)) return {};
  auto done = stores_[1]->allocate_state(state);
  if (!done && has_states(0)) stores_[0]->free_state(state);
  return done;
}

void LayerSplitKvStore::free_state(StateId state) {
  for (size_t i = 0; i < stores_.size(); ++i) {
    if (has_states(i)) stores_[i]->free_state(state);
  }
}

Result<void> LayerSplitKvStore::copy_state(StateId from, StateId to) {
  for (size_t i = 0; i < stores_.size(); ++i) {
    if (has_states(i)) TRY_STATUS(stores_[i]->copy_state(from, to));
  }
  return {};
}

Result<void> LayerSplitKvStore::read_state(StateId state, MutableBytes out) const {
  const uint64_t first = stores_[0]->state_bytes();
  if (has_states(0)) TRY_STATUS(stores_[0]->read_state(state, out.first(first)));
  if (has_states(1)) TRY_STATUS(stores_[1]->read_state(state, out.subspan(first)));
  return {};
}

Result<void> LayerSplitKvStore::write_state(StateId state, Bytes in) {
  const uint64_t first = stores_[0]->state_bytes();
  if (has_states(0)) TRY_STATUS(stores_[0]->write_state(state, in.first(first)));
  if (has_states(1)) TRY_STATUS(stores_[1]->write_state(state, in.subspan(first)));
  return {};
}

}  // namespace tern::hybrid
