#include "engine/load/tokenizers.h"

#include "base/files/file.h"
#include "model/gguf/changes.h"
#include "model/hf/tokenizer.h"
#include "model/model.h"
#include "tern/engine.h"
#include "text/tokenizer/vocab.h"
#include "text/tokenizer_files/tokenizer_json.h"
#include "text/tokenizer_files/tokenizer_model.h"

namespace tern {
namespace {

// True for a tokenizer.json: a JSON object, possibly after white space.
bool looks_like_json(Bytes bytes) {
  const size_t start =
      as_text(bytes.first(std::min<size_t>(bytes.size(), 64))).find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return start != std::string_view::npos && bytes[start] == std::byte{'{'};
}

// Prefixes the error with the file's name.
std::unexpected<Error> in_file(const std::string& path, Error error) {
  if (!error.message.starts_with(path)) error.message = path + ": " + error.message;
  return std::unexpected(std::move(error));
}

Result<std::unique_ptr<Tokenizer>> parse_tokenizer_model(Bytes bytes, const std::string& path) {
  TRY(const Vocab vocab, read_tokenizer_model(bytes, path));
  auto tokenizer = make_tokenizer(vocab);
  if (!tokenizer) return in_file(path, std::move(tokenizer).error());
  return tokenizer;
}

}  // namespace

Result<ModelText> make_model_text(Vocab vocab, std::optional<std::string> chat_template, const std::string& path) {
  ModelText text;
  const auto spelled = [&](std::optional<TokenId> id) {
    const bool exists = id && *id >= 0 && static_cast<size_t>(*id) < vocab.tokens.size();
    return exists ? std::string(vocab.tokens[static_cast<size_t>(*id)]) : std::string();
  };
  if (chat_template) {
    text.chat_template.emplace(*std::move(chat_template), spelled(vocab.bos), spelled(vocab.eos));
  }
  auto tokenizer = make_tokenizer(vocab);
  if (!tokenizer) return in_file(path, std::move(tokenizer).error());
  text.tokenizer = *std::move(tokenizer);
  if (text.chat_template) {
    auto turns = std::make_unique<TurnTokenizer>(std::move(text.tokenizer), vocab);
    text.turns = turns.get();
    text.tokenizer = std::move(turns);
  }
  return text;
}

Result<ModelText> read_model_text(const ModelSource& source, const std::string& chat_template) {
  TRY(auto text, source.read_text());
  if (!text) return ModelText();
  if (chat_template.empty()) {
    return make_model_text(std::move(text->vocab), std::move(text->chat_template), source.path());
  }
  // The user's own template: its errors are reported at once.
  TRY(auto made, make_model_text(std::move(text->vocab), chat_template, source.path()));
  if (auto good = made.chat_template->check(); !good) {
    return in_file("the given chat template", std::move(good).error());
  }
  return made;
}

Result<std::unique_ptr<Tokenizer>> make_tokenizer(const ModelSource& source) {
  TRY(auto text, read_model_text(source));
  return std::move(text.tokenizer);
}

namespace {

// In a directory, reads only the tokenizer's files: checking the shards of a model takes seconds.
Result<std::unique_ptr<Tokenizer>> load_from(const std::string& path, const MetadataChanges& changes) {
  if (is_directory(path)) {
    TRY_STATUS(refuse_changes(changes, path));
    TRY(auto text, read_directory_text(DiskFolder(path)));
    if (!text) return nullptr;
    TRY(auto made, make_model_text(std::move(text->vocab), std::move(text->chat_template), path));
    return std::move(made.tokenizer);
  }
  TRY(const auto file, open_file(path));
  const Bytes bytes = file->resident();
  const bool is_json = looks_like_json(bytes);
  if (is_json || looks_like_tokenizer_model(bytes)) TRY_STATUS(refuse_changes(changes, path));
  if (is_json) return parse_tokenizer_json(bytes, path);
  if (looks_like_tokenizer_model(bytes)) return parse_tokenizer_model(bytes, path);
  TRY(const auto source, open_source(path, {}, Access::kResident, changes));
  return make_tokenizer(*source);
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> load_tokenizer(const std::string& path, const MetadataChanges& changes) {
  std::string file_path = path;
  if (file_path.empty()) {
    TRY(file_path, default_model_path());
  }
  TRY(auto tokenizer, load_from(file_path, changes));
  if (!tokenizer) {
    return fail(ErrorCode::kNotSupported,
                "{}: the file holds no tokenizer; name another model, or a tokenizer.json or tokenizer.model",
                file_path);
  }
  return tokenizer;
}

}  // namespace tern
