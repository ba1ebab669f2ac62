// The tables of a byte-level BPE tokenizer, checked and ready for use. Immutable, so threads may share them.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "text/tokenizer/merge_table.h"
#include "text/tokenizer/pre_tokenizer.h"
#include "text/tokenizer/special_tokens.h"
#include "text/tokenizer/token_table.h"
#include "text/tokenizer/vocab.h"

namespace tern {

struct BpeModel {
  BpeModel(size_t n_tokens, size_t n_merges, WordSplitter word_splitter)
      : tokens(n_tokens), merges(n_merges), splitter(std::move(word_splitter)) {}
  BpeModel(const BpeModel&) = delete;  // views point into it
  BpeModel& operator=(const BpeModel&) = delete;

  // The bytes of every token. Only tokens that words consist of can be found by their bytes: normal tokens in the byte
  // alphabet. So text can never turn into a control token, neither by merging nor by a whole-word match.
  TokenTable tokens;
  MergeTable merges;
  std::array<TokenId, 256> byte_ids{};
  std::unordered_map<std::string_view, TokenId> other_tokens;  // all others, by spelling
  SpecialTokens special;                                       // searched for in the original text
  SpecialTokens normalized_special;                            // searched for in the rest after normalization
  std::deque<std::string> normalized_spellings;                // of normalized_special
  WordSplitter splitter;
  std::vector<bool> is_control;  // by id
  bool ignore_merges = false;
  bool nfc = false;
  bool add_bos = false;
  std::optional<TokenId> bos, final_token;
  std::vector<TokenId> stop_tokens;
};

// kCorruption, naming the token or merge: the vocabulary contradicts itself.
Result<std::unique_ptr<BpeModel>> build_bpe_model(const Vocab& vocab);

}  // namespace tern
