#include "engine/tokenizers.h"

#include "base/mapped_file.h"
#include "model/gguf_vocab.h"
#include "tern/engine.h"
#include "text/bpe.h"
#include "text/tokenizer_json.h"

namespace tern {
namespace {

// A tokenizer.json is a JSON object; white space may come first.
bool looks_like_json(Bytes bytes) {
  const size_t start =
      as_text(bytes.first(std::min<size_t>(bytes.size(), 64))).find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return start != std::string_view::npos && bytes[start] == std::byte{'{'};
}

// The error with the file's name before it.
std::unexpected<Error> in_file(const std::string& path, Error error) {
  if (!error.message.starts_with(path)) error.message = path + ": " + error.message;
  return std::unexpected(std::move(error));
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> make_tokenizer(const GgufFile& file) {
  TRY(const auto vocab, read_gguf_vocab(file));
  if (!vocab) return nullptr;
  auto tokenizer = make_bpe_tokenizer(*vocab);
  if (!tokenizer) return in_file(file.path(), std::move(tokenizer).error());
  return tokenizer;
}

Result<std::optional<ChatTemplate>> make_chat_template(const GgufFile& file, const Tokenizer& tokenizer) {
  TRY(auto source, read_gguf_chat_template(file));
  if (!source) return std::nullopt;
  const auto spelled = [&](std::optional<TokenId> id) {
    return id ? std::string(tokenizer.piece(*id, true)) : std::string();
  };
  TRY(const auto eos, file.get_int("tokenizer.ggml.eos_token_id"));
  const std::string eos_text = spelled(eos ? std::optional(static_cast<TokenId>(*eos)) : std::nullopt);
  auto parsed = ChatTemplate::parse(std::move(*source), spelled(tokenizer.bos()), eos_text);
  if (!parsed) return in_file(file.path(), std::move(parsed).error());
  return std::move(*parsed);
}

Result<std::unique_ptr<Tokenizer>> load_tokenizer(const std::string& path) {
  std::string file_path = path;
  if (file_path.empty()) {
    TRY(file_path, default_model_path());
  }
  TRY(const auto mapped, MappedFile::open(file_path));
  if (looks_like_json(mapped.bytes())) return parse_tokenizer_json(mapped.bytes(), file_path);
  TRY(const auto file, GgufFile::open(file_path));
  TRY(auto tokenizer, make_tokenizer(file));
  if (!tokenizer) {
    return fail(ErrorCode::kNotSupported, "{}: the file holds no tokenizer; name another with -m, or a tokenizer.json",
                file_path);
  }
  return tokenizer;
}

}  // namespace tern
