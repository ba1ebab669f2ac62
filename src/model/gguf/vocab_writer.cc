#include <algorithm>
#include <deque>
#include <string>

#include "model/gguf/vocab.h"
#include "model/gguf/vocab_keys.h"
#include "text/tokenizer/sentence_piece_model.h"
#include "text/unicode/utf8.h"

namespace tern {
namespace {

// Scores with which merging by score makes the same tokens as merging in list order: a token made by an earlier merge
// gets a higher score. (The list can distinguish two ways of making one token, but scores cannot. The list is written
// too, and Tern reads that.)
std::vector<float> scores_from_merges(const Vocab& vocab) {
  std::unordered_map<std::string, size_t> first_merge;
  for (size_t rank = 0; rank < vocab.merges.size(); ++rank) {
    std::string made(vocab.merges[rank]);
    if (const size_t space = made.find(' '); space != made.npos) made.erase(space, 1);
    first_merge.emplace(std::move(made), rank);
  }
  std::vector<float> scores;
  scores.reserve(vocab.tokens.size());
  size_t rank_of_rest = vocab.merges.size();
  for (size_t i = 0; i < vocab.tokens.size(); ++i) {
    if (vocab.type(i) != TokenType::kNormal) {
      scores.push_back(0);
      continue;
    }
    const auto merge = first_merge.find(std::string(vocab.tokens[i]));
    scores.push_back(-static_cast<float>(merge != first_merge.end() ? merge->second : rank_of_rest++));
  }
  return scores;
}

void write_id(GgufWriter& writer, const char* key, std::optional<TokenId> id) {
  if (id) writer.add_u32(key, static_cast<uint32_t>(*id));
}

// Other programs call the token that ends a turn EOT if EOS ends a text.
std::optional<TokenId> end_of_turn(const Vocab& vocab) {
  for (const std::string_view spelling : {"<|eot_id|>", "<|im_end|>", "<|end|>"}) {
    for (const TokenId id : vocab.stop_tokens) {
      if (vocab.eos != id && vocab.tokens[static_cast<size_t>(id)] == spelling) return id;
    }
  }
  return std::nullopt;
}

void write_ids(const Vocab& vocab, GgufWriter& writer) {
  write_id(writer, gguf_key::kBos, vocab.bos);
  write_id(writer, gguf_key::kEos, vocab.eos);
  write_id(writer, gguf_key::kEot, end_of_turn(vocab));
  write_id(writer, gguf_key::kUnknown, vocab.unk);
  write_id(writer, gguf_key::kPadding, vocab.pad);
  writer.add_bool(gguf_key::kAddBos, vocab.add_bos);
  if (vocab.final_token) {
    writer.add_bool(gguf_key::kAddEos, true);
    if (vocab.final_token != vocab.eos) write_id(writer, gguf_key::kFinalToken, vocab.final_token);
  }
  if (vocab.stop_tokens.empty()) return;
  const std::vector<uint32_t> stops(vocab.stop_tokens.begin(), vocab.stop_tokens.end());
  writer.add_u32s(gguf_key::kStopTokens, stops);
}

// Writes tokens and their types. Unused tokens get distinct names, because llama.cpp refuses duplicates.
void write_tokens(const Vocab& vocab, size_t n, GgufWriter& writer) {
  std::deque<std::string> names;
  std::vector<std::string_view> tokens = vocab.tokens;
  std::vector<int32_t> types;
  tokens.resize(n);
  for (size_t i = 0; i < n; ++i) {
    const bool unused = i >= vocab.tokens.size() || (tokens[i].empty() && vocab.type(i) != TokenType::kNormal);
    if (unused) tokens[i] = names.emplace_back("[PAD" + std::to_string(i) + "]");
    types.push_back(static_cast<int32_t>(unused ? TokenType::kUnused : vocab.type(i)));
  }
  writer.add_strings(gguf_key::kTokens, tokens);
  writer.add_i32s(gguf_key::kTypes, types);
  if (!vocab.merges.empty() || vocab.kind == VocabKind::kByteLevel) writer.add_strings(gguf_key::kMerges, vocab.merges);
  if (std::ranges::none_of(vocab.flags, [](uint8_t bits) { return bits != 0; })) return;
  std::vector<int32_t> flags(vocab.flags.begin(), vocab.flags.end());
  flags.resize(n);
  writer.add_i32s(gguf_key::kTokenFlags, flags);
}

// Prefers a name with the vocabulary's ignore_merges, because llama.cpp has no other way to learn it.
const PreTokenizerName* name_to_write(const Vocab& vocab) {
  const auto* row = std::ranges::find_if(kPreTokenizerNames, [&](const PreTokenizerName& name) {
    return name.pre == vocab.pre && name.ignore_merges == vocab.ignore_merges;
  });
  if (row != std::end(kPreTokenizerNames)) return row;
  return std::ranges::find(kPreTokenizerNames, vocab.pre, &PreTokenizerName::pre);
}

void write_byte_level(const Vocab& vocab, GgufWriter& writer) {
  const auto* row = name_to_write(vocab);
  writer.add_string(gguf_key::kModel, "gpt2");
  writer.add_string(gguf_key::kPre, row->name);
  if (vocab.ignore_merges != row->ignore_merges) writer.add_bool(gguf_key::kIgnoreMerges, vocab.ignore_merges);
  if (vocab.nfc != row->nfc) writer.add_bool(gguf_key::kNfc, vocab.nfc);
}

void write_sentence_piece(const Vocab& vocab, size_t n, GgufWriter& writer) {
  writer.add_string(gguf_key::kModel, "llama");
  writer.add_string(gguf_key::kPre, "default");
  std::vector<float> scores = vocab.scores.empty() ? scores_from_merges(vocab) : vocab.scores;
  scores.resize(n);
  writer.add_f32s(gguf_key::kScores, scores);
  const bool prefix = vocab.space_rule != SpaceRule::kNone;
  writer.add_bool(gguf_key::kAddSpacePrefix, prefix);
  if (prefix && vocab.space_rule != SpaceRule::kEverywhere) {
    const auto* row = std::ranges::find(kSpaceRuleNames, vocab.space_rule, &SpaceRuleName::rule);
    writer.add_string(gguf_key::kSpaceRule, row->name);
  }
  if (vocab.split_at_spaces) writer.add_bool(gguf_key::kSplitAtSpaces, true);
  if (vocab.decode_strips_space != prefix) writer.add_bool(gguf_key::kStripsSpace, vocab.decode_strips_space);
}

}  // namespace

Result<void> write_gguf_vocab(const Vocab& vocab, GgufWriter& writer, size_t n_rows) {
  TRY_STATUS(check_vocab(vocab));
  const size_t n = n_rows > 0 ? n_rows : vocab.tokens.size();
  if (n < vocab.tokens.size()) {
    return fail(ErrorCode::kInvalidArgument, "the tokenizer has {} tokens, but the model's embedding has {} rows",
                vocab.tokens.size(), n);
  }
  if (vocab.kind == VocabKind::kByteLevel) {
    write_byte_level(vocab, writer);
  } else {
    write_sentence_piece(vocab, n, writer);
  }
  write_tokens(vocab, n, writer);
  write_ids(vocab, writer);
  return {};
}

}  // namespace tern
