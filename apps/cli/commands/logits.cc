// tern logits: writes the model's raw output, for comparison with other programs.
#include <memory>

#include "base/result.h"
#include "cli/commands/commands.h"
#include "cli/terminal/help.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/progress_bar.h"
#include "tern/tools.h"

namespace tern::cli {
namespace {

constexpr const char* kLogitsFooter = R"~(Examples
  tern logits --tokens 1,15,204 -o logits.npy
  tern logits -p "Once upon a time" -o logits.npy
  python3 -c "import numpy; print(numpy.load('logits.npy').argmax(1))"
)~";

struct LogitsCommand {
  ModelOptions model;
  SessionOptions session;
  std::string tokens;
  std::string prompt;
  std::string out_path;
  CLI::Option* tokens_option = nullptr;
  CLI::Option* prompt_option = nullptr;

  Result<std::vector<TokenId>> input(const Engine& engine) const;
  Result<ExitCode> run() const;
};

Result<std::vector<TokenId>> LogitsCommand::input(const Engine& engine) const {
  if (tokens_option->count() > 0) return parse_token_ids(tokens, engine.info().n_vocab);
  TRY(const Tokenizer* tokenizer, need_tokenizer(engine));
  return tokenizer->encode(prompt);
}

Result<ExitCode> LogitsCommand::run() const {
  if (tokens_option->count() + prompt_option->count() == 0) {
    return fail(ErrorCode::kInvalidArgument, "logits: give --tokens 1,2,3 or -p TEXT");
  }
  TRY(const Engine engine, load_engine(model));
  TRY(const std::vector<TokenId> ids, input(engine));
  if (ids.empty()) return fail(ErrorCode::kInvalidArgument, "no tokens: give at least one with --tokens or -p");
  TRY(Session context, engine.new_session(session));
  if (ids.size() > static_cast<size_t>(context.n_ctx())) {
    return fail(ErrorCode::kInvalidArgument, "the input is {} tokens long and the context holds {}; {}", ids.size(),
                context.n_ctx(), shorten_or_raise_ctx(engine, context));
  }
  TRY(NpyWriter writer, NpyWriter::create(out_path, ids.size(), static_cast<size_t>(engine.info().n_vocab)));
  ProgressBar bar;
  StopOnInterrupt stop;
  const auto on_row = [&](size_t i, std::span<const float> row) -> Result<void> {
    if (stop.interrupted()) return fail(ErrorCode::kIo, "{}: interrupted; nothing was kept", out_path);
    bar.show({.what = "logits", .done = i + 1, .total = ids.size(), .unit = "tokens"});
    return writer.append(row);
  };
  const Result<void> computed = context.logits(ids, on_row);
  if (!computed && stop.interrupted()) return ExitCode::kInterrupted;  // the writer deletes its partial file
  if (!computed) return std::unexpected(computed.error());
  TRY_STATUS(writer.finish());
  return ExitCode::kDone;
}

}  // namespace

Command add_logits(CLI::App& tern) {
  auto command = std::make_shared<LogitsCommand>();
  CLI::App* app = add_command(tern, "logits", "Tokens",
                              "Write the logits after each token to a NumPy file, float32 [tokens, vocabulary].",
                              "(--tokens 1,2,3 | -p TEXT) -o FILE [options]", kLogitsFooter);
  command->tokens_option = app->add_option("--tokens", command->tokens, "Token ids; works on files without a tokenizer")
                               ->type_name("IDS")
                               ->group("Input");
  command->prompt_option = app->add_option("-p,--prompt", command->prompt, "Text to tokenize")
                               ->type_name("TEXT")
                               ->excludes(command->tokens_option)
                               ->group("Input");
  app->add_option("-c,--ctx", command->session.n_ctx, "Context size in tokens (default: the model's trained length)")
      ->type_name("N")
      ->check(in_range(1, 1 << 30, /*whole=*/true))
      ->group("Input");
  app->add_option("-o,--output", command->out_path, "NumPy file to write")
      ->type_name("FILE")
      ->check(not_empty())
      ->required()
      ->group("Output");
  command->model.add_model(*app);
  command->model.add_backend(*app);
  add_kv(*app, command->session.kv_type);
  return {.app = app, .run = [command] { return command->run(); }};
}

}  // namespace tern::cli
