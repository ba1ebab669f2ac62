// tern batch: many requests from a file.
#include "server/api/batch.h"

#include <limits>
#include <memory>

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/progress_bar.h"
#include "cli/reply_flags.h"

namespace tern::cli {
namespace {

constexpr const char* kBatchFooter = R"(Examples
  tern batch questions.jsonl answers.jsonl -m model.gguf
  tern batch texts.jsonl vectors.jsonl -m embedder.gguf --embedding

A line of the input is a request as 'tern serve' answers it, in OpenAI's batch format:
  {"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": {"messages": [...]}}
and a line of the output {"custom_id": "1", "response": {"status_code": 200, "body": {...}}, ...}. The lines come in the
order in which they are done. A request that is wrong gets its error, and the others go on.

Whatever ends the program, the same command goes on where it was: answers that are in the output stay, and each request
gets exactly one. Exit code 0 when all are answered, 1 where something failed, 130 after Ctrl-C.
)";

struct BatchCommand {
  ModelOptions model;
  server::ServedModelOptions served;
  server::BatchOptions batch;
  bool quiet = false;

  Result<ExitCode> run();
};

Result<ExitCode> BatchCommand::run() {
  StopOnInterrupt interrupt(InterruptPipe::kAnyEnd);
  TERN_TRY(const Engine engine, load_engine(model));
  const ModelInfo& info = engine.info();
  const std::string file = info.path.substr(info.path.rfind('/') + 1);
  served.names = {file.substr(0, file.rfind('.')), file, info.name, info.path};
  served.service.max_waiting = std::numeric_limits<int>::max() / 2;
  batch.n_at_once = served.service.scheduler.max_replies;
  TERN_TRY(const std::unique_ptr<server::ServedModel> ready, server::ServedModel::start(engine, served));
  ProgressBar bar;
  if (!quiet) {
    batch.on_progress = [&](size_t n_done, size_t n) {
      bar.show({.what = "answering", .done = n_done, .total = n, .unit = "requests"});
    };
  }
  const Result<server::BatchResult> result = server::run_batch(*ready, batch, interrupt.token());
  bar.wipe();
  if (!result) return std::unexpected(result.error());
  if (!quiet) {
    const std::string there = result->n_there > 0 ? format_text(", {} before", result->n_there) : "";
    const std::string wrong = result->n_wrong > 0 ? format_text(", {} of them with an error", result->n_wrong) : "";
    print_note(format_text("{} of {} requests answered{}{}", result->n_answered, result->n, wrong, there));
  }
  return result->is_complete() ? ExitCode::kDone : ExitCode::kInterrupted;
}

}  // namespace

Command add_batch(CLI::App& tern) {
  auto command = std::make_shared<BatchCommand>();
  CLI::App* app = add_command(tern, "batch", "Serve", "Answer many requests from a file into another.",
                              "IN OUT [options]", kBatchFooter);
  app->add_option("in", command->batch.in, "The requests, one a line; - is standard input")
      ->option_text("IN")
      ->required()
      ->check(not_empty())
      ->group("Files");
  app->add_option("out", command->batch.out, "The answers, which are added to those that it has")
      ->option_text("OUT")
      ->required()
      ->check(not_empty())
      ->group("Files");
  command->model.add_model(*app);
  command->model.add_backend(*app);
  constexpr double kMost = std::numeric_limits<int>::max();
  SchedulerOptions& scheduler = command->served.service.scheduler;
  app->add_option("-c,--ctx", scheduler.n_ctx,
                  "Most tokens of a conversation (default: what the model was trained for)")
      ->type_name("N")
      ->check(in_range(1, kMost, /*whole=*/true))
      ->group("How many at once");
  app->add_option("--parallel", scheduler.max_replies, "Answers that are written at a time (default 64); also -np")
      ->type_name("N")
      ->check(in_range(1, 4096, /*whole=*/true))
      ->group("How many at once");
  add_kv(*app, scheduler.kv_type);
  server::ReplyDefaults& defaults = command->served.defaults;
  app->add_option("-n,--max-tokens", defaults.max_tokens, "Tokens of an answer, where a request does not say")
      ->type_name("N")
      ->check(in_range(-1, kMost, /*whole=*/true))
      ->group("Length");
  add_sampling(*app, defaults.sample);
  add_seed(*app, [command](std::optional<uint64_t> seed) {
    command->served.defaults.has_seed = seed.has_value();
    command->served.defaults.sample.seed = seed.value_or(0);
  });
  app->add_flag("--embedding,--embeddings", command->model.load.embeddings, "For requests for vectors, /v1/embeddings")
      ->group("Files");
  app->add_flag("-q,--quiet", command->quiet, "Print errors only")->group("Other");
  return {.app = app, .run = [command] { return command->run(); }};
}

}  // namespace tern::cli
