#include "server/api/replies/fill_in.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>

namespace tern::server {
namespace {

struct Marks {
  TokenId prefix, suffix, middle;
};

// The spellings in published vocabularies: Qwen's; StarCoder's and Granite's; DeepSeek's; Codestral's.
std::optional<Marks> find_marks(const Tokenizer& tokenizer) {
  constexpr std::array<std::array<std::string_view, 3>, 4> kSpellings = {
      {{"<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"},
       {"<fim_prefix>", "<fim_suffix>", "<fim_middle>"},
       {"<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"},
       {"[PREFIX]", "[SUFFIX]", "[MIDDLE]"}}};
  for (const auto& spelling : kSpellings) {
    const auto prefix = tokenizer.find(spelling[0]), suffix = tokenizer.find(spelling[1]);
    const auto middle = tokenizer.find(spelling[2]);
    if (prefix && suffix && middle) return Marks{*prefix, *suffix, *middle};
  }
  return std::nullopt;
}

}  // namespace

bool can_fill_in(const Tokenizer& tokenizer) { return find_marks(tokenizer).has_value(); }

ApiResult<std::vector<TokenId>> fill_in_prompt(const Tokenizer& tokenizer, const std::string& prefix,
                                               const std::string& suffix, const std::string& param) {
  const std::optional<Marks> marks = find_marks(tokenizer);
  if (!marks) {
    return refuse(param + ": the model's vocabulary has no tokens for filling in text", param, "not_supported");
  }
  std::vector<TokenId> tokens = tokenizer.encode("");  // the beginning of a text
  const auto add = [&](TokenId mark, const std::string& text) {
    tokens.push_back(mark);
    std::ranges::copy(tokenizer.encode(text, {.add_bos = false}), std::back_inserter(tokens));
  };
  add(marks->prefix, prefix);
  add(marks->suffix, suffix);
  tokens.push_back(marks->middle);
  return tokens;
}

}  // namespace tern::server
