#include "text/tokenizer_files/tokenizer_config.h"

#include <charconv>
#include <deque>

#include "base/json_reader.h"
#include "text/jinja/join_templates.h"
#include "text/tokenizer/token_table.h"
#include "text/tokenizer_files/stop_tokens.h"
#include "text/tokenizer_files/token_flags.h"
#include "text/unicode/utf8.h"

namespace tern {
namespace {

constexpr TokenId kMaxId = (1 << 22) - 1;  // limits what one absurd id can make Tern allocate

Result<Json> parse_object(Bytes json, std::string_view path) {
  TRY(Json root, parse_json(as_text(json), path));
  if (!root.is_object()) return fail(ErrorCode::kCorruption, "{}: not a JSON object", path);
  return root;
}

// A token is given as a string or as an object with "content".
Result<std::optional<std::string>> read_token(const Json& root, const char* key, std::string_view path) {
  const auto it = root.find(key);
  if (it == root.end() || it->is_null()) return std::nullopt;
  if (it->is_string()) return it->get<std::string>();
  if (it->is_object()) {
    const auto content = it->find("content");
    if (content != it->end() && content->is_string()) return content->get<std::string>();
  }
  return fail(ErrorCode::kCorruption, "{}: \"{}\" is neither a string nor an object with \"content\"", path, key);
}

Result<std::optional<std::string>> read_chat_template(const Json& root, std::string_view path) {
  const auto it = root.find("chat_template");
  if (it == root.end() || it->is_null()) return std::nullopt;
  if (it->is_string()) return it->get<std::string>();
  if (!it->is_array())
    return fail(ErrorCode::kCorruption, "{}: \"chat_template\" is neither a string nor a list", path);
  std::optional<std::string> plain, with_tools;
  for (const Json& entry : *it) {
    if (!entry.is_object())
      return fail(ErrorCode::kCorruption, "{}: \"chat_template\" lists something that is not an object", path);
    TRY(const std::string name, string_or(entry, "name", "", path));
    TRY(const Json* source, member(entry, "template", Json::value_t::string, path));
    if (name == "default" && source) plain = source->get<std::string>();
    if (name == "tool_use" && source) with_tools = source->get<std::string>();
  }
  if (with_tools) return join_chat_templates(*with_tools, plain.value_or(*with_tools));
  return plain;
}

Result<std::vector<AddedToken>> read_added_tokens(const Json& root, std::string_view path) {
  std::vector<AddedToken> tokens;
  TRY(const Json* decoder, member(root, "added_tokens_decoder", Json::value_t::object, path));
  if (!decoder) return tokens;
  for (const auto& [key, value] : decoder->items()) {
    AddedToken token;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), token.id);
    const auto content = value.is_object() ? value.find("content") : value.end();
    if (error != std::errc() || end != key.data() + key.size() || token.id < 0 || token.id > kMaxId ||
        content == value.end() || !content->is_string()) {
      return fail(ErrorCode::kCorruption, "{}: added_tokens_decoder['{}'] is not an id and a token with \"content\"",
                  path, printable(key));
    }
    token.content = content->get<std::string>();
    TRY(token.special, bool_or(value, "special", false, path));
    TRY(token.flags, read_token_flags(value, path));
    tokens.push_back(std::move(token));
  }
  return tokens;
}

Result<void> place(const AddedToken& token, std::deque<std::string>& strings, Vocab& vocab, std::string_view path) {
  const auto id = static_cast<size_t>(token.id);
  const bool is_new = id >= vocab.tokens.size();
  if (vocab.types.empty()) vocab.types.resize(vocab.tokens.size(), TokenType::kNormal);
  if (is_new) {
    vocab.tokens.resize(id + 1);
    vocab.types.resize(id + 1, TokenType::kUnused);
    if (!vocab.scores.empty()) vocab.scores.resize(id + 1);
  }
  vocab.flags.resize(vocab.tokens.size());
  if (vocab.types[id] != TokenType::kUnused && vocab.tokens[id] != token.content) {
    return fail(ErrorCode::kCorruption, "{}: token {} is '{}' here and '{}' in the vocabulary", path, id,
                printable(token.content), printable(vocab.tokens[id]));
  }
  vocab.tokens[id] = strings.emplace_back(token.content);
  if (vocab.types[id] != TokenType::kUnknown) {
    vocab.types[id] = token.special ? TokenType::kControl : TokenType::kUserDefined;
  }
  vocab.flags[id] = token.flags;
  return {};
}

// Owns the vocabulary's previous storage and the added strings.
struct Storage {
  std::shared_ptr<const void> before;
  std::deque<std::string> strings;
};

}  // namespace

Result<TokenizerConfig> read_tokenizer_config(Bytes json, std::string_view path) {
  TRY(const Json root, parse_object(json, path));
  TokenizerConfig config;
  TRY(config.bos, read_token(root, "bos_token", path));
  TRY(config.eos, read_token(root, "eos_token", path));
  TRY(config.unk, read_token(root, "unk_token", path));
  TRY(config.pad, read_token(root, "pad_token", path));
  TRY(const Json* add_bos, member(root, "add_bos_token", Json::value_t::boolean, path));
  if (add_bos) config.add_bos = add_bos->get<bool>();
  TRY(const Json* add_eos, member(root, "add_eos_token", Json::value_t::boolean, path));
  if (add_eos) config.add_eos = add_eos->get<bool>();
  TRY(config.chat_template, read_chat_template(root, path));
  TRY(config.added_tokens, read_added_tokens(root, path));
  return config;
}

Result<void> apply_tokenizer_config(const TokenizerConfig& config, Vocab& vocab, std::string_view path) {
  const auto storage = std::make_shared<Storage>(vocab.storage);
  for (const AddedToken& token : config.added_tokens) {
    TRY_STATUS(place(token, storage->strings, vocab, path));
  }
  vocab.storage = storage;
  const auto look_up = [&](const std::optional<std::string>& spelling, std::optional<TokenId>& id) {
    if (!spelling || spelling->empty()) return;
    const TokenId found = find_special_token(vocab, *spelling);
    if (found != kNoToken) id = found;
  };
  look_up(config.bos, vocab.bos);
  look_up(config.eos, vocab.eos);
  look_up(config.pad, vocab.pad);
  if (config.add_bos) vocab.add_bos = *config.add_bos && vocab.bos;
  if (config.add_eos && !*config.add_eos) vocab.final_token.reset();
  if (config.add_eos && *config.add_eos && !vocab.final_token) vocab.final_token = vocab.eos;
  add_known_stop_tokens(vocab);
  return {};
}

Result<std::vector<TokenId>> read_eos_token_ids(Bytes json, std::string_view path) {
  TRY(const Json root, parse_object(json, path));
  std::vector<TokenId> ids;
  const auto outer = root.find("eos_token_id"), text = root.find("text_config");
  const bool is_inside = outer == root.end() && text != root.end() && text->is_object();
  const auto it = is_inside ? text->find("eos_token_id") : outer;
  if (it == (is_inside ? text->end() : root.end()) || it->is_null()) return ids;
  const auto add = [&](const Json& id) {
    const bool valid = id.is_number_integer() && id >= 0 && id <= INT32_MAX;
    if (valid) ids.push_back(id.get<TokenId>());
    return valid;
  };
  bool valid = true;
  if (it->is_array()) {
    for (const Json& id : *it) valid = valid && add(id);
  } else {
    valid = add(*it);
  }
  if (!valid)
    return fail(ErrorCode::kCorruption, "{}: \"eos_token_id\" is neither a token id nor a list of them", path);
  return ids;
}

}  // namespace tern
