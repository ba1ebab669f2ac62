// tern run: continues a text.
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/result.h"
#include "cli/commands/commands.h"
#include "cli/flags/chat_flags.h"
#include "cli/flags/reply_flags.h"
#include "cli/support/chat_reply_json.h"
#include "cli/support/prompt_view.h"
#include "cli/support/sampling_json.h"
#include "cli/terminal/help.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "tern/tools.h"

namespace tern::cli {
namespace {

constexpr const char* kRunFooter = R"(Examples
  tern run -p "Once upon a time"                  a new story each time
  tern run -p "Once upon a time" --temp 0 -n 60   always the same 60 tokens
  tern run -f prompt.txt --seed 7 --stats         repeatable, with statistics at the end
  echo "The cat" | tern run --no-echo             only the continuation
  tern run --chat "Tell me a story about a fox and a lantern."
  tern run --chat "Who are you?" --print-prompt
                                                  the prompt as the model reads it
  tern run -m chat-model.gguf --chat -p "Name a city" --json-schema city.json
                                                  JSON that is valid for the schema

Ctrl-C stops the text; a second Ctrl-C stops the program. The final line break of a file or of standard input is not
part of the prompt.
)";

constexpr const char* kHowToPrompt = "give a prompt as TEXT or with -f FILE, or pipe one in";

// The prompt as text and as tokens.
struct ModelInput {
  std::string text;
  std::vector<TokenId> ids;
};

struct RunCommand {
  ModelOptions model;
  ReplyFlags generation;
  std::vector<std::string> words;  // of the prompt
  std::string prompt;
  std::string file;
  std::string system;
  std::string tools_file;
  std::string tools;  // content of the tools file
  ChatFlags chat_flags;
  CLI::Option* prompt_option = nullptr;
  CLI::Option* system_option = nullptr;
  bool chat = false;
  bool no_chat = false;
  bool no_echo = false;
  bool no_heal = false;
  bool print_prompt = false;
  bool stats = false;
  bool json = false;

