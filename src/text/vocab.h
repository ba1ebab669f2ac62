// What a tokenizer is made from, whatever file it came in.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tern/options.h"

namespace tern {

enum class TokenType : uint8_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };

// The regular expressions that cut text into words before merging, by the names that GGUF files use.
enum class PreTokenizer { kGpt2, kLlamaBpe, kQwen2 };

// A byte-level BPE vocabulary. Views point into the file that it was read from and must stay valid while the tokenizer
// is being built; the tokenizer copies what it keeps.
struct BpeVocab {
  std::vector<std::string_view> tokens;  // by id; normal tokens in the GPT-2 byte-to-unicode alphabet
  std::vector<TokenType> types;          // by id; empty: all normal
  std::vector<std::string_view> merges;  // "left right", best first
  PreTokenizer pre = PreTokenizer::kGpt2;
  bool ignore_merges = false;  // a word that is a token is taken whole, without merging
  bool nfc = false;            // text is normalised to Unicode's form C first
  bool add_bos = false;
  std::optional<TokenId> bos;
  std::vector<TokenId> stop_tokens;
};

}  // namespace tern
