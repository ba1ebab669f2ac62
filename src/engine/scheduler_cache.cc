// Saves and loads the prefix cache as files.
#include "engine/kv/session_cache.h"
#include "engine/scheduler.h"

namespace tern {

std::unique_ptr<Sequence> Scheduler::Impl::find(std::span<const TokenId> tokens) {
  // Add a token, since a prompt's last token is never taken from the cache.
  std::vector<TokenId> prompt(tokens.begin(), tokens.end());
  prompt.push_back(0);
  auto found = std::make_unique<Sequence>(model_.executable, blocks_, options_.n_ctx, root_);
  found->keep_common(prompt);
  return found;
}

Result<size_t> Scheduler::Impl::save_cache(std::span<const TokenId> tokens, const std::string& path) {
  end_stream();  // a device stream may have run further
  const auto found = find(tokens);
  if (found->n_used() == 0) return size_t{0};
  TRY(const std::string key, model_.cache_key());
  TRY_STATUS(save_sequence(*found, key, path));
  return static_cast<size_t>(found->n_used());
}

Result<std::vector<TokenId>> Scheduler::Impl::load_cache(const std::string& path) {
  end_stream();
  TRY(const std::string key, model_.cache_key());
  std::vector<TokenId> tokens;
  {
    Sequence sequence(model_.executable, blocks_, options_.n_ctx, root_);
    TRY(const bool is_there, load_sequence(sequence, key, model_.n_vocab, path));
    if (!is_there) return fail(ErrorCode::kNotFound, "{}: there is no such file", path);
    tokens.assign(sequence.tokens().begin(), sequence.tokens().end());
  }
  // The blocks are unreferenced now, so only what fits the cache budget remains.
  tokens.resize(static_cast<size_t>(find(tokens)->n_used()));
  return tokens;
}

size_t Scheduler::Impl::drop_cache(std::span<const TokenId> tokens) {
  end_stream();
  return static_cast<size_t>(blocks_->drop(root_, tokens)) * static_cast<size_t>(blocks_->block_tokens());
}

Result<size_t> Scheduler::save_cache(std::span<const TokenId> tokens, const std::string& path) {
  return impl_->save_cache(tokens, path);
}
Result<std::vector<TokenId>> Scheduler::load_cache(const std::string& path) { return impl_->load_cache(path); }
size_t Scheduler::drop_cache(std::span<const TokenId> tokens) { return impl_->drop_cache(tokens); }

}  // namespace tern
