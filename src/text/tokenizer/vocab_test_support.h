// A small vocabulary for tests: the 256 bytes with ids 0 to 255, and the tokens that a test adds.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "tern/tokenizer.h"
#include "text/tokenizer/bpe.h"
#include "text/tokenizer/byte_alphabet.h"

namespace tern {

class TestVocab {
 public:
  TestVocab() {
    for (int byte = 0; byte < 256; ++byte) add(spell_byte(static_cast<uint8_t>(byte)));
  }

  TokenId add(std::string spelling, TokenType type = TokenType::kNormal) {
    vocab.tokens.push_back(keep(std::move(spelling)));
    vocab.types.push_back(type);
    return static_cast<TokenId>(vocab.tokens.size() - 1);
  }

  // Adds the token that two others merge into, and the merge.
  TokenId merge(const std::string& left, const std::string& right) {
    vocab.merges.push_back(keep(left + " " + right));
    return add(left + right);
  }

  std::string_view keep(std::string text) { return strings_.emplace_back(std::move(text)); }

  std::unique_ptr<Tokenizer> make() const { return make_bpe_tokenizer(vocab).value(); }
  std::string error() const {
    const auto result = make_bpe_tokenizer(vocab);
    return result ? "no error" : result.error().message;
  }

  Vocab vocab;

 private:
  std::deque<std::string> strings_;
};

}  // namespace tern
