#include "text/tokenizer_files/tokenizer_json.h"

#include <deque>

#include "base/json_reader.h"
#include "text/tokenizer_files/stop_tokens.h"
#include "text/tokenizer_files/token_flags.h"
#include "text/tokenizer_files/tokenizer_json_steps.h"
#include "text/unicode/utf8.h"

namespace tern {
namespace {

constexpr int64_t kMaxVocabId = (1 << 22) - 1;  // limits what one absurd id can make Tern allocate

// Owns the data that the vocabulary's views point into.
struct JsonStorage {
  Json root;
  std::deque<std::string> strings;  // strings that the JSON does not contain in one piece
};

class Reader {
 public:
  Reader(JsonStorage& storage, std::string_view path) : storage_(storage), root_(storage.root), path_(path) {}

  Result<Vocab> read() {
    if (!root_.is_object())
      return fail(ErrorCode::kCorruption, "{}: a tokenizer.json is a JSON object, this is not", path_);
    TRY(const Json* model, member(root_, "model", Json::value_t::object, path_));
    if (!model) return fail(ErrorCode::kCorruption, "{}: no \"model\", so this is not a tokenizer.json", path_);
    TRY_STATUS(check_model(*model));
    TRY_STATUS(read_text_steps(root_, vocab_, path_));
    TRY_STATUS(read_model(*model));
    TRY_STATUS(read_added_tokens());
    if (vocab_.kind == VocabKind::kSentencePiece) TRY_STATUS(read_fallback(*model));
    TRY_STATUS(read_frame(root_, vocab_, path_));
    add_known_stop_tokens(vocab_);
    return std::move(vocab_);
  }

 private:
  Result<void> check_model(const Json& model) {
    TRY(const std::string type, string_or(model, "type", "BPE", path_));
    if (type != "BPE") {
      return fail(ErrorCode::kNotSupported, "{}: a \"{}\" tokenizer; Tern reads BPE", path_, printable(type));
    }
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      TRY(const std::string affix, string_or(model, key, "", path_));
      if (!affix.empty()) {
        return fail(ErrorCode::kNotSupported, "{}: model.{} is '{}'; Tern knows no such affixes", path_, key,
                    printable(affix));
      }
    }
    const auto dropout = model.find("dropout");
    if (dropout != model.end() && !dropout->is_null() && *dropout != 0) {
      return fail(ErrorCode::kNotSupported, "{}: model.dropout makes the ids random", path_);
    }
    return {};
  }

  Result<void> read_model(const Json& model) {
    TRY(vocab_.ignore_merges, bool_or(model, "ignore_merges", false, path_));
    if (vocab_.ignore_merges && vocab_.kind == VocabKind::kSentencePiece) {
      return fail(ErrorCode::kNotSupported,
                  "{}: model.ignore_merges in a SentencePiece vocabulary, which Tern does not "
                  "know",
                  path_);
    }
    TRY(const Json* vocab, member(model, "vocab", Json::value_t::object, path_));
    TRY(const Json* merges, member(model, "merges", Json::value_t::array, path_));
    if (!vocab || !merges) {
      return fail(ErrorCode::kCorruption, "{}: model.{} is missing", path_, vocab ? "merges" : "vocab");
    }
    TRY_STATUS(read_vocab(*vocab));
    return read_merges(*merges);
  }

  // Reads how characters without a token are encoded.
  Result<void> read_fallback(const Json& model) {
    TRY(const bool byte_fallback, bool_or(model, "byte_fallback", false, path_));
    TRY(const bool fuse_unk, bool_or(model, "fuse_unk", false, path_));
    TRY(const std::string unk, string_or(model, "unk_token", "", path_));
    for (size_t i = 0; i < vocab_.tokens.size(); ++i) {
      if (!unk.empty() && vocab_.tokens[i] == unk) vocab_.unk = static_cast<TokenId>(i);
      if (byte_fallback && vocab_.types[i] == TokenType::kNormal && is_byte_spelling(vocab_.tokens[i]))
        vocab_.types[i] = TokenType::kByte;
    }
    if (!byte_fallback && !fuse_unk) {
      return fail(ErrorCode::kNotSupported, "{}: model has neither byte_fallback nor fuse_unk; Tern knows one of them",
                  path_);
    }
    return {};
  }

  static bool is_byte_spelling(std::string_view spelling) {
    return spelling.size() == 6 && spelling.starts_with("<0x") && spelling.ends_with('>');
  }

