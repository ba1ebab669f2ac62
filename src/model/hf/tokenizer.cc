#include "model/hf/tokenizer.h"

#include "text/tokenizer_files/stop_tokens.h"
#include "text/tokenizer_files/tokenizer_config.h"
#include "text/tokenizer_files/tokenizer_json.h"
#include "text/tokenizer_files/tokenizer_model.h"

namespace tern {
namespace {

constexpr std::string_view kTokenizerJson = "tokenizer.json";
constexpr std::string_view kTokenizerModel = "tokenizer.model";
constexpr std::string_view kTokenizerConfig = "tokenizer_config.json";
constexpr std::string_view kTemplateFile = "chat_template.jinja";
constexpr uintmax_t kMaxTemplate = 1 << 20;  // far above the limit in text/chat/chat_template.cc

Result<Vocab> read_vocab(const Folder& folder) {
  if (folder.has(kTokenizerJson)) {
    TRY(const auto file, folder.open(kTokenizerJson));
    return read_tokenizer_json(file->resident(), file->path());
  }
  if (!folder.has(kTokenizerModel)) {
    return fail(ErrorCode::kNotFound, "{}: neither a {} nor a {}; download one of them", folder.path(), kTokenizerJson,
                kTokenizerModel);
  }
  TRY(const auto file, folder.open(kTokenizerModel));
  return read_tokenizer_model(file->resident(), file->path());
}

// generation_config.json has precedence over config.json.
Result<void> add_declared_stop_tokens(const Folder& folder, Vocab& vocab) {
  for (const char* name : {"generation_config.json", "config.json"}) {
    if (!folder.has(name)) continue;
    TRY(const auto file, folder.open(name));
    TRY(const auto ids, read_eos_token_ids(file->resident(), file->path()));
    for (const TokenId id : ids) add_stop_token(vocab, id);
    if (!vocab.eos && !ids.empty() && static_cast<size_t>(ids[0]) < vocab.tokens.size()) vocab.eos = ids[0];
    if (!ids.empty()) break;
  }
  return {};
}

Result<void> read_config(const Folder& folder, HfTokenizer& tokenizer) {
  if (!folder.has(kTokenizerConfig)) return {};
  TRY(const auto file, folder.open(kTokenizerConfig));
  TRY(TokenizerConfig config, read_tokenizer_config(file->resident(), file->path()));
  // tokenizer.json is complete, and it counts if the two differ.
  if (folder.has(kTokenizerJson)) config.added_tokens.clear();
  TRY_STATUS(apply_tokenizer_config(config, tokenizer.vocab, file->path()));
  tokenizer.chat_template = std::move(config.chat_template);
  tokenizer.bos = config.bos.value_or("");
  tokenizer.eos = config.eos.value_or("");
  return {};
}

Result<void> read_template_file(const Folder& folder, HfTokenizer& tokenizer) {
  if (!folder.has(kTemplateFile)) return {};
  TRY(const auto file, folder.open(kTemplateFile));
  if (file->size() > kMaxTemplate) {
    return fail(ErrorCode::kNotSupported, "{}: {} bytes, too many for a chat template", file->path(), file->size());
  }
  tokenizer.chat_template = std::string(as_text(file->resident()));
  return {};
}

}  // namespace

Result<HfTokenizer> read_hf_tokenizer(const Folder& folder) {
  HfTokenizer tokenizer;
  TRY(tokenizer.vocab, read_vocab(folder));
  TRY_STATUS(read_config(folder, tokenizer));
  TRY_STATUS(add_declared_stop_tokens(folder, tokenizer.vocab));
  TRY_STATUS(read_template_file(folder, tokenizer));
  const auto spelled = [&](std::optional<TokenId> id) {
    return id ? std::string(tokenizer.vocab.tokens[static_cast<size_t>(*id)]) : std::string();
  };
  TRY_STATUS(check_vocab(tokenizer.vocab));
  if (tokenizer.bos.empty()) tokenizer.bos = spelled(tokenizer.vocab.bos);
  if (tokenizer.eos.empty()) tokenizer.eos = spelled(tokenizer.vocab.eos);
  return tokenizer;
}

Result<std::optional<SourceText>> read_directory_text(const Folder& folder) {
  auto found = read_hf_tokenizer(folder);
  if (!found && found.error().code == ErrorCode::kNotFound) return std::nullopt;
  if (!found) return std::unexpected(std::move(found).error());
  return SourceText{.vocab = std::move(found->vocab), .chat_template = std::move(found->chat_template)};
}

}  // namespace tern
