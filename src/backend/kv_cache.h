// Keys and values of a single sequence: for tools and tests, which share no blocks. If the model has recurrent layers,
// each run must continue the last one, or begin at position 0.
#pragma once

#include <memory>
#include <vector>

#include "backend/backend.h"

namespace tern {

// Owns a store, and as many of its blocks as n_ctx tokens need.
class KvCache {
 public:
  static Result<std::unique_ptr<KvCache>> create(std::unique_ptr<KvStore> store, int n_ctx);

  int n_ctx() const { return n_ctx_; }
  uint64_t bytes() const { return blocks_.size() * store_->block_bytes(); }
  KvStore& store() { return *store_; }
  // The slice with this cache's blocks.
  Slice place(Slice slice) const;

 private:
  KvCache(std::unique_ptr<KvStore> store, int n_ctx) : store_(std::move(store)), n_ctx_(n_ctx) {}

  std::unique_ptr<KvStore> store_;
  int n_ctx_;
  std::vector<KvBlockId> blocks_;
};

}  // namespace tern
