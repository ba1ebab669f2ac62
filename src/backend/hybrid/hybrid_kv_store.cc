#include "backend/hybrid/hybrid_kv_store.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace tern::hybrid {

HybridKvStore::HybridKvStore(std::array<std::unique_ptr<KvStore>, 2> stores) : PairedKvStore(std::move(stores)) {
  CHECK(stores_[0]->block_bytes() == stores_[1]->block_bytes());
}

Result<void> HybridKvStore::allocate(KvBlockId block) {
  const auto at = static_cast<size_t>(block);
  if (at >= holders_.size()) holders_.resize(at + 1);
  TRY_STATUS(PairedKvStore::allocate(block));
  holders(block) = 0;
  return {};
}

Result<void> HybridKvStore::copy(KvBlockId from, KvBlockId to) {
  holders(to) = 0;
  for (size_t device = 0; device < stores_.size(); ++device) {
    if (holders(from) & bit(device)) TRY_STATUS(stores_[device]->copy(from, to));
  }
  holders(to) = holders(from);
  return {};
}

Result<void> HybridKvStore::read(KvBlockId block, MutableBytes out) const {
  return stores_[holders(block) == bit(1) ? 1 : 0]->read(block, out);
}

Result<void> HybridKvStore::write(KvBlockId block, Bytes in) {
  holders(block) = 0;
  TRY_STATUS(stores_[0]->write(block, in));
  holders(block) = bit(0);
  return {};
}

std::span<const KvBlockId> HybridKvStore::before(std::span<const KvBlockId> blocks, int pos) const {
  return blocks.first(static_cast<size_t>((pos + block_tokens() - 1) / block_tokens()));
}

int64_t HybridKvStore::n_missing(size_t device, std::span<const KvBlockId> blocks, int pos) const {
  const auto n = std::ranges::count_if(before(blocks, pos), [&](KvBlockId block) { return lacks(device, block); });
  return n * block_tokens();
}

Result<void> HybridKvStore::bring(size_t device, std::span<const KvBlockId> blocks, int pos) {
  for (const KvBlockId block : before(blocks, pos)) {
    if (!lacks(device, block)) continue;
    moving_.resize(block_bytes());
    TRY_STATUS(stores_[1 - device]->read(block, moving_));
    TRY_STATUS(stores_[device]->write(block, moving_));
    holders(block) |= bit(device);
  }
  return {};
}

void HybridKvStore::written(size_t device, std::span<const KvBlockId> blocks, int pos, int end) {
  const auto first = static_cast<size_t>(pos / block_tokens());
  const size_t last = before(blocks, end).size();
  for (size_t i = first; i < last; ++i) holders(blocks[i]) = bit(device);
}

}  // namespace tern::hybrid
