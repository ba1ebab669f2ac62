#include "model/gguf/vocab.h"

#include <algorithm>

#include "model/gguf/vocab_keys.h"
#include "text/chat/chat_template.h"
#include "text/jinja/join_templates.h"
#include "text/tokenizer/token_table.h"
#include "text/tokenizer_files/stop_tokens.h"

namespace tern {
namespace {

constexpr std::string_view kGemma4 = "gemma4";  // the name of Gemma 4's SentencePiece vocabulary

std::string_view architecture_of(const GgufFile& file) {
  const auto architecture = file.get_string("general.architecture");
  return architecture && *architecture ? **architecture : std::string_view();
}

bool is_bitnet(const GgufFile& file) { return architecture_of(file).starts_with("bitnet"); }

// The pre-tokenizer that the family implies if the file names none; empty: it implies none. In that case llama.cpp
// splits words by an expression of its own, which no model was trained with.
std::string_view usual_pre_tokenizer(const GgufFile& file, const Vocab& vocab) {
  const std::string_view architecture = architecture_of(file);
  if (architecture == "qwen2" || architecture == "qwen3" || architecture == "qwen3moe") return "qwen2";
  if (architecture == "qwen35" || architecture == "qwen35moe") return "qwen35";
  if (architecture == "gpt-oss") return "gpt-4o";
  const bool llama3 = find_special_token(vocab, "<|begin_of_text|>") != kNoToken;
  return architecture.starts_with("bitnet") || llama3 ? "llama-bpe" : "";
}

Result<const PreTokenizerName*> read_pre_tokenizer(const GgufFile& file, const Vocab& vocab) {
  TRY(const auto declared, file.get_string(gguf_key::kPre));
  const bool named = declared && *declared != "default";
  const std::string_view name = named ? *declared : usual_pre_tokenizer(file, vocab);
  if (name.empty()) {
    return fail(ErrorCode::kNotSupported,
                "{}: tokenizer.ggml.pre {}, so nothing says how text is cut into words; convert the model again",
                file.path(), declared ? "is \"default\"" : "is missing");
  }
  const auto* row = std::ranges::find(kPreTokenizerNames, name, &PreTokenizerName::name);
  if (row == std::end(kPreTokenizerNames)) {
    return fail(ErrorCode::kNotSupported, "{}: tokenizer.ggml.pre is \"{}\", a pre-tokenizer that Tern does not know",
                file.path(), name);
  }
  return row;
}

Result<TokenId> check_token_id(const GgufFile& file, std::string_view key, int64_t id, size_t n_tokens) {
  if (id >= 0 && static_cast<uint64_t>(id) < n_tokens) return static_cast<TokenId>(id);
  return fail(ErrorCode::kCorruption, "{}: {} is {}, but the vocabulary has {} tokens", file.path(), key, id, n_tokens);
}

Result<std::optional<TokenId>> read_token_id(const GgufFile& file, std::string_view key, size_t n_tokens) {
  TRY(const auto id, file.get_int(key));
  if (!id) return std::nullopt;
  TRY(const TokenId known, check_token_id(file, key, *id, n_tokens));
  return known;
}

Result<std::optional<TokenId>> read_unknown(const GgufFile& file, size_t n_tokens) {
  TRY(const auto unknown, read_token_id(file, gguf_key::kUnknown, n_tokens));
  TRY(const auto unk, read_token_id(file, gguf_key::kUnk, n_tokens));
  if (!unknown || !unk || unknown == unk) return unknown ? unknown : unk;
  return fail(ErrorCode::kNotSupported, "{}: {} is {}, but {} is {}; only one of them can be right", file.path(),
              gguf_key::kUnk, *unk, gguf_key::kUnknown, *unknown);
}

Result<void> read_types(const GgufFile& file, Vocab& vocab) {
  TRY(const auto types, file.get_ints(gguf_key::kTypes));
  if (!types) return {};
  if (types->size() != vocab.tokens.size()) {
    return fail(ErrorCode::kCorruption, "{}: tokenizer.ggml.token_type has {} entries for {} tokens", file.path(),
                types->size(), vocab.tokens.size());
  }
  for (const int64_t type : *types) {
    if (type < 1 || type > 6) {
      return fail(ErrorCode::kCorruption, "{}: tokenizer.ggml.token_type holds {}, outside 1 to 6", file.path(), type);
    }
    vocab.types.push_back(static_cast<TokenType>(type));
  }
  return {};
}

Result<void> read_flags(const GgufFile& file, Vocab& vocab) {
  TRY(const auto flags, file.get_ints(gguf_key::kTokenFlags));
  if (!flags) return {};
  if (flags->size() != vocab.tokens.size()) {
    return fail(ErrorCode::kCorruption, "{}: {} has {} entries for {} tokens", file.path(), gguf_key::kTokenFlags,
                flags->size(), vocab.tokens.size());
  }
  for (const int64_t bits : *flags) vocab.flags.push_back(static_cast<uint8_t>(bits));
  return {};
}

// Uses SentencePiece's default ids where the file names none.
void use_usual_ids(Vocab& vocab) {
  const auto otherwise = [&](std::optional<TokenId>& id, TokenId usual, std::string_view spelling) {
    if (!id && vocab.tokens.size() > static_cast<size_t>(usual) && vocab.tokens[static_cast<size_t>(usual)] == spelling)
      id = usual;
  };
  otherwise(vocab.unk, 0, "<unk>");
  otherwise(vocab.bos, 1, "<s>");
  otherwise(vocab.eos, 2, "</s>");
}

Result<void> read_ids(const GgufFile& file, bool add_bos, Vocab& vocab) {
  const size_t n = vocab.tokens.size();
  TRY(vocab.bos, read_token_id(file, gguf_key::kBos, n));
  TRY(vocab.eos, read_token_id(file, gguf_key::kEos, n));
  TRY(vocab.unk, read_unknown(file, n));
  TRY(vocab.pad, read_token_id(file, gguf_key::kPadding, n));
  if (vocab.kind == VocabKind::kSentencePiece) use_usual_ids(vocab);
  TRY(const auto declared, file.get_bool(gguf_key::kAddBos));
  vocab.add_bos = vocab.bos && declared.value_or(add_bos);
  TRY(const auto add_eos, file.get_bool(gguf_key::kAddEos));
  if (add_eos.value_or(false)) vocab.final_token = vocab.eos;
  TRY(const auto final_token, read_token_id(file, gguf_key::kFinalToken, n));
  if (final_token) vocab.final_token = final_token;
  return {};
}

// Old versions of llama.cpp's converter marked control tokens of Phi-3 as user-defined. </s> is excluded: in Gemma's
// vocabulary it is HTML.
void restore_control_tokens(Vocab& vocab) {
  for (size_t i = 0; i < vocab.types.size(); ++i) {
    const std::string_view token = vocab.tokens[i];
    const bool is_control = ends_a_turn(token) && token != "</s>";
    if (is_control && vocab.types[i] == TokenType::kUserDefined) vocab.types[i] = TokenType::kControl;
  }
}

// In Gemma 4's files, tokens that end a reply, or bytes, may count as text, and "</s>", which is HTML there, as a
// control token.
void restore_gemma4_types(Vocab& vocab) {
  vocab.types.resize(vocab.tokens.size(), TokenType::kNormal);
  for (size_t i = 0; i < vocab.tokens.size(); ++i) {
    const std::string_view token = vocab.tokens[i];
    if (token == "</s>") vocab.types[i] = TokenType::kUserDefined;
    if (token.size() == 6 && token.starts_with("<0x") && token.ends_with('>')) vocab.types[i] = TokenType::kByte;
    if (token != "<eos>" && token != "<turn|>" && token != "<|tool_response>") continue;
    vocab.types[i] = TokenType::kControl;
    add_stop_token(vocab, static_cast<TokenId>(i));
  }
}

Result<void> read_stop_tokens(const GgufFile& file, Vocab& vocab) {
  for (const auto* key : {gguf_key::kEot, gguf_key::kEom}) {
    TRY(const auto id, read_token_id(file, key, vocab.tokens.size()));
    if (id) add_stop_token(vocab, *id);
  }
  for (const auto* key : {gguf_key::kEosIds, gguf_key::kEogIds}) {
    TRY(const auto ids, file.get_ints(key));
    for (const int64_t id : ids.value_or(std::vector<int64_t>())) {
      TRY(const TokenId known, check_token_id(file, key, id, vocab.tokens.size()));
      add_stop_token(vocab, known);
    }
  }
  TRY(const auto more, file.get_ints(gguf_key::kStopTokens));
  for (const int64_t id : more.value_or(std::vector<int64_t>())) {
    if (id >= 0 && static_cast<uint64_t>(id) < vocab.tokens.size()) add_stop_token(vocab, static_cast<TokenId>(id));
  }
  add_known_stop_tokens(vocab);
  return {};
}

Result<void> read_byte_level(const GgufFile& file, Vocab& vocab) {
  TRY(const PreTokenizerName* pre, read_pre_tokenizer(file, vocab));
  vocab.pre = pre->pre;
  TRY(const auto ignore_merges, file.get_bool(gguf_key::kIgnoreMerges));
  TRY(const auto nfc, file.get_bool(gguf_key::kNfc));
  vocab.ignore_merges = ignore_merges.value_or(pre->ignore_merges);
  vocab.nfc = nfc.value_or(pre->nfc);
  TRY_STATUS(read_ids(file, pre->add_bos, vocab));
  return {};
}

// In Phi-3's tokenizer.json all control tokens but three strip the white space after them (the line break of
// "<|user|>\n" gives no token). Files made by llama.cpp lost that. They are recognized by Phi-3's turn tokens.
void restore_phi3_flags(Vocab& vocab) {
  for (const std::string_view turn : {"<|user|>", "<|assistant|>", "<|end|>"}) {
    if (find_special_token(vocab, turn) == kNoToken) return;
  }
  vocab.flags.resize(vocab.tokens.size());
  for (size_t i = 0; i < vocab.tokens.size(); ++i) {
    const bool special = vocab.type(i) == TokenType::kControl || vocab.type(i) == TokenType::kUserDefined;
    const std::string_view token = vocab.tokens[i];
    if (special && (token == "</s>" || (token.starts_with("<|") && token != "<|endoftext|>")))
      vocab.flags[i] = kTokenRstrip;
  }
}

// Refuses SentencePiece's text normalizers, which no model of Tern's families uses.
Result<void> refuse_normalizers(const GgufFile& file) {
  TRY(const auto removes, file.get_bool(gguf_key::kRemoveExtraSpaces));
  TRY(const auto charsmap, file.get_ints(gguf_key::kCharsmap));
  if (!removes.value_or(false) && (!charsmap || charsmap->empty())) return {};
  return fail(ErrorCode::kNotSupported, "{}: {}: this tokenizer changes texts in a way that Tern does not know",
              file.path(), removes.value_or(false) ? gguf_key::kRemoveExtraSpaces : gguf_key::kCharsmap);
}

Result<void> read_sentence_piece(const GgufFile& file, std::string_view model, Vocab& vocab) {
  TRY_STATUS(refuse_normalizers(file));
  if (vocab.merges.empty()) {
    TRY(auto scores, file.get_floats(gguf_key::kScores));
    if (!scores) {
      return fail(ErrorCode::kCorruption, "{}: {} is missing, so the tokenizer is incomplete; convert the model again",
                  file.path(), gguf_key::kScores);
    }
    vocab.scores = std::move(*scores);
  }
  TRY_STATUS(read_ids(file, true, vocab));
  TRY(const auto prefix, file.get_bool(gguf_key::kAddSpacePrefix));
  const bool adds_space = prefix.value_or(model != kGemma4);
  vocab.space_rule = adds_space ? SpaceRule::kEverywhere : SpaceRule::kNone;
  vocab.decode_strips_space = adds_space;
  TRY(const auto rule, file.get_string(gguf_key::kSpaceRule));
  if (rule) {
    const auto* row = std::ranges::find(kSpaceRuleNames, *rule, &SpaceRuleName::name);
    if (row == std::end(kSpaceRuleNames)) {
      return fail(ErrorCode::kNotSupported, "{}: {} is \"{}\", which Tern does not know", file.path(),
                  gguf_key::kSpaceRule, *rule);
    }
    vocab.space_rule = row->rule;
  }
  TRY(const auto split, file.get_bool(gguf_key::kSplitAtSpaces));
  TRY(const auto strips, file.get_bool(gguf_key::kStripsSpace));
  vocab.split_at_spaces = split.value_or(false);
  vocab.decode_strips_space = strips.value_or(vocab.decode_strips_space);
  if (vocab.flags.empty()) restore_phi3_flags(vocab);
  return {};
}

}  // namespace

Result<std::optional<Vocab>> read_gguf_vocab(const GgufFile& file) {
  TRY(const auto model, file.get_string(gguf_key::kModel));
  if (!model || *model == "no_vocab" || *model == "none") return std::nullopt;
  if (*model != "gpt2" && *model != "llama" && *model != kGemma4) {
    return fail(
        ErrorCode::kNotSupported,
        "{}: tokenizer.ggml.model is \"{}\"; Tern reads byte-level BPE (\"gpt2\") and SentencePiece (\"llama\", "
        "\"gemma4\")",
        file.path(), *model);
  }
  Vocab vocab;
  vocab.kind = *model == "gpt2" ? VocabKind::kByteLevel : VocabKind::kSentencePiece;
  TRY(auto tokens, file.get_strings(gguf_key::kTokens));
  TRY(auto merges, file.get_strings(gguf_key::kMerges));
  if (!tokens || (!merges && *model != "llama")) {
    return fail(ErrorCode::kCorruption, "{}: {} is missing, so the tokenizer is incomplete; convert the model again",
                file.path(), tokens ? gguf_key::kMerges : gguf_key::kTokens);
  }
  vocab.tokens = std::move(*tokens);
  if (merges) vocab.merges = std::move(*merges);
  TRY_STATUS(read_types(file, vocab));
  TRY(const auto own_stop_tokens, file.get_ints(gguf_key::kStopTokens));
  if (!own_stop_tokens) restore_control_tokens(vocab);  // else Tern wrote the types, which match the model's files
  if (!own_stop_tokens && *model == kGemma4) restore_gemma4_types(vocab);
  TRY_STATUS(read_flags(file, vocab));
  TRY_STATUS(vocab.kind == VocabKind::kByteLevel ? read_byte_level(file, vocab)
                                                 : read_sentence_piece(file, *model, vocab));
  TRY_STATUS(read_stop_tokens(file, vocab));
  return vocab;
}

Result<std::optional<std::string>> read_gguf_chat_template(const GgufFile& file) {
  TRY(const auto source, file.get_string("tokenizer.chat_template"));
  TRY(const auto with_tools, file.get_string("tokenizer.chat_template.tool_use"));
  if (with_tools) return join_chat_templates(*with_tools, source.value_or(*with_tools));
  if (!source) return std::nullopt;
  if (is_bitnet(file) && is_placeholder_chat_template(*source)) return std::string(bitnet_chat_template());
  return std::string(*source);
}

}  // namespace tern
