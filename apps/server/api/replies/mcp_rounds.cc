#include "server/api/replies/mcp_rounds.h"

#include <algorithm>
#include <semaphore>
#include <utility>

#include "base/start_thread.h"
#include "base/text/format_text.h"
#include "mcp/result_text.h"
#include "server/connections/preparation.h"

namespace tern::server {
namespace {

constexpr std::ptrdiff_t kMostCalls = 64;  // of all requests at a time; others wait
constexpr std::chrono::milliseconds kLookForPlace(50);

std::counting_semaphore<kMostCalls>& places() {
  static std::counting_semaphore<kMostCalls> all(kMostCalls);
  return all;
}

mcp::CallResult call_in_turn(mcp::ToolSet& tools, const ToolCall& call, const std::stop_token& stop) {
  while (!places().try_acquire_for(kLookForPlace)) {
    if (stop.stop_requested()) return {.text = "error: stopped", .is_error = true, .is_stopped = true, .problem = {}};
  }
  mcp::CallResult result = tools.call(call.name, call.arguments, stop);
  places().release();
  return result;
}

}  // namespace

ApiResult<std::string> read_mcp(Fields& fields, const ModelProfile& model, int n_replies) {
  const auto has = [&](const char* name) {
    const Json* list = fields.find(name);
    return list && !list->empty();
  };
  const Json* wanted = fields.find("mcp");
  mcp::ToolSet::Choice choice;
  if (wanted && wanted->is_array()) fields.read_texts("mcp", choice.servers, 1000);
  if (wanted && !wanted->is_array() && !wanted->is_boolean()) fields.fail("mcp", "is neither true, false nor a list");
  TRY_STATUS(fields.check());
  if (wanted ? *wanted == false : !model.mcp.always || has("tools") || n_replies > 1) return std::string();
  if (!model.mcp.set) {
    if (!wanted) return std::string();
    fields.fail("mcp", "there are no tools of MCP servers here; start the server with --mcp");
  }
  if (has("tools")) fields.fail("mcp", "is for requests without tools of their own");
  if (n_replies > 1) fields.fail("mcp", "is for one reply; n is more");
  TRY_STATUS(fields.check());
  {
    const Preparation::Pause pause;  // a server may take a while
    model.mcp.set->refresh();
  }
  const std::vector<mcp::Tool> tools = model.mcp.set->tools();
  for (const std::string& name : choice.servers) {
    if (!std::ranges::contains(tools, name, &mcp::Tool::server)) {
      fields.fail("mcp", format_text("there is no MCP server '{}' with tools here", name.substr(0, 64)));
    }
  }
  TRY_STATUS(fields.check());
  return tools.empty() ? std::string() : model.mcp.set->json(choice);
}

McpRounds::McpRounds(const ModelProfile& model, Conversation conversation)
    : model_(model), conversation_(std::move(conversation)) {}

bool McpRounds::follows(const ChatMessage& reply, const ReplyEvent& last) {
  n_generated_ += last.stats.n_generated;
  const auto may_be_made = [&](const ToolCall& call) { return model_.mcp.set->is_allowed(call.name); };
  const bool is_whole = last.finish == FinishReason::kStopToken || last.finish == FinishReason::kStopString;
  const int most = conversation_.generate.max_tokens;
  const bool has_tokens = most < 0 || n_generated_ < most;
  if (reply.tool_calls.empty() || !is_whole || !has_tokens || !std::ranges::all_of(reply.tool_calls, may_be_made)) {
    return false;
  }
  conversation_.messages.push_back(reply);
  ++n_rounds_;
  is_pending_ = true;
  made_.reset();
  const auto work = [this, calls = reply.tool_calls](const std::stop_token& stop) { call_all(stop, calls); };
  if (Result<std::jthread> worker = start_thread("calls of tools", work)) {
    worker_ = *std::move(worker);
  } else {
    work({});  // this thread would wait for them anyway
  }
  return true;
}

// Runs on the worker. After the last round the model is told of no tools, so that it answers.
void McpRounds::call_all(const std::stop_token& stop, const std::vector<ToolCall>& calls) {
  const size_t most = static_cast<size_t>(model_.n_ctx) / 4 / calls.size();
  for (const ToolCall& call : calls) {
    mcp::CallResult result = call_in_turn(*model_.mcp.set, call, stop);
    if (stop.stop_requested()) return;
    if (!result.problem.empty() && model_.mcp.on_problem) model_.mcp.on_problem(result.problem);
    conversation_.messages.push_back(
        {.role = "tool",
         .content = mcp::text_for_model(model_.engine.tokenizer(), std::move(result.text), most),
         .tool_call_id = call.id,
         .name = call.name});
  }
  Made made{.prompt = {}, .options = conversation_.generate};
  if (made.options.max_tokens >= 0) made.options.max_tokens -= n_generated_;
  ToolUse use = conversation_.use;
  use.choice = n_rounds_ < model_.mcp.rounds ? ToolUse::Choice::kAuto : ToolUse::Choice::kNone;
  use.required.clear();
  const auto make = [&]() -> ApiResult<Made> {
    TRY(made.prompt,
        make_prompt(conversation_.messages, conversation_.field, conversation_.options, use, model_, made.options));
    TRY_STATUS(check_prompt_length(made.prompt.tokens.size(), model_.n_ctx, conversation_.field));
    return std::move(made);
  };
  ApiResult<Made> result = make();
  const std::lock_guard lock(mutex_);
  made_ = std::move(result);
  changed_.notify_all();
}

ApiResult<std::optional<NextReply>> McpRounds::wait(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, time, [&] { return made_.has_value(); })) return std::optional<NextReply>();
  is_pending_ = false;
  TRY(Made made, *std::exchange(made_, std::nullopt));
  turn_ = std::move(made.prompt.turn);
  return NextReply{.prompt = std::move(made.prompt.tokens), .options = std::move(made.options)};
}

std::shared_ptr<McpRounds> mcp_rounds(const std::string& tools, const ModelProfile& model,
                                      const std::vector<ChatMessage>& messages, const std::string& field,
                                      const ChatOptions& options, const ToolUse& use, const GenerateOptions& generate) {
  if (tools.empty()) return nullptr;
  return std::make_shared<McpRounds>(
      model, McpRounds::Conversation{
                 .messages = messages, .field = field, .options = options, .use = use, .generate = generate});
}

}  // namespace tern::server
