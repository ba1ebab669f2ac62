// Any bytes as a request to the server: an error, or valid options for an engine. The first byte selects the route: "b"
// is a line of a batch, "A" to "E" are the APIs of others than OpenAI.
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/api/anthropic/message_answers.h"
#include "server/api/batches/batch_lines.h"
#include "server/api/llama/completion.h"
#include "server/api/ollama/requests.h"
#include "server/api/replies/chat_completions.h"
#include "server/api/replies/completions.h"
#include "server/api/replies/responses.h"
#include "server/api/routes/token_routes.h"
#include "support/checkout.h"

namespace {

using tern::server::ApiError;
using tern::server::Asked;
using tern::server::Json;
using tern::server::ModelProfile;

constexpr const char* kTemplate =
    "{% if tools %}{% for t in tools %}{{ t | tojson }}\n{% endfor %}\n"
    "<tool_call>\n{\"name\": name, \"arguments\": arguments}\n</tool_call>\n{% endif %}"
    "{% for m in messages %}<{{ m.role }}>{{ m.content or '' }}"
    "{% if m.tool_calls %}{% for c in m.tool_calls %}<tool_call>\n"
    "{\"name\": {{ c.function.name | tojson }}, \"arguments\": {{ c.function.arguments | tojson }}}\n</tool_call>"
    "{% endfor %}{% endif %}\n{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}";

void require(bool is_so) {
  if (!is_so) std::abort();
}

void check(const ApiError& error) {
  require(error.status >= 400 && error.status < 500 && !error.message.empty());
  require(Json::accept(tern::server::dump(error.json())));
}

void check(const Asked& asked, const ModelProfile& model) {
  const tern::server::ReplyOptions& options = asked.options;
  require(options.n >= 1 && options.n <= 64 && asked.writer && !asked.prompts.empty());
  require(options.each().size() == static_cast<size_t>(options.n));
  for (const auto& prompt : asked.prompts) {
    require(!prompt.empty() && prompt.size() <= static_cast<size_t>(model.n_ctx));
    for (const tern::TokenId token : prompt) require(token >= 0 && token < model.engine.info().n_vocab);
  }
  const tern::GenerateOptions& generate = options.generate;
  require(generate.max_tokens >= -1 && generate.stop.size() <= 64 && generate.n_logprobs <= 20);
  for (const std::string& stop : generate.stop) require(!stop.empty());
  const tern::SampleOptions& sample = generate.sample;
  require(!(sample.temperature > 100) && !(sample.top_p > 1) && !(sample.min_p > 1));
  for (const Json& event : asked.writer->first_events()) require(Json::accept(tern::server::dump(event)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const tern::Engine engine = tern::Engine::load({.model_path = tern::source_path("models/tern-stories.gguf"),
                                                         .backend = tern::BackendKind::kRef,
                                                         .n_threads = 1,
                                                         .chat_template = kTemplate})
                                         .value();
  static tern::server::GrammarCache grammars;
  static const ModelProfile model = {
      .engine = engine, .name = "stories", .n_ctx = engine.info().n_ctx, .defaults = {}, .grammars = grammars};
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] == 'b') {
    const auto line = tern::server::read_batch_request(text, 1);
    require(line ? !line->custom_id.empty() : !line.error().message.empty() && !line.error().code.empty());
    if (line && line->wrong) check(*line->wrong);
    return 0;
  }
  const auto body = tern::server::parse_body(text);
  if (!body) {
    check(body.error());
    return 0;
  }
  using tern::server::Client;
  constexpr tern::server::ApiResult<Asked> (*kReaders[])(const Json&, const ModelProfile&, const Client&) = {
      tern::server::read_chat_completion, tern::server::read_completion, tern::server::read_response};
  constexpr tern::server::ApiResult<Json> (*kOthers[])(const Json&, const ModelProfile&) = {
      tern::server::tokenize, tern::server::detokenize, tern::server::apply_template};
  constexpr tern::server::ApiResult<Asked> (*kForeign[])(const Json&, const ModelProfile&, const Client&) = {
      tern::server::anthropic::read_message, tern::server::ollama::read_chat, tern::server::ollama::read_generate,
      tern::server::llama::read_completion, tern::server::llama::read_infill};
  if (data[0] >= 'A' && data[0] <= 'E') {
    const auto asked = kForeign[data[0] - 'A'](*body, model, {});
    asked ? check(*asked, model) : check(asked.error());
  } else if (data[0] % 6 < 3) {
    const auto asked = kReaders[data[0] % 6](*body, model, {});
    asked ? check(*asked, model) : check(asked.error());
  } else {
    const auto answer = kOthers[data[0] % 6 - 3](*body, model);
    if (!answer) check(answer.error());
  }
  return 0;
}
