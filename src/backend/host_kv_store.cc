#include "backend/host_kv_store.h"

#include <algorithm>

#include "backend/kv_layout.h"
#include "base/check.h"

namespace tern {

HostKvStore::HostKvStore(const Config& config, KvType type) : type_(type), states_layout_(config) {
  for (int layer = 0; layer < config.n_layers; ++layer) {
    const uint64_t bytes = kv_layer_bytes(config, layer, kKvBlock, type);
    layers_.push_back({.type = type,
                       .n_kv_heads = config.layer(layer).n_kv_heads,
                       .head_dim = config.head_dim,
                       .k_offset = static_cast<size_t>(block_bytes_),
                       .v_offset = static_cast<size_t>(block_bytes_ + bytes / 2)});
    block_bytes_ += bytes;
  }
  blocks_.reserve(256);  // more than most conversations have, so that the token loop allocates nothing else
}

Result<void> HostKvStore::allocate(KvBlockId block) {
  const auto at = static_cast<size_t>(block);
  if (at >= blocks_.size()) blocks_.resize(at + 1);
  CHECK(blocks_[at].data() == nullptr);
  TRY(blocks_[at], HostMemory::allocate(block_bytes_, "the KV cache"));
  // Every token reads long contexts from end to end, and huge pages mean fewer TLB misses. Small blocks would only use
  // more memory.
  if (block_bytes_ >= kHugePage) blocks_[at].advise_huge_pages();
  return {};
}

void HostKvStore::free(KvBlockId block) { blocks_[static_cast<size_t>(block)] = {}; }

Result<void> HostKvStore::copy(KvBlockId from, KvBlockId to) {
  std::copy_n(data(from), block_bytes_, data(to));
  return {};
}

Result<void> HostKvStore::allocate_state(StateId state) {
  const auto at = static_cast<size_t>(state);
  if (at >= states_.size()) states_.resize(at + 1);
  CHECK(states_[at].data() == nullptr);
  TRY(states_[at], HostMemory::allocate(states_layout_.bytes(), "the states of recurrent layers"));
  return {};
}

void HostKvStore::free_state(StateId state) { states_[static_cast<size_t>(state)] = {}; }

Result<void> HostKvStore::copy_state(StateId from, StateId to) {
  std::copy_n(state(from), state_bytes(), state(to));
  return {};
}

Result<void> HostKvStore::read_state(StateId from, MutableBytes out) const {
  CHECK(out.size() == state_bytes());
  std::copy_n(state(from), state_bytes(), out.data());
  return {};
}

Result<void> HostKvStore::write_state(StateId to, Bytes in) {
  CHECK(in.size() == state_bytes());
  std::copy_n(in.data(), state_bytes(), state(to));
  return {};
}

Result<void> HostKvStore::read(KvBlockId block, MutableBytes out) const {
  CHECK(out.size() == block_bytes_);
  std::copy_n(data(block), block_bytes_, out.data());
  return {};
}

Result<void> HostKvStore::write(KvBlockId block, Bytes in) {
  CHECK(in.size() == block_bytes_);
  std::copy_n(in.data(), block_bytes_, data(block));
  return {};
}

}  // namespace tern
