// A file with the KV cache of a text, so that the text need not be evaluated again.
//
//   "TERN-KV1", then little-endian: u32 type of the values, u32 positions of a block, u64 bytes of a block, 32
//   characters that name the model, u64 number n of tokens, n × i32; for every block of the n positions its bytes; the
//   bytes of the state, if the model has recurrent layers; 32 characters: MD5 of all that comes before.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace tern {

// Everything besides the text that keys and values depend on.
struct PromptCacheKey {
  std::string model;  // 32 characters: MD5 that identifies the model
  uint32_t kv_type = 0;
  uint32_t block_tokens = 0;
  uint64_t block_bytes = 0;
  uint64_t state_bytes = 0;  // 0: there are no recurrent layers. Not in the file: it follows from the model
  bool operator==(const PromptCacheKey&) const = default;
};

struct PromptCache {
  std::vector<int32_t> tokens;
  std::vector<Bytes> blocks;  // views of the file's bytes
  Bytes state = {};           // likewise
};

// Parses such a file for this key, with at most n_ctx tokens whose ids are below n_vocab. kCorruption: it is damaged;
// kInvalidArgument: it belongs to another model or other settings. `path`: for messages.
Result<PromptCache> parse_prompt_cache(Bytes bytes, const PromptCacheKey& key, int n_vocab, int n_ctx,
                                       const std::string& path);

// The bytes before the blocks.
std::string prompt_cache_header(const PromptCacheKey& key, const std::vector<int32_t>& tokens);

}  // namespace tern
