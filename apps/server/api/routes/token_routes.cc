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

}  // namespace

ApiResult<Json> tokenize(const Json& body, const ModelProfile& model) {
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
  return Json{{"content", readable(model.engine.tokenizer().decode(tokens, /*special=*/true))}};
}

ApiResult<Json> apply_template(const Json& body, const ModelProfile& model) {
  if (!model.engine.has_chat_template()) {
    return refuse("the model has no chat template: a conversation is one text to it", {}, "not_supported");
  }
  TRY(ConversationPrompt prompt, chat_prompt(body, model));
  return Json{{"prompt", std::move(prompt.turn.prompt.text)}, {"tokens", std::move(prompt.tokens)}};
}

}  // namespace tern::server
