#include "model/hf/tokenizer.h"

#include "base/file.h"
#include "text/stop_tokens.h"
#include "text/tokenizer_config.h"
#include "text/tokenizer_json.h"
#include "text/tokenizer_model.h"

namespace tern {
namespace {

constexpr uintmax_t kMaxTemplate = 1 << 20;  // far more than is accepted; see template_guard.h

Result<Vocab> read_vocab(const std::string& directory) {
  const std::string json = directory + "/tokenizer.json";
  if (is_file(json)) {
    TRY(const auto file, open_file(json));
    return read_tokenizer_json(file->resident(), json);
  }
  const std::string model = directory + "/tokenizer.model";
  if (!is_file(model)) {
    return fail(ErrorCode::kNotFound, "{}: neither a tokenizer.json nor a tokenizer.model; download one of them",
                directory);
  }
  TRY(const auto file, open_file(model));
  return read_tokenizer_model(file->resident(), model);
}

// What generation_config.json says comes before what config.json does.
Result<void> add_declared_stop_tokens(const std::string& directory, Vocab& vocab) {
  for (const char* name : {"/generation_config.json", "/config.json"}) {
    const std::string path = directory + name;
    if (!is_file(path)) continue;
    TRY(const auto file, open_file(path));
    TRY(const auto ids, read_eos_token_ids(file->resident(), path));
    for (const TokenId id : ids) add_stop_token(vocab, id);
    if (!vocab.eos && !ids.empty() && static_cast<size_t>(ids[0]) < vocab.tokens.size()) vocab.eos = ids[0];
    if (!ids.empty()) break;
  }
  return {};
}

Result<void> read_config(const std::string& directory, HfTokenizer& tokenizer) {
  const std::string path = directory + "/tokenizer_config.json";
  if (!is_file(path)) return {};
  TRY(const auto file, open_file(path));
  TRY(TokenizerConfig config, read_tokenizer_config(file->resident(), path));
  // A tokenizer.json is complete, and where the two differ it is what counts.
  if (is_file(directory + "/tokenizer.json")) config.added_tokens.clear();
  TRY_STATUS(apply_tokenizer_config(config, tokenizer.vocab, path));
  tokenizer.chat_template = std::move(config.chat_template);
  tokenizer.bos = config.bos.value_or("");
  tokenizer.eos = config.eos.value_or("");
  return {};
}

Result<void> read_template_file(const std::string& directory, HfTokenizer& tokenizer) {
  const std::string path = directory + "/chat_template.jinja";
  if (!is_file(path)) return {};
  TRY(const auto file, open_file(path));
  if (file->resident().size() > kMaxTemplate) {
    return fail(ErrorCode::kNotSupported, "{}: {} bytes, too many for a chat template", path, file->resident().size());
  }
  tokenizer.chat_template = std::string(as_text(file->resident()));
  return {};
}

}  // namespace

Result<HfTokenizer> read_hf_tokenizer(const std::string& directory) {
  HfTokenizer tokenizer;
  TRY(tokenizer.vocab, read_vocab(directory));
  TRY_STATUS(read_config(directory, tokenizer));
  TRY_STATUS(add_declared_stop_tokens(directory, tokenizer.vocab));
  TRY_STATUS(read_template_file(directory, tokenizer));
  const auto spelled = [&](std::optional<TokenId> id) {
    return id ? std::string(tokenizer.vocab.tokens[static_cast<size_t>(*id)]) : std::string();
  };
  TRY_STATUS(check_vocab(tokenizer.vocab));
  if (tokenizer.bos.empty()) tokenizer.bos = spelled(tokenizer.vocab.bos);
  if (tokenizer.eos.empty()) tokenizer.eos = spelled(tokenizer.vocab.eos);
  return tokenizer;
}

Result<std::optional<SourceText>> read_directory_text(const std::string& directory) {
  auto found = read_hf_tokenizer(directory);
  if (!found && found.error().code == ErrorCode::kNotFound) return std::nullopt;
  if (!found) return std::unexpected(std::move(found).error());
  return SourceText{.vocab = std::move(found->vocab), .chat_template = std::move(found->chat_template)};
}

}  // namespace tern