  Result<void> check_options() const;
  Result<std::string> read_prompt() const;
  ExpectedJob expected_job(size_t prompt_bytes) const;
  Result<Engine> load(size_t prompt_bytes) const;
  Result<ModelInput> encode(const Engine& engine, const std::string& text) const;
  Result<ExitCode> run();
  Result<void> show(const Engine& engine, const ModelInput& input) const;
  Result<void> print_json(const Engine& engine, const std::string& prompt_text, const ModelInput& input,
                          const GenerateResult& result) const;
};

Result<std::string> RunCommand::read_prompt() const {
  TRY(std::string text, input_text(*prompt_option, prompt, file, kHowToPrompt));
  if (prompt_option->count() == 0 && text.ends_with('\n')) {
    text.pop_back();
    if (text.ends_with('\r')) text.pop_back();
  }
  if (text.empty()) return fail(ErrorCode::kInvalidArgument, "the prompt is empty; {}", kHowToPrompt);
  return text;
}

// The model that would count the prompt's tokens is not loaded yet, so they are estimated. The program ends with its
// text, so loading counts as part of the job.
ExpectedJob RunCommand::expected_job(size_t prompt_bytes) const {
  constexpr size_t kBytesOfToken = 4;  // approximate, for English
  ExpectedJob job{.counts_setup = true};
  job.n_prompt = static_cast<int>(std::clamp<size_t>(prompt_bytes / kBytesOfToken, 1, size_t{1} << 20));
  const int n = generation.generate.max_tokens;
  if (n >= 0) job.n_generate = std::min(n, 1 << 20);
  return job;
}

Result<Engine> RunCommand::load(size_t prompt_bytes) const {
  ModelOptions options = model;
  TRY(options.load.chat_template, chat_flags.read_template());
  options.load.job = expected_job(prompt_bytes);
  // Showing a prompt computes nothing, so use the reference backend, which reads a file without any preparation.
  const bool any_backend = options.load.backend == BackendKind::kAuto && options.load.head == HeadKind::kAuto;
  if (print_prompt && any_backend) options.load.backend = BackendKind::kRef;
  return load_engine(options);
}

Result<ModelInput> RunCommand::encode(const Engine& engine, const std::string& text) const {
  TRY(const Tokenizer* tokenizer, need_tokenizer(engine));
  if (!chat) return ModelInput{.text = text, .ids = tokenizer->encode(text)};
  if (!engine.has_chat_template()) {
    return fail(ErrorCode::kNotSupported,
                "{}: the model has no chat template; leave out --chat to continue the text as it is",
                engine.info().path);
  }
  std::vector<ChatMessage> messages;
  if (system_option->count() > 0) messages.push_back({.role = "system", .content = system});
  messages.push_back({.role = "user", .content = text});
  ChatOptions options = chat_flags.options();
  options.tools = tools;
  TRY(ChatPrompt rendered, engine.render_chat(messages, options));
  std::vector<TokenId> ids = tokenizer->encode_chat(rendered);
  return ModelInput{.text = std::move(rendered.text), .ids = std::move(ids)};
}

Result<void> RunCommand::show(const Engine& engine, const ModelInput& input) const {
  TRY(const Tokenizer* tokenizer, need_tokenizer(engine));
  std::vector<PromptToken> tokens;
  for (const TokenId id : input.ids) tokens.push_back({id, tokenizer->piece(id, /*special=*/true)});
  if (!json) return print(prompt_view(input.text, tokens));
  using Json = nlohmann::ordered_json;
  Json pieces = Json::array();
  for (const PromptToken& token : tokens) pieces.push_back(std::string(token.piece));
  const Json shown = {
      {"model", engine.info().name}, {"prompt", input.text}, {"tokens", input.ids}, {"pieces", std::move(pieces)}};
  return print(shown.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

// One object per token: {"token": 5, "text": " a", "logprob": -0.1, "top": […]}.
nlohmann::ordered_json logprobs_json(const Engine& engine, const GenerateResult& result) {
  using Json = nlohmann::ordered_json;
  const auto entry = [&](TokenId token, float logprob) {
    const std::string_view text = engine.tokenizer().piece(token, /*special=*/true);
    return Json{{"token", token}, {"text", std::string(text)}, {"logprob", logprob}};
  };
  Json list = Json::array();
  for (size_t i = 0; i < result.logprobs.size(); ++i) {
    Json one = entry(result.tokens[i], result.logprobs[i].chosen);
    one["top"] = Json::array();
    for (const auto& [token, logprob] : result.logprobs[i].top) one["top"].push_back(entry(token, logprob));
    list.push_back(std::move(one));
  }
  return list;
}

Result<void> RunCommand::print_json(const Engine& engine, const std::string& prompt_text, const ModelInput& input,
                                    const GenerateResult& result) const {
  using Json = nlohmann::ordered_json;
  const GenerateStats& s = result.stats;
  Json json_text = {{"model", engine.info().name},
                    {"prompt", prompt_text},
                    {"text", result.text},
                    {"finish", json_finish_name(result.reason)},
                    {"prompt_tokens", s.n_prompt},
                    {"generated_tokens", s.n_generated},
                    {"guessed_tokens", s.n_guessed},
                    {"right_guesses", s.n_guessed_right},
                    {"sampling", sampling_json(all_given(engine.sampling(generation.generate.sample)))},
                    {"seed", generation.generate.sample.seed},
                    {"load_seconds", s.load_seconds},
                    {"prompt_seconds", s.prompt_seconds},
                    {"decode_seconds", s.decode_seconds}};
  if (generation.generate.n_logprobs >= 0) json_text["logprobs"] = logprobs_json(engine, result);
  if (!tools.empty()) {
    TRY_STATUS(add_reply_parts(json_text, engine.chat_format(), input.text, tools, result.text));
  }
  return print(json_text.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

// Explains why the text ends here and how to get more.
void note_full_context(const Engine& engine, const Session& session) {
  const int most = engine.info().n_ctx;
  print_note(format_text("the text ends here because the context of {} tokens is full{}", session.n_ctx(),
                         session.n_ctx() < most ? format_text("; --ctx can be up to {} with this model", most)
                                                : "; --ctx-shift forgets the earlier half and goes on"));
}

Result<void> RunCommand::check_options() const {
  if (chat && no_chat) return fail(ErrorCode::kInvalidArgument, "run: give either --chat or --no-chat, not both");
  if (system_option->count() > 0 && !chat) {
    return fail(ErrorCode::kInvalidArgument, "run: --system needs --chat; or use 'tern chat'");
  }
  if (generation.generate.n_logprobs >= 0 && !json) {
    return fail(ErrorCode::kInvalidArgument, "run: --logprobs needs --json");
  }
  if (!tools_file.empty() && !chat) {
    return fail(ErrorCode::kInvalidArgument, "run: --tools needs --chat");
  }
  if (chat_flags.any() && !chat) {
    return fail(
        ErrorCode::kInvalidArgument,
        "run: --template, --think, --no-think, --reasoning-budget and --parse-special need --chat; or use 'tern "
        "chat'");
  }
  return {};
}

Result<ExitCode> RunCommand::run() {
  TRY_STATUS(check_options());
  TRY_STATUS(generation.read_grammar());
  TRY(const std::string text, read_prompt());
  if (!tools_file.empty()) {
    TRY(tools, read_text(tools_file));
    if (tools.starts_with("\xEF\xBB\xBF")) tools.erase(0, 3);  // a byte order mark, which some editors write
  }
  generation.choose_seed();
  generation.model = &model;
  generation.generate.heal_prompt = !chat && !no_heal;
  TRY(const Engine engine, load(text.size()));
  TRY(const ModelInput input, encode(engine, text));
  if (print_prompt) {
    TRY_STATUS(show(engine, input));
    return ExitCode::kDone;
  }
  if (!tools.empty()) generation.generate.shown_tokens = engine.chat_format().shown_tokens;
  if (chat) generation.generate.thoughts = engine.chat_format().thoughts(input.text, chat_flags.thoughts());
  const std::vector<TokenId>& ids = input.ids;
  TRY(Session session, generation.open_session(engine));
  // The engine checks this too; check here so that an unusable prompt is not printed first.
  if (ids.size() > static_cast<size_t>(session.n_ctx())) {
    return fail(ErrorCode::kInvalidArgument, "the prompt is {} tokens long, but the context holds {}; {}", ids.size(),
                session.n_ctx(), shorten_or_raise_ctx(engine, session));
  }
  note_default_model(model, engine);
  const bool echo = !chat && !no_echo && !json;
  if (echo) TRY_STATUS(print_untrusted(text));
  TRY(const PrintedReply generated, generate_to_output(session, ids, generation.generate, {.silent = json}));
  const Result<void> kept = generation.keep_cache(session);
  const bool ends_line = generated.printed_something ? generated.at_line_start : !echo || text.ends_with('\n');
  if (json) {
    TRY_STATUS(print_json(engine, text, input, generated.result));
  } else if (!ends_line) {
    TRY_STATUS(print("\n"));
  }
  if (stats) print_stats(engine, session, generated.result, generation.generate.sample);
  if (generated.result.reason == FinishReason::kContextFull) note_full_context(engine, session);
  TRY_STATUS(kept);  // reported after the text
  return generated.interrupted ? ExitCode::kInterrupted : ExitCode::kDone;
}

}  // namespace

Command add_run(CLI::App& tern) {
  auto command = std::make_shared<RunCommand>();
  CLI::App* app = add_command(tern, "run", "Text", "Continue a text or, with --chat, answer one question.",
                              "[TEXT | -f FILE] [options]", kRunFooter);
  CLI::Option* positional =
      app->add_option("text", command->words, "The text to continue; several words need no quotes")
          ->option_text("TEXT")
          ->group("Prompt");
  command->prompt_option = app->add_option("-p,--prompt", command->prompt, "The same, as an option")
                               ->type_name("TEXT")
                               ->excludes(positional)
                               ->group("Prompt");
  app->add_option("-f,--file", command->file, "Read the prompt from this file; - is standard input")
      ->type_name("FILE")
      ->excludes(command->prompt_option)
      ->excludes(positional)
      ->check(not_empty())
      ->group("Prompt");
  app->add_flag("--chat", command->chat, "Treat the prompt as a question, in the model's chat template")
      ->group("Prompt");
  command->system_option = app->add_option("--system", command->system, "With --chat: instructions for the model")
                               ->type_name("TEXT")
                               ->group("Prompt");
  app->add_option("--tools", command->tools_file,
                  "With --chat: the functions that the model may call, as a JSON list in the format of OpenAI's API; "
                  "calls are printed as the model writes them, and with --json as \"tool_calls\"")
      ->type_name("FILE")
      ->check(not_empty())
      ->group("Prompt");
  command->chat_flags.add(*app, "Prompt");
  app->add_flag("--no-chat", command->no_chat, "Continue the prompt as plain text, which is the default")
      ->group("Prompt");
  CLI::Option* no_echo =
      app->add_flag("--no-echo", command->no_echo, "Do not print the prompt before the text")->group("Prompt");
  CLI::Option* print_prompt = app->add_flag("--print-prompt", command->print_prompt,
                                            "Print the prompt as the model reads it and its token ids, and generate "
                                            "nothing")
                                  ->excludes(no_echo)
                                  ->group("Prompt");
  command->generation.add(*app, "Tokens to generate (default: until the model stops or the context is full)");
  command->model.add_model(*app);
  command->model.add_backend(*app);
  app->add_flag("--no-heal", command->no_heal,
                "Treat the prompt's last word as complete; by default 'The cap' may become 'The capital'")
      ->group("Prompt");
  app->add_option("--logprobs", command->generation.generate.n_logprobs,
                  "With --json: the log probability of each token and of the N most likely tokens at its position")
      ->type_name("N")
      ->check(in_range(0, 1000, /*whole=*/true))
      ->group("Other");
  app->add_flag("--json", command->json,
                "Print one JSON object at the end: text, token counts, times, why it ended; with --print-prompt: the "
                "prompt, its tokens and their texts")
      ->group("Other");
  app->add_flag("--stats", command->stats, "Print speeds, seed and memory use at the end")
      ->excludes(print_prompt)
      ->group("Other");
  return {.app = app, .run = [command, positional] {
            if (positional->count() > 0) {
              command->prompt = joined_words(command->words);
              command->prompt_option = positional;
            }
            return command->run();
          }};
}

}  // namespace tern::cli
