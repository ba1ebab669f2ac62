// What two stores with the same blocks have in common, whatever they keep in them.
#pragma once

#include <array>
#include <memory>

#include "backend/kv_store.h"

namespace tern::hybrid {

// A block has memory in both stores, under the same id.
class PairedKvStore : public KvStore {
 public:
  KvType type() const final { return stores_[0]->type(); }
  int block_tokens() const final { return stores_[0]->block_tokens(); }
  Result<void> reserve(int n_blocks) final;
  Result<void> allocate(KvBlockId block) override;
  void free(KvBlockId block) final;

  KvStore& on(size_t device) const { return *stores_[device]; }

 protected:
  explicit PairedKvStore(std::array<std::unique_ptr<KvStore>, 2> stores);

  const std::array<std::unique_ptr<KvStore>, 2> stores_;
};

}  // namespace tern::hybrid
