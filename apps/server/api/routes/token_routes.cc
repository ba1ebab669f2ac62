#include "server/api/routes/token_routes.h"

#include "base/text/format_text.h"
#include "server/api/replies/chat_completions.h"

namespace tern::server {
namespace {

// A piece that is no text, such as a part of a character, is a list of its bytes, as with llama.cpp.
Json piece_json(std::string_view piece) {
  std::string text = readable(piece);
  if (text == piece) return text;
  Json bytes = Json::array();
  for (const char c : piece) bytes.push_back(static_cast<unsigned char>(c));
  return bytes;
}

// A token's spelling; null for none.
Json spelling(const Tokenizer& tokenizer, std::optional<TokenId> id) {
  return id ? Json(readable(tokenizer.piece(*id, /*special=*/true))) : Json();
}

ApiResult<ConversationPrompt> render(const Json& body, const ModelProfile& model) {
  if (!model.engine.has_chat_template()) {
    return refuse("the model has no chat template: a conversation is one text to it", {}, "not_supported");
  }
  return chat_prompt(body, model);
}

// vLLM's form of /tokenize.
ApiResult<Json> tokenize_prompt(const Json& body, const ModelProfile& model) {
  Fields fields(body);
  std::string prompt;
  bool add_special_tokens = true, return_token_strs = false;
  fields.read("prompt", prompt);
  fields.read("add_special_tokens", add_special_tokens);
  fields.read("return_token_strs", return_token_strs);
  TRY_STATUS(fields.check());
  const Tokenizer& tokenizer = model.engine.tokenizer();
  std::vector<TokenId> tokens;
  if (body.contains("messages")) {
    TRY(ConversationPrompt conversation, render(body, model));
    tokens = std::move(conversation.tokens);
  } else {
    tokens = tokenizer.encode(prompt, {.add_bos = add_special_tokens, .parse_special = true});
  }
  Json answer = {{"count", tokens.size()}, {"max_model_len", model.n_ctx}, {"tokens", tokens}, {"token_strs", nullptr}};
  if (return_token_strs) {
    answer["token_strs"] = Json::array();
    for (const TokenId id : tokens) answer["token_strs"].push_back(spelling(tokenizer, id));
  }
  return answer;
}

}  // namespace

ApiResult<Json> tokenize(const Json& body, const ModelProfile& model) {
  if (body.contains("prompt") || body.contains("messages")) return tokenize_prompt(body, model);
  Fields fields(body);
  std::string content;
  TokenizeOptions options{.add_bos = false, .parse_special = true};
  bool with_pieces = false;
  fields.read("content", content);
  fields.read("add_special", options.add_bos);
  fields.read("parse_special", options.parse_special);
  fields.read("with_pieces", with_pieces);
  TRY_STATUS(fields.check());
  const Tokenizer& tokenizer = model.engine.tokenizer();
  Json tokens = Json::array();
  for (const TokenId id : tokenizer.encode(content, options)) {
    tokens.push_back(with_pieces ? Json{{"id", id}, {"piece", piece_json(tokenizer.piece(id, true))}} : Json(id));
  }
  return Json{{"tokens", std::move(tokens)}};
}

ApiResult<Json> detokenize(const Json& body, const ModelProfile& model) {
  Fields fields(body);
  const Json* list = fields.find("tokens");
  if (!list || !list->is_array()) return refuse("tokens: must be a list of token ids", "tokens");
  std::vector<TokenId> tokens;
  for (const Json& id : *list) {
    const int64_t number = id.is_number_integer() ? id.get<int64_t>() : -1;
    if (number < 0 || number >= model.engine.tokenizer().vocab_size()) {
      return refuse(format_text("tokens: holds {}, which is no token of the model", id.dump().substr(0, 40)), "tokens");
    }
    tokens.push_back(static_cast<TokenId>(number));
  }
  const std::string text = readable(model.engine.tokenizer().decode(tokens, /*special=*/true));
  return Json{{"content", text}, {"prompt", text}};
}

ApiResult<Json> apply_template(const Json& body, const ModelProfile& model) {
  TRY(ConversationPrompt prompt, render(body, model));
  return Json{{"prompt", std::move(prompt.turn.prompt.text)}, {"tokens", std::move(prompt.tokens)}};
}

ApiResult<Json> tokenizer_info(const ModelProfile& model) {
  const Tokenizer& tokenizer = model.engine.tokenizer();
  const auto& stops = tokenizer.stop_tokens();
  const auto chat_template = model.engine.chat_template();
  return Json{{"bos_token", spelling(tokenizer, tokenizer.bos())},
              {"eos_token", spelling(tokenizer, stops.empty() ? std::nullopt : std::optional(stops.front()))},
              {"chat_template", chat_template ? Json(chat_template->source) : Json()},
              {"model_max_length", model.n_ctx}};
}

}  // namespace tern::server
