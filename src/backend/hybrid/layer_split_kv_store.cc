#include "backend/hybrid/layer_split_kv_store.h"

#include <utility>

#include "base/check.h"

namespace tern::hybrid {

LayerSplitKvStore::LayerSplitKvStore(std::array<std::unique_ptr<KvStore>, 2> parts) : parts_(std::move(parts)) {
  CHECK(parts_[0]->type() == parts_[1]->type() && parts_[0]->block_tokens() == parts_[1]->block_tokens());
}

Result<void> LayerSplitKvStore::reserve(int n_blocks) {
  for (const auto& part : parts_) TRY_STATUS(part->reserve(n_blocks));
  return {};
}

Result<void> LayerSplitKvStore::allocate(KvBlockId block) {
  TRY_STATUS(parts_[0]->allocate(block));
  auto done = parts_[1]->allocate(block);
  if (!done) parts_[0]->free(block);
  return done;
}

void LayerSplitKvStore::free(KvBlockId block) {
  for (const auto& part : parts_) part->free(block);
}

Result<void> LayerSplitKvStore::copy(KvBlockId from, KvBlockId to) {
  for (const auto& part : parts_) TRY_STATUS(part->copy(from, to));
  return {};
}

Result<void> LayerSplitKvStore::read(KvBlockId block, MutableBytes out) const {
  const uint64_t first = parts_[0]->block_bytes();
  TRY_STATUS(parts_[0]->read(block, out.first(first)));
  return parts_[1]->read(block, out.subspan(first));
}

Result<void> LayerSplitKvStore::write(KvBlockId block, Bytes in) {
  const uint64_t first = parts_[0]->block_bytes();
  TRY_STATUS(parts_[0]->write(block, in.first(first)));
  return parts_[1]->write(block, in.subspan(first));
}

Result<void> LayerSplitKvStore::allocate_state(StateId state) {
  if (has_states(0)) TRY_STATUS(parts_[0]->allocate_state(state));
  if (!has_states(1)) return {};
  auto done = parts_[1]->allocate_state(state);
  if (!done && has_states(0)) parts_[0]->free_state(state);
  return done;
}

void LayerSplitKvStore::free_state(StateId state) {
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (has_states(i)) parts_[i]->free_state(state);
  }
}

Result<void> LayerSplitKvStore::copy_state(StateId from, StateId to) {
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (has_states(i)) TRY_STATUS(parts_[i]->copy_state(from, to));
  }
  return {};
}

Result<void> LayerSplitKvStore::read_state(StateId state, MutableBytes out) const {
  const uint64_t first = parts_[0]->state_bytes();
  if (has_states(0)) TRY_STATUS(parts_[0]->read_state(state, out.first(first)));
  if (has_states(1)) TRY_STATUS(parts_[1]->read_state(state, out.subspan(first)));
  return {};
}

Result<void> LayerSplitKvStore::write_state(StateId state, Bytes in) {
  const uint64_t first = parts_[0]->state_bytes();
  if (has_states(0)) TRY_STATUS(parts_[0]->write_state(state, in.first(first)));
  if (has_states(1)) TRY_STATUS(parts_[1]->write_state(state, in.subspan(first)));
  return {};
}

}  // namespace tern::hybrid
