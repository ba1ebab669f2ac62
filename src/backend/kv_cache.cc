#include "backend/kv_cache.h"

#include "base/check.h"

namespace tern {
namespace {

constexpr StateId kState = 0;  // of the only sequence

}  // namespace

Result<std::unique_ptr<KvCache>> KvCache::create(std::unique_ptr<KvStore> store, int n_ctx) {
  std::unique_ptr<KvCache> cache(new KvCache(std::move(store), n_ctx));
  const int per_block = cache->store_->block_tokens(), n_blocks = (n_ctx + per_block - 1) / per_block;
  TRY_STATUS(cache->store_->reserve(n_blocks));
  for (KvBlockId block = 0; block < n_blocks; ++block) {
    TRY_STATUS(cache->store_->allocate(block));
    cache->blocks_.push_back(block);
  }
  if (cache->store_->state_bytes() > 0) TRY_STATUS(cache->store_->allocate_state(kState));
  return cache;
}

Slice KvCache::place(Slice slice) const {
  CHECK(slice.first_pos >= 0 && slice.first_pos + static_cast<int>(slice.tokens.size()) <= n_ctx_);
  slice.blocks = blocks_;
  slice.n_ctx = n_ctx_;
  if (store_->state_bytes() > 0) slice.state = kState;
  return slice;
}

Result<std::unique_ptr<KvCache>> Executable::new_cache(int n_ctx, KvType type) const {
  TRY(auto store, new_kv_store(kv_block_tokens(n_ctx), type));
  return KvCache::create(std::move(store), n_ctx);
}

Result<std::span<const float>> Executable::run(KvCache& cache, Slice slice) {
  const Slice placed = cache.place(slice);
  return run(cache.store(), {&placed, 1});
}

Result<std::unique_ptr<TokenStream>> Executable::decode(KvCache& cache, TokenId token, int pos, int n_tokens,
                                                        const DeviceSampling& sampling) {
  CHECK(pos + n_tokens <= cache.n_ctx());
  const Slice start = cache.place({.tokens = {&token, 1}, .first_pos = pos});
  return decode(cache.store(), {&start, 1}, n_tokens, {&sampling, 1});
}

}  // namespace tern
