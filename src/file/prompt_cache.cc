#include "file/prompt_cache.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "file/md5.h"

namespace tern {
namespace {

constexpr std::string_view kCacheMagic = "TERN-KV1";
constexpr size_t kDigest = 32;  // characters
constexpr size_t kFixed = 8 + 4 + 4 + 8 + kDigest + 8;
static_assert(std::endian::native == std::endian::little);

template <class T>
T number_at(Bytes bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string_view text_at(Bytes bytes, size_t offset, size_t n) { return as_text(bytes.subspan(offset, n)); }

template <class T>
void append(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

Result<PromptCache> parse_prompt_cache(Bytes bytes, const PromptCacheKey& key, int n_vocab, int n_ctx,
                                       const std::string& path) {
  constexpr const char* kAdvice = "delete it, and it is made anew";
  if (bytes.size() < kCacheMagic.size() || text_at(bytes, 0, kCacheMagic.size()) != kCacheMagic) {
    return fail(ErrorCode::kInvalidArgument, "{}: this is no prompt cache; give another name", path);
  }
  const auto damaged = [&] {
    return fail(ErrorCode::kCorruption, "{}: the prompt cache is damaged; {}", path, kAdvice);
  };
  if (bytes.size() < kFixed + kDigest) return damaged();
  const PromptCacheKey found{.model = std::string(text_at(bytes, 24, kDigest)),
                             .kv_type = number_at<uint32_t>(bytes, 8),
                             .block_tokens = number_at<uint32_t>(bytes, 12),
                             .block_bytes = number_at<uint64_t>(bytes, 16),
                             .state_bytes = key.state_bytes};
  if (found.model != key.model) {
    return fail(ErrorCode::kInvalidArgument, "{}: the prompt cache was made with another model; {}", path, kAdvice);
  }
  if (found != key) {
    return fail(ErrorCode::kInvalidArgument,
                "{}: the prompt cache was made on another backend, or keeps numbers of another type; {}", path,
                kAdvice);
  }
  const auto n_tokens = number_at<uint64_t>(bytes, kFixed - 8);
  const uint64_t rest = bytes.size() - kFixed - kDigest;
  if (n_tokens == 0 || n_tokens > rest / sizeof(int32_t)) return damaged();
  const uint64_t n_blocks = (n_tokens + key.block_tokens - 1) / key.block_tokens;
  const uint64_t block_and_state_bytes = rest - n_tokens * sizeof(int32_t);
  if (block_and_state_bytes < key.state_bytes) return damaged();
  const uint64_t block_bytes = block_and_state_bytes - key.state_bytes;
  if (n_blocks > block_bytes / key.block_bytes || n_blocks * key.block_bytes != block_bytes) return damaged();
  if (md5(bytes.first(bytes.size() - kDigest)) != text_at(bytes, bytes.size() - kDigest, kDigest)) return damaged();
  if (n_tokens > static_cast<uint64_t>(n_ctx)) {
    return fail(ErrorCode::kInvalidArgument, "{}: the prompt cache holds {} tokens, but the context {}; {}", path,
                n_tokens, n_ctx, kAdvice);
  }
  PromptCache cache;
  cache.tokens.resize(n_tokens);
  std::memcpy(cache.tokens.data(), bytes.data() + kFixed, n_tokens * sizeof(int32_t));
  if (std::ranges::any_of(cache.tokens, [&](int32_t token) { return token < 0 || token >= n_vocab; })) return damaged();
  for (uint64_t at = kFixed + n_tokens * sizeof(int32_t); cache.blocks.size() < n_blocks; at += key.block_bytes) {
    cache.blocks.push_back(bytes.subspan(at, key.block_bytes));
  }
  cache.state = bytes.subspan(bytes.size() - kDigest - key.state_bytes, key.state_bytes);
  return cache;
}

std::string prompt_cache_header(const PromptCacheKey& key, const std::vector<int32_t>& tokens) {
  std::string out(kCacheMagic);
  append(out, key.kv_type);
  append(out, key.block_tokens);
  append(out, key.block_bytes);
  out += key.model;
  append(out, static_cast<uint64_t>(tokens.size()));
  out.append(reinterpret_cast<const char*>(tokens.data()), tokens.size() * sizeof(int32_t));
  return out;
}

}  // namespace tern
