// encode() of a SentencePiece vocabulary takes any bytes, and decode() gives them back, except for U+2581.
#include <cstdio>
#include <cstdlib>
#include <deque>

#include "text/tokenizer/sentence_piece.h"
#include "text/tokenizer/sentence_piece_model.h"

namespace {

// A vocabulary of all bytes, and of tokens over a small alphabet that overlap in many ways.
std::unique_ptr<tern::Tokenizer> make(bool split) {
  static std::deque<std::string> names;
  tern::Vocab vocab;
  vocab.kind = tern::VocabKind::kSentencePiece;
  const auto add = [&](std::string token, tern::TokenType type) {
    vocab.tokens.push_back(names.emplace_back(std::move(token)));
    vocab.types.push_back(type);
    vocab.scores.push_back(-static_cast<float>(vocab.tokens.size() % 7));
  };
  for (int byte = 0; byte < 256; ++byte) {
    char spelling[8];
    std::snprintf(spelling, sizeof spelling, "<0x%02X>", static_cast<unsigned>(byte));
    add(spelling, tern::TokenType::kByte);
  }
  for (const char* token :
       {"▁", "a", "b", "é", "ab", "ba", "▁a", "▁▁", "aa", "aba", "bé", "a▁", "▁▁▁▁", "▁ab", "abab"}) {
    add(token, tern::TokenType::kNormal);
  }
  add("<s>", tern::TokenType::kControl);
  vocab.space_rule = tern::SpaceRule::kEverywhere;
  vocab.decode_strips_space = true;
  vocab.split_at_spaces = split;
  return tern::make_tokenizer(vocab).value();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto whole = make(false);
  static const auto split = make(true);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto* tokenizer : {&whole, &split}) {
    if ((*tokenizer)->decode((*tokenizer)->encode(text)) != tern::with_plain_spaces(text)) std::abort();
    (*tokenizer)->encode(text, {.parse_special = true});
  }
  return 0;
}
