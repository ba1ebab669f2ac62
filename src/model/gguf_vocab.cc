#include "model/gguf_vocab.h"

#include <algorithm>

#include "text/chat_template.h"

namespace tern {
namespace {

struct PreTokenizerName {
  std::string_view name;  // tokenizer.ggml.pre
  PreTokenizer pre;
  bool ignore_merges;
  bool add_bos;  // where tokenizer.ggml.add_bos_token is absent
  bool nfc;      // text is normalised first, as the model's tokenizer.json says
};
constexpr PreTokenizerName kPreTokenizers[] = {
    {"llama-bpe", PreTokenizer::kLlamaBpe, true, true, false}, {"llama3", PreTokenizer::kLlamaBpe, true, true, false},
    {"llama-v3", PreTokenizer::kLlamaBpe, true, true, false},  {"falcon3", PreTokenizer::kLlamaBpe, true, true, false},
    {"qwen2", PreTokenizer::kQwen2, false, false, true},       {"gpt-2", PreTokenizer::kGpt2, false, false, false},
};

bool is_bitnet(const GgufFile& file) {
  const auto architecture = file.get_string("general.architecture");
  return architecture && *architecture && (*architecture)->starts_with("bitnet");
}

Result<const PreTokenizerName*> read_pre_tokenizer(const GgufFile& file) {
  TRY(const auto declared, file.get_string("tokenizer.ggml.pre"));
  const std::string_view name = declared && *declared != "default" ? *declared
                                : is_bitnet(file)                  ? "llama-bpe"
                                                                   : "gpt-2";
  const auto* row = std::ranges::find(kPreTokenizers, name, &PreTokenizerName::name);
  if (row == std::end(kPreTokenizers)) {
    return fail(ErrorCode::kNotSupported, "{}: tokenizer.ggml.pre is \"{}\", a pre-tokenizer that Tern does not know",
                file.path(), name);
  }
  return row;
}

Result<std::optional<TokenId>> read_token_id(const GgufFile& file, std::string_view key, size_t n_tokens) {
  TRY(const auto id, file.get_int(key));
  if (!id) return std::nullopt;
  if (*id < 0 || static_cast<uint64_t>(*id) >= n_tokens) {
    return fail(ErrorCode::kCorruption, "{}: {} is {}, but the vocabulary has {} tokens", file.path(), key, *id,
                n_tokens);
  }
  return static_cast<TokenId>(*id);
}

Result<void> read_types(const GgufFile& file, BpeVocab& vocab) {
  TRY(const auto types, file.get_ints("tokenizer.ggml.token_type"));
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

Result<void> read_stop_tokens(const GgufFile& file, BpeVocab& vocab) {
  for (const auto* key :
       {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
    TRY(const auto id, read_token_id(file, key, vocab.tokens.size()));
    if (id) vocab.stop_tokens.push_back(*id);
  }
  const auto eot = std::ranges::find(vocab.tokens, "<|eot_id|>");
  if (eot != vocab.tokens.end()) vocab.stop_tokens.push_back(static_cast<TokenId>(eot - vocab.tokens.begin()));
  std::ranges::sort(vocab.stop_tokens);
  vocab.stop_tokens.erase(std::ranges::unique(vocab.stop_tokens).begin(), vocab.stop_tokens.end());
  return {};
}

}  // namespace

Result<std::optional<BpeVocab>> read_gguf_vocab(const GgufFile& file) {
  TRY(const auto model, file.get_string("tokenizer.ggml.model"));
  if (!model || *model == "no_vocab" || *model == "none") return std::nullopt;
  if (*model != "gpt2") {
    return fail(ErrorCode::kNotSupported, "{}: tokenizer.ggml.model is \"{}\"; Tern reads byte-level BPE (\"gpt2\")",
                file.path(), *model);
  }
  BpeVocab vocab;
  TRY(auto tokens, file.get_strings("tokenizer.ggml.tokens"));
  TRY(auto merges, file.get_strings("tokenizer.ggml.merges"));
  if (!tokens || !merges) {
    return fail(ErrorCode::kCorruption, "{}: {} is missing, so the tokenizer is incomplete; convert the model again",
                file.path(), tokens ? "tokenizer.ggml.merges" : "tokenizer.ggml.tokens");
  }
  vocab.tokens = std::move(*tokens);
  vocab.merges = std::move(*merges);
  TRY_STATUS(read_types(file, vocab));
  TRY(const PreTokenizerName* pre, read_pre_tokenizer(file));
  vocab.pre = pre->pre;
  vocab.ignore_merges = pre->ignore_merges;
  vocab.nfc = pre->nfc;
  TRY(vocab.bos, read_token_id(file, "tokenizer.ggml.bos_token_id", vocab.tokens.size()));
  TRY(const auto add_bos, file.get_bool("tokenizer.ggml.add_bos_token"));
  vocab.add_bos = vocab.bos && add_bos.value_or(pre->add_bos);
  TRY_STATUS(read_stop_tokens(file, vocab));
  return vocab;
}

Result<std::optional<std::string>> read_gguf_chat_template(const GgufFile& file) {
  TRY(const auto source, file.get_string("tokenizer.chat_template"));
  if (!source) return std::nullopt;
  if (is_bitnet(file) && is_placeholder_chat_template(*source)) return std::string(bitnet_chat_template());
  return std::string(*source);
}

}  // namespace tern
