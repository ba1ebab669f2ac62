#include "server/api/replies/responses.h"

#include <optional>
#include <utility>

#include "base/text/format_text.h"
#include "server/api/replies/conversation.h"
#include "server/api/replies/mcp_rounds.h"
#include "server/api/replies/request_hints.h"
#include "server/api/responses/fitting_prompt.h"
#include "server/api/responses/response_fields.h"
#include "server/api/responses/response_items.h"
#include "server/api/responses/response_writer.h"

namespace tern::server {
namespace {

// The items of the conversation that the request continues.
ApiResult<Json> earlier_items(Fields& fields, const ModelProfile& model, const Client& client) {
  std::string id;
  fields.read("previous_response_id", id);
  TRY_STATUS(fields.check());
  if (id.empty()) return Json::array();
  auto kept = model.responses ? model.responses->find(id, client.key) : std::nullopt;
  if (kept && kept->response.at("object") == "response") return std::move(kept->items);
  return refuse(format_text("previous_response_id: '{}' is not kept here any more; send the whole conversation",
                            id.substr(0, 64)),
                "previous_response_id", "previous_response_not_found");
}

struct ResponsePrompt {
  ConversationPrompt prompt;
  Json before, items, notes;  // see earlier_items(), input_items(), tools_of_chats()
  std::shared_ptr<McpRounds> rounds;
  std::shared_ptr<ClientTools> tools = std::make_shared<ClientTools>();
  ResponseForm form = {};
};

ApiResult<ResponsePrompt> read_conversation(const Json& body, Fields& fields, const ModelProfile& model,
                                            const Client& client, GenerateOptions& generate) {
  ResponsePrompt read{.prompt = {}, .before = {}, .items = {}, .notes = Json::array(), .rounds = {}};
  std::string truncation = "disabled";
  fields.read("truncation", truncation);
  if (truncation != "auto" && truncation != "disabled") fields.fail("truncation", "must be auto or disabled");
  read.form = read_response_form(fields);
  TRY(generate.grammar, read_text_format(fields, model.grammars));
  const ChatOptions chat = read_chat_options(fields, model, generate.thoughts);
  TRY(read.before, earlier_items(fields, model, client));
  TRY(read.items, input_items(fields));
  if (model.responses) TRY_STATUS(resolve_references(read.items, *model.responses, client.key));
  TRY(const std::vector<ChatMessage> messages, read_items(fields, read.before, read.items, read.notes));
  TRY(const Json tools, tools_of_chats(fields, {*read.tools, model.grammars}, read.notes));
  Json as_chat = body;
  as_chat["tools"] = tools;
  Fields chat_fields(as_chat);
  TRY(const std::string mcp, read_mcp(chat_fields, model, 1));
  if (!mcp.empty() && read.form.n_logprobs >= 0) {
    return refuse("top_logprobs: is not for requests with tools of MCP servers", "top_logprobs");
  }
  generate.n_logprobs = read.form.n_logprobs;
  TRY(const ToolUse use, read_tool_use(chat_fields, mcp));
  read.rounds = mcp_rounds(mcp, model, messages, "input", chat, use, generate);
  TRY(read.prompt, FittingPrompt(messages, chat, use, model, generate).make(truncation == "auto"));
  return read;
}

}  // namespace

ApiResult<Asked> read_response(const Json& body, const ModelProfile& model, const Client& client) {
  Fields fields(body);
  ReplyOptions options = read_reply_options(fields, model.defaults, model.engine);
  fields.read("max_output_tokens", options.generate.max_tokens, {1, 1e9});
  options.n = 1;
  bool store = true;
  fields.read("store", store);
  TRY_STATUS(read_metadata(fields));
  TRY(ResponsePrompt read, read_conversation(body, fields, model, client, options.generate));
  TRY_STATUS(check_prompt_length(read.prompt.tokens.size(), model.n_ctx, "input"));
  ResponseStore* const responses = store ? model.responses : nullptr;
  Json repeated = repeated_fields(body, model.engine.sampling(options.generate.sample));
  repeated["store"] = responses != nullptr;
  if (!read.notes.empty()) repeated["notes"] = std::move(read.notes);
  Json all = read.before;
  if (responses) all.insert(all.end(), read.items.begin(), read.items.end());
  auto writer = response_writer(model, read.prompt,
                                {.repeated = std::move(repeated),
                                 .form = read.form,
                                 .store = responses,
                                 .owner = client.key,
                                 .items_before = std::move(all),
                                 .tools = std::move(read.tools)},
                                read.rounds);
  return Asked{.prompts = {std::move(read.prompt.tokens)},
               .options = std::move(options),
               .writer = std::move(writer),
               .follow_up = std::move(read.rounds)};
}

ApiResult<Json> count_response_tokens(const Json& body, const ModelProfile& model, const Client& client) {
  Fields fields(body);
  GenerateOptions ignored;
  TRY(const ResponsePrompt read, read_conversation(body, fields, model, client, ignored));
  return Json{{"object", "response.input_tokens"}, {"input_tokens", read.prompt.tokens.size()}};
}

}  // namespace tern::server
