// Any bytes as a prompt cache: refused with a message, or tokens and blocks that are inside the bytes. If the last byte
// is even, the right digest is appended, so that the fuzzer gets past it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "file/md5.h"
#include "file/prompt_cache.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const tern::PromptCacheKey key{
      .model = "0123456789abcdef0123456789abcdef", .kv_type = 0, .block_tokens = 4, .block_bytes = 8};
  std::vector<std::byte> bytes(reinterpret_cast<const std::byte*>(data),
                               reinterpret_cast<const std::byte*>(data) + size);
  const std::string digest = tern::md5(bytes);
  if (size > 0 && data[size - 1] % 2 == 0) {
    for (const char c : digest) bytes.push_back(static_cast<std::byte>(c));
  }
  const auto cache = tern::parse_prompt_cache(bytes, key, 100, 50, "fuzz");
  if (!cache) {
    const std::string& message = cache.error().message;
    require(message.starts_with("fuzz: ") && message.size() < 1000);
    return 0;
  }
  require(!cache->tokens.empty() && cache->tokens.size() <= 50 &&
          cache->blocks.size() == (cache->tokens.size() + 3) / 4);
  for (const int32_t token : cache->tokens) require(token >= 0 && token < 100);
  for (const tern::Bytes block : cache->blocks) {
    require(block.size() == 8 && block.data() >= bytes.data() && block.data() + 8 <= bytes.data() + bytes.size());
  }
  return 0;
}
