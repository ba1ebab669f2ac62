#include "engine/kv/session_cache.h"

#include <algorithm>

#include "base/files/file.h"
#include "base/text/format_text.h"
#include "file/md5.h"
#include "file/output_file.h"
#include "file/prompt_cache.h"

namespace tern {
namespace {

PromptCacheKey key_of(const Sequence& sequence, const std::string& model) {
  const KvStore& store = sequence.store();
  return {.model = model,
          .kv_type = static_cast<uint32_t>(store.type()),
          .block_tokens = static_cast<uint32_t>(store.block_tokens()),
          .block_bytes = store.block_bytes(),
          .state_bytes = store.state_bytes()};
}

}  // namespace

Result<std::string> model_key(const Model& model, bool is_long) {
  constexpr uint64_t kSample = 4096;  // bytes of each tensor, from its middle
  Md5 digest;
  const Config& c = model.config;
  digest.add(as_bytes(format_text("{} {} {} {} {} {} {} {}", c.architecture, c.n_layers, c.d_model, c.n_heads,
                                  c.n_kv_heads, c.head_dim, c.d_ff, c.n_vocab)));
  Scratch scratch;
  const auto add = [&](const Tensor& tensor) -> Result<void> {
    digest.add(
        as_bytes(format_text("{} {} {} {}", tensor.name, static_cast<int>(tensor.format), tensor.rows, tensor.cols)));
    const uint64_t n = std::min(kSample, tensor.data.size());
    TRY(const Bytes bytes, tensor.data.read((tensor.data.size() - n) / 2, n, scratch));
    digest.add(bytes);
    return {};
  };
  const Weights& w = model.weights;
  for (const Tensor* tensor : {&w.token_embd, &w.output_norm}) TRY_STATUS(add(*tensor));
  for (const Layer& layer : w.layers) {
    for (const Tensor* tensor : layer.tensors()) TRY_STATUS(add(*tensor));
  }
  std::vector<std::string> overrides = model.source->changes().overrides;
  std::ranges::sort(overrides);
  for (const std::string& text : overrides) digest.add(as_bytes("override " + text + "\n"));
  if (is_long) digest.add(as_bytes("long"));
  return digest.finish();
}

Result<void> save_sequence(Sequence& sequence, const std::string& model, const std::string& path) {
  sequence.keep_what_state_describes();
  if (sequence.n_used() == 0) return {};
  TRY(auto file, OutputFile::create(path));
  Md5 digest;
  const auto put = [&](Bytes bytes) {
    digest.add(bytes);
    return file.write(bytes);
  };
  const std::vector<TokenId> tokens(sequence.tokens().begin(), sequence.tokens().end());
  TRY_STATUS(put(as_bytes(prompt_cache_header(key_of(sequence, model), tokens))));
  const KvStore& store = sequence.store();
  std::vector<std::byte> bytes(store.block_bytes());
  const auto n_blocks =
      (tokens.size() + static_cast<size_t>(store.block_tokens()) - 1) / static_cast<size_t>(store.block_tokens());
  for (const KvBlockId block : sequence.blocks().first(n_blocks)) {
    TRY_STATUS(store.read(block, bytes));
    TRY_STATUS(put(bytes));
  }
  if (store.state_bytes() > 0) {
    bytes.resize(store.state_bytes());
    TRY_STATUS(sequence.read_state(bytes));
    TRY_STATUS(put(bytes));
  }
  TRY_STATUS(file.write(as_bytes(digest.finish())));
  return file.finish();
}

Result<bool> load_sequence(Sequence& sequence, const std::string& model, int n_vocab, const std::string& path) {
  if (!is_file(path)) return false;
  TRY(const auto file, open_file(path));
  TRY(const PromptCache cache,
      parse_prompt_cache(file->resident(), key_of(sequence, model), n_vocab, sequence.n_ctx(), path));
  TRY_STATUS(sequence.restore(cache.tokens, cache.blocks, cache.state));
  return true;
}

}  // namespace tern