  Result<void> read_vocab(const Json& vocab) {
    for (const auto& [token, id] : vocab.items()) TRY_STATUS(place(token, id, TokenType::kNormal));
    return {};
  }

  // Unassigned ids become unused tokens without a spelling.
  Result<void> place(std::string_view token, const Json& id, TokenType type) {
    if (!id.is_number_integer() || id < 0 || id > kMaxVocabId) {
      return fail(ErrorCode::kCorruption, "{}: the id of token '{}' is not an integer from 0 to {}", path_,
                  printable(token), kMaxVocabId);
    }
    const auto index = id.get<size_t>();
    Vocab& vocab = vocab_;
    if (index >= vocab.tokens.size()) {
      vocab.tokens.resize(index + 1);
      vocab.types.resize(index + 1, TokenType::kUnused);
    }
    if (vocab.types[index] != TokenType::kUnused && vocab.tokens[index] != token) {
      return fail(ErrorCode::kCorruption, "{}: the tokens '{}' and '{}' have the same id, {}", path_,
                  printable(vocab.tokens[index]), printable(token), index);
    }
    vocab.tokens[index] = token;
    vocab.types[index] = type;
    return {};
  }

  Result<void> read_merges(const Json& merges) {
    for (size_t i = 0; i < merges.size(); ++i) {
      const Json& merge = merges[i];
      if (merge.is_string()) {
        vocab_.merges.push_back(merge.get_ref<const std::string&>());
      } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
        const auto& left = merge[0].get_ref<const std::string&>();
        const auto& right = merge[1].get_ref<const std::string&>();
        vocab_.merges.push_back(storage_.strings.emplace_back(left + " " + right));
      } else {
        return fail(ErrorCode::kCorruption, "{}: model.merges[{}] is neither \"left right\" nor [\"left\", \"right\"]",
                    path_, i);
      }
    }
    return {};
  }

  Result<void> read_added_tokens() {
    TRY(const Json* added, member(root_, "added_tokens", Json::value_t::array, path_));
    if (!added) return {};
    for (const Json& token : *added) {
      const auto content = token.is_object() ? token.find("content") : token.end();
      const auto id = token.is_object() ? token.find("id") : token.end();
      if (content == token.end() || !content->is_string() || id == token.end()) {
        return fail(ErrorCode::kCorruption, "{}: added_tokens holds something without \"content\" and \"id\"", path_);
      }
      const auto& spelling = content->get_ref<const std::string&>();
      TRY(uint8_t flags, read_token_flags(token, path_));
      TRY(const bool special, bool_or(token, "special", false, path_));
      // Gemma's runs of spaces match in text as U+2581, and by merging if spelled as spaces.
      if (!special && vocab_.kind == VocabKind::kSentencePiece && is_of_model(spelling, *id)) flags |= kTokenMerges;
      TRY_STATUS(place(spelling, *id, special ? TokenType::kControl : TokenType::kUserDefined));
      set_flags(id->get<size_t>(), flags);
    }
    if (!vocab_.flags.empty()) vocab_.flags.resize(vocab_.tokens.size());
    return {};
  }

  // True if an added token is also one of the model's own tokens.
  bool is_of_model(std::string_view spelling, const Json& id) const {
    if (!id.is_number_unsigned() || id >= vocab_.tokens.size()) return false;
    const auto index = id.get<size_t>();
    return vocab_.types[index] == TokenType::kNormal && vocab_.tokens[index] == spelling;
  }

  void set_flags(size_t id, uint8_t flags) {
    if (flags == 0 && vocab_.flags.empty()) return;
    vocab_.flags.resize(vocab_.tokens.size());
    vocab_.flags[id] = flags;
  }

  JsonStorage& storage_;
  const Json& root_;
  std::string_view path_;
  Vocab vocab_;
};

}  // namespace

Result<Vocab> read_tokenizer_json(Bytes json, std::string_view path) {
  const auto storage = std::make_shared<JsonStorage>();
  TRY(storage->root, parse_json(as_text(json), path));
  TRY(Vocab vocab, Reader(*storage, path).read());
  vocab.storage = storage;
  return vocab;
}

Result<std::unique_ptr<Tokenizer>> parse_tokenizer_json(Bytes json, std::string_view path) {
  TRY(const Vocab vocab, read_tokenizer_json(json, path));
  auto tokenizer = make_tokenizer(vocab);
  if (!tokenizer) return fail(tokenizer.error().code, "{}: {}", path, tokenizer.error().message);
  return tokenizer;
}

}  // namespace tern
