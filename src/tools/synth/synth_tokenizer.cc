#include "tools/synth/synth_tokenizer.h"

#include <string>
#include <vector>

#include "base/check.h"
#include "base/text/format_text.h"

namespace tern {
namespace {

constexpr int kBytes = 256;

std::string utf8_of_two(int code) {
  CHECK(code >= 0x80 && code < 0x800);
  return {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 0x3F))};
}

// GPT-2's letter for each byte: the byte itself if printable, else the next letter from U+0100 on.
std::vector<std::string> letters_of_bytes() {
  std::vector<std::string> letters;
  int next = 0x100;
  for (int byte = 0; byte < kBytes; ++byte) {
    const bool is_ascii = byte > 0x20 && byte < 0x7F;
    const bool is_seen = is_ascii || (byte >= 0xA1 && byte <= 0xFF && byte != 0xAD);
    letters.push_back(is_ascii ? std::string(1, static_cast<char>(byte)) : utf8_of_two(is_seen ? byte : next++));
  }
  return letters;
}

}  // namespace

void add_byte_tokenizer(GgufWriter& writer, int n_vocab) {
  CHECK(n_vocab >= kFewestTokensOfBytes);
  constexpr int32_t kNormal = 1, kControl = 3;
  const std::string space = utf8_of_two(0x120);  // same as letters_of_bytes()[' ']
  std::vector<std::string> tokens = letters_of_bytes();
  const std::string merged = space + "w";
  tokens.push_back(merged);
  for (int i = 0; std::ssize(tokens) < n_vocab - 1; ++i) tokens.push_back(format_text("{}{}", merged, i));
  tokens.emplace_back("<|endoftext|>");
  std::vector<int32_t> types(tokens.size(), kNormal);
  types.back() = kControl;
  const std::string merge = space + " w";  // this kind of tokenizer requires merges
  const std::string_view merges[] = {merge};
  const auto last = static_cast<uint32_t>(n_vocab - 1);
  writer.add_string("tokenizer.ggml.model", "gpt2");
  writer.add_string("tokenizer.ggml.pre", "qwen2");
  writer.add_strings("tokenizer.ggml.tokens", std::vector<std::string_view>(tokens.begin(), tokens.end()));
  writer.add_i32s("tokenizer.ggml.token_type", types);
  writer.add_strings("tokenizer.ggml.merges", merges);
  writer.add_u32("tokenizer.ggml.eos_token_id", last);
  writer.add_u32("tokenizer.ggml.bos_token_id", last);
  writer.add_bool("tokenizer.ggml.add_bos_token", false);
  writer.add_string("tokenizer.chat_template", "{% for message in messages %}{{ message['content'] }}{% endfor %}");
}

}  // namespace tern
