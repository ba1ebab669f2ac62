// The state of one call of encode(), which threads must not share.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer/bpe_model.h"
#include "text/tokenizer/word_cache.h"

namespace tern {

class BpeEncoder {
 public:
  // `n_bytes`: the approximate length of the text, which determines the size of the cache.
  BpeEncoder(const BpeModel& model, size_t n_bytes);

  // Appends the ids of `text`, which must stay in place as long as this object lives.
  void encode(std::string_view text, const ControlTokens& control, std::vector<TokenId>& out);

 private:
  void encode_bytes(std::string_view text, std::vector<TokenId>& out);
  void encode_valid(std::string_view text, std::vector<TokenId>& out);
  void encode_words(std::string_view text, std::vector<TokenId>& out);
  void append_word(std::string_view word, std::vector<TokenId>& out);

  const BpeModel& model_;
  WordMerger merger_;
  WordCache cache_;
  std::string_view text_;
  ControlTokens control_;
  std::vector<TokenId> word_ids_;       // scratch
  std::deque<std::string> normalized_;  // the cache points into these
};

}  // namespace tern
