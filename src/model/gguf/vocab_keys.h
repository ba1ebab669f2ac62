// GGUF's names for the parts of a tokenizer, for reading and writing.
#pragma once

#include <optional>
#include <string_view>

#include "text/tokenizer/vocab.h"

namespace tern {

// The meaning of a name in tokenizer.ggml.pre.
struct PreTokenizerName {
  std::string_view name;
  PreTokenizer pre;
  bool ignore_merges;
  bool add_bos;  // default if tokenizer.ggml.add_bos_token is absent
  bool nfc;      // text is normalized first, as in the model's tokenizer.json
};
// The names in files of Tern's families, with their meaning in llama.cpp; falcon_e, which it does not know, with that
// in ik_llama.cpp. The first name of each kind is the one that is written.
inline constexpr PreTokenizerName kPreTokenizerNames[] = {
    {"llama-bpe", PreTokenizer::kLlamaBpe, true, true, false},
    {"llama3", PreTokenizer::kLlamaBpe, true, true, false},
    {"llama-v3", PreTokenizer::kLlamaBpe, true, true, false},
    {"falcon3", PreTokenizer::kLlamaBpe, true, true, false},
    {"falcon_e", PreTokenizer::kLlamaBpe, true, true, false},
    {"falcon-e", PreTokenizer::kLlamaBpe, true, true, false},
    {"smaug-bpe", PreTokenizer::kLlamaBpe, false, false, false},  // Llama 3 without ignore_merges
    {"dbrx", PreTokenizer::kLlamaBpe, false, false, false},       // Phi-4
    {"qwen2", PreTokenizer::kQwen2, false, false, true},
    {"deepseek-r1-qwen", PreTokenizer::kQwen2, false, false, true},  // DeepSeek's distilled Qwen, which has a BOS
    {"qwen35", PreTokenizer::kQwen35, false, false, true},
    {"gpt-2", PreTokenizer::kGpt2, false, false, false},
    {"smollm", PreTokenizer::kSmolLm, false, false, false},
    {"tekken", PreTokenizer::kTekken, true, true, false},   // Mistral's Nemo, with the Llama architecture
    {"gpt-4o", PreTokenizer::kGpt4o, false, false, false},  // Phi-4-mini
    {"hunyuan-dense", PreTokenizer::kHunyuan, false, false, false},
};

struct SpaceRuleName {
  std::string_view name;
  SpaceRule rule;
};
inline constexpr SpaceRuleName kSpaceRuleNames[] = {{"none", SpaceRule::kNone},
                                                    {"everywhere", SpaceRule::kEverywhere},
                                                    {"where-missing", SpaceRule::kWhereMissing},
                                                    {"first-if-missing", SpaceRule::kFirstIfMissing}};

namespace gguf_key {
inline constexpr const char* kModel = "tokenizer.ggml.model";
inline constexpr const char* kPre = "tokenizer.ggml.pre";
inline constexpr const char* kTokens = "tokenizer.ggml.tokens";
inline constexpr const char* kScores = "tokenizer.ggml.scores";
inline constexpr const char* kTypes = "tokenizer.ggml.token_type";
inline constexpr const char* kMerges = "tokenizer.ggml.merges";
inline constexpr const char* kBos = "tokenizer.ggml.bos_token_id";
inline constexpr const char* kEos = "tokenizer.ggml.eos_token_id";
inline constexpr const char* kEot = "tokenizer.ggml.eot_token_id";
inline constexpr const char* kEom = "tokenizer.ggml.eom_token_id";
inline constexpr const char* kEosIds = "tokenizer.ggml.eos_token_ids";
inline constexpr const char* kEogIds = "tokenizer.ggml.eog_token_ids";  // tokens that end a reply
inline constexpr const char* kUnknown = "tokenizer.ggml.unknown_token_id";
inline constexpr const char* kUnk = "tokenizer.ggml.unk_token_id";  // the same in some programs
inline constexpr const char* kPadding = "tokenizer.ggml.padding_token_id";
inline constexpr const char* kAddBos = "tokenizer.ggml.add_bos_token";
inline constexpr const char* kAddEos = "tokenizer.ggml.add_eos_token";
inline constexpr const char* kAddSpacePrefix = "tokenizer.ggml.add_space_prefix";
inline constexpr const char* kRemoveExtraSpaces = "tokenizer.ggml.remove_extra_whitespaces";
inline constexpr const char* kCharsmap = "tokenizer.ggml.precompiled_charsmap";
// Tern's own keys.
inline constexpr const char* kIgnoreMerges = "tern.tokenizer.ignore_merges";
inline constexpr const char* kNfc = "tern.tokenizer.nfc";
inline constexpr const char* kSpaceRule = "tern.tokenizer.space_rule";
inline constexpr const char* kSplitAtSpaces = "tern.tokenizer.split_at_spaces";
inline constexpr const char* kStripsSpace = "tern.tokenizer.decode_strips_space";
inline constexpr const char* kTokenFlags = "tern.tokenizer.token_flags";  // u8 by id: the bits of TokenFlag
inline constexpr const char* kStopTokens = "tern.tokenizer.stop_token_ids";
inline constexpr const char* kFinalToken = "tern.tokenizer.final_token_id";
}  // namespace gguf_key

}  // namespace tern
