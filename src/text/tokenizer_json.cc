#include "text/tokenizer_json.h"

#include <algorithm>
#include <deque>

#include "text/bpe.h"
#include "text/json_reader.h"
#include "text/tokenizer_json_steps.h"
#include "text/utf8.h"

namespace tern {
namespace {

constexpr int64_t kMaxId = (1 << 22) - 1;  // bounds what one absurd id can make us allocate

// Control tokens that end a reply, in the spellings of the published models that Tern runs.
constexpr std::string_view kStopTokens[] = {"<|endoftext|>", "<|end_of_text|>", "<|eot_id|>",
                                            "<|eom_id|>",    "<|im_end|>",      "<|end|>"};

// A BpeVocab and the strings in it that the JSON does not hold in one piece.
struct OwnedVocab {
  BpeVocab vocab;
  std::deque<std::string> merges;
};

class Reader {
 public:
  Reader(const Json& root, std::string_view path) : root_(root), path_(path) {}

  Result<OwnedVocab> read() {
    if (!root_.is_object())
      return fail(ErrorCode::kCorruption, "{}: a tokenizer.json is a JSON object, this is not", path_);
    TRY(const Json* model, member(root_, "model", Json::value_t::object, path_));
    if (!model) return fail(ErrorCode::kCorruption, "{}: no \"model\", so this is not a tokenizer.json", path_);
    TRY_STATUS(read_model(*model));
    TRY_STATUS(read_added_tokens());
    TRY(out_.vocab.nfc, read_normalizer(root_, path_));
    TRY(out_.vocab.pre, read_pre_tokenizer(root_, path_));
    TRY(const auto bos, read_bos(root_, path_));
    out_.vocab.bos = bos;
    out_.vocab.add_bos = bos.has_value();
    for (size_t i = 0; i < out_.vocab.tokens.size(); ++i) {
      if (out_.vocab.types[i] == TokenType::kControl && std::ranges::contains(kStopTokens, out_.vocab.tokens[i])) {
        out_.vocab.stop_tokens.push_back(static_cast<TokenId>(i));
      }
    }
    return std::move(out_);
  }

 private:
  Result<void> read_model(const Json& model) {
    TRY(const std::string type, string_or(model, "type", "BPE", path_));
    if (type != "BPE") {
      return fail(ErrorCode::kNotSupported, "{}: a \"{}\" tokenizer; Tern reads byte-level BPE", path_,
                  printable(type));
    }
    TRY(const bool byte_fallback, bool_or(model, "byte_fallback", false, path_));
    if (byte_fallback) {
      return fail(ErrorCode::kNotSupported, "{}: a SentencePiece vocabulary (byte_fallback); Tern reads byte-level BPE",
                  path_);
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
    TRY(out_.vocab.ignore_merges, bool_or(model, "ignore_merges", false, path_));
    TRY(const Json* vocab, member(model, "vocab", Json::value_t::object, path_));
    TRY(const Json* merges, member(model, "merges", Json::value_t::array, path_));
    if (!vocab || !merges) {
      return fail(ErrorCode::kCorruption, "{}: model.{} is missing", path_, vocab ? "merges" : "vocab");
    }
    TRY_STATUS(read_vocab(*vocab));
    return read_merges(*merges);
  }

  Result<void> read_vocab(const Json& vocab) {
    for (const auto& [token, id] : vocab.items()) TRY_STATUS(place(token, id, TokenType::kNormal));
    return {};
  }

  // Ids may leave holes; those become unused tokens without a spelling.
  Result<void> place(std::string_view token, const Json& id, TokenType type) {
    if (!id.is_number_integer() || id < 0 || id > kMaxId) {
      return fail(ErrorCode::kCorruption, "{}: the id of token '{}' is not an integer from 0 to {}", path_,
                  printable(token), kMaxId);
    }
    const auto index = id.get<size_t>();
    BpeVocab& vocab = out_.vocab;
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
        out_.vocab.merges.push_back(merge.get_ref<const std::string&>());
      } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
        const auto& left = merge[0].get_ref<const std::string&>();
        const auto& right = merge[1].get_ref<const std::string&>();
        out_.vocab.merges.push_back(out_.merges.emplace_back(left + " " + right));
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
      for (const char* flag : {"lstrip", "rstrip", "single_word"}) {
        TRY(const bool set, bool_or(token, flag, false, path_));
        if (set) {
          return fail(ErrorCode::kNotSupported, "{}: the added token '{}' has the flag {}, which Tern does not know",
                      path_, printable(spelling), flag);
        }
      }
      TRY(const bool special, bool_or(token, "special", false, path_));
      TRY_STATUS(place(spelling, *id, special ? TokenType::kControl : TokenType::kUserDefined));
    }
    return {};
  }

  const Json& root_;
  std::string_view path_;
  OwnedVocab out_;
};

}  // namespace

Result<std::unique_ptr<Tokenizer>> parse_tokenizer_json(Bytes json, std::string_view path) {
  TRY(const Json root, parse_json(as_text(json), path));
  TRY(const OwnedVocab owned, Reader(root, path).read());
  auto tokenizer = make_bpe_tokenizer(owned.vocab);
  if (!tokenizer) return fail(tokenizer.error().code, "{}: {}", path, tokenizer.error().message);
  return tokenizer;
}

}  // namespace tern
