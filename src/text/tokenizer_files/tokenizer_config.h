// The JSON files beside a tokenizer in a Hugging Face directory, and what they add to its vocabulary.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "text/tokenizer/vocab.h"

namespace tern {

struct AddedToken {
  TokenId id = 0;
  std::string content;
  bool special = false;
  uint8_t flags = 0;  // TokenFlag bits
};

// tokenizer_config.json
struct TokenizerConfig {
  std::optional<std::string> bos, eos, unk, pad;  // spelled out
  std::optional<bool> add_bos, add_eos;
  std::optional<std::string> chat_template;  // if there are several, the one named "default"
  std::vector<AddedToken> added_tokens;
};

// `path`: for messages only. kCorruption: broken JSON or wrong types.
Result<TokenizerConfig> read_tokenizer_config(Bytes json, std::string_view path);

// Applies the configuration to a vocabulary: its special tokens, BOS, and EOS as a stop token. Tokens that the
// vocabulary lacks are added (a tokenizer.model does not contain them). kCorruption: another token already has the id.
Result<void> apply_tokenizer_config(const TokenizerConfig& config, Vocab& vocab, std::string_view path);

// The eos_token_id of a generation_config.json or config.json, one number or several; empty: there is none. If only its
// text_config has one, that counts.
Result<std::vector<TokenId>> read_eos_token_ids(Bytes json, std::string_view path);

}  // namespace tern
