#include "backend/hybrid/paired_kv_store.h"

#include <utility>

#include "base/check.h"

namespace tern::hybrid {

PairedKvStore::PairedKvStore(std::array<std::unique_ptr<KvStore>, 2> stores) : stores_(std::move(stores)) {
  CHECK(stores_[0]->type() == stores_[1]->type() && stores_[0]->block_tokens() == stores_[1]->block_tokens());
}

Result<void> PairedKvStore::reserve(int n_blocks) {
  for (const auto& store : stores_) TRY_STATUS(store->reserve(n_blocks));
  return {};
}

Result<void> PairedKvStore::allocate(KvBlockId block) {
  TRY_STATUS(stores_[0]->allocate(block));
  auto done = stores_[1]->allocate(block);
  if (!done) stores_[0]->free(block);
  return done;
}

void PairedKvStore::free(KvBlockId block) {
  for (const auto& store : stores_) store->free(block);
}

}  // namespace tern::hybrid
