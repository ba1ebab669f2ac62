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
                       .head_dim = config.layer(layer).head_dim,
                       .k_offset = static_cast<size_t>(block_bytes_),
                       .v_offset = static_cast<size_t>(block_bytes_ + bytes / 2)});
    block_bytes_ += bytes;
  }
  blocks_.reserve(256);  // more than most conversations have, so that the token loop allocates nothing else
}

Result<void> HostRegions::allocate(int id, uint64_t bytes, const char* what) {
  const auto at = static_cast<size_t>(id);
  if (at >= regions_.size()) regions_.resize(at + 1);
  CHECK(regions_[at].data() == nullptr);
  TRY(regions_[at], HostMemory::allocate(bytes, what));
  return {};
}

Result<void> HostKvStore::allocate(KvBlockId block) {
  TRY_STATUS(blocks_.allocate(block, block_bytes_, "the KV cache"));
  // Every token reads long contexts from end to end, and huge pages mean fewer TLB misses. Small blocks would only use
  // more memory.
  if (block_bytes_ >= kHugePage) blocks_.at(block).advise_huge_pages();
  return {};
}

void HostKvStore::free(KvBlockId block) { blocks_.free(block); }

Result<void> HostKvStore::copy(KvBlockId from, KvBlockId to) {
  blocks_.copy(from, to, block_bytes_);
  return {};
}

Result<void> HostKvStore::read(KvBlockId block, MutableBytes out) const {
  CHECK(out.size() == block_bytes_);
  blocks_.read(block, out);
  return {};
}

Result<void> HostKvStore::write(KvBlockId block, Bytes in) {
  CHECK(in.size() == block_bytes_);
  blocks_.write(block, in);
  return {};
}

Result<void> HostKvStore::allocate_state(StateId state) {
  return states_.allocate(state, states_layout_.bytes(), "the states of recurrent layers");
}

void HostKvStore::free_state(StateId state) { states_.free(state); }

Result<void> HostKvStore::copy_state(StateId from, StateId to) {
  states_.copy(from, to, state_bytes());
  return {};
}

Result<void> HostKvStore::read_state(StateId state, MutableBytes out) const {
  CHECK(out.size() == state_bytes());
  states_.read(state, out);
  return {};
}

Result<void> HostKvStore::write_state(StateId state, Bytes in) {
  CHECK(in.size() == state_bytes());
  states_.write(state, in);
  return {};
}

}  // namespace tern
