// tern batch: many requests from a file.
#include "server/api/batches/batch.h"

#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>

#include "base/result.h"
#include "cli/commands/commands.h"
#include "cli/flags/reply_flags.h"
#include "cli/flags/serve_options.h"
#include "cli/support/batch_rank.h"
#include "cli/terminal/help.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress_bar.h"
#include "server/api/batches/batch_share.h"

namespace tern::cli {
namespace {

constexpr const char* kBatchFooter = R"(Examples
  tern batch questions.jsonl answers.jsonl -m model.gguf
  tern batch texts.jsonl vectors.jsonl -m embedder.gguf --embedding
  mpirun -n 4 tern batch questions.jsonl answers.jsonl --share /shared/batch-1

Each line of the input is a request to 'tern serve', in OpenAI's batch format:
  {"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": {"messages": [...]}}
Each line of the output is an answer: {"custom_id": "1", "response": {"status_code": 200, "body": {...}}, ...}. Answers are
written in the order in which they are finished. An invalid request is answered with its error.

If the program is interrupted, the same command continues: answers in the output stay, and each request gets exactly one.
With --share, many programs answer one batch, on any machines that can access the folder. Each takes a few requests at a
time, and also those of programs that died; the last one writes the output. Exit codes: 0 all are answered, 1 something
failed, 130 Ctrl-C.
)";

struct BatchCommand {
  ModelOptions model;
  server::ServedModelOptions served;
  server::BatchOptions batch;
  server::ShareOptions share;
  double lease_seconds = 60;
  bool only_merge = false;
  bool quiet = false;
  ProgressBar bar = {};

  Result<ExitCode> run();
  Result<ExitCode> answer(server::ServedModel& ready, const std::stop_token& stop);
  Result<ExitCode> answer_shared(server::ServedModel& ready, const std::stop_token& stop);
  Result<void> settle_share();
  void note_how_many(const server::BatchResult& result) const;
};

// Sets this worker's name and rank.
Result<void> BatchCommand::settle_share() {
  if (batch.in == "-") return fail(ErrorCode::kInvalidArgument, "IN: standard input cannot be shared; name a file");
  share.lease = std::chrono::milliseconds(static_cast<int64_t>(lease_seconds * 1000));
  if (share.rank >= 0) {
    if (share.n_ranks > 0 && share.rank >= share.n_ranks) {
      return fail(ErrorCode::kInvalidArgument, "--rank: {} is too large; with --of {} the last is {}", share.rank,
                  share.n_ranks, share.n_ranks - 1);
    }
    share.worker = format_text("rank-{}", share.rank);
    return {};
  }
  const std::optional<BatchRank> told = rank_in_environment([](const char* name) { return std::getenv(name); });
  const BatchRank found = told.value_or(BatchRank{.worker = worker_of_process()});
  share.worker = found.worker;
  share.rank = found.rank;
  share.n_ranks = found.n_ranks;
  return {};
}

void BatchCommand::note_how_many(const server::BatchResult& result) const {
  if (quiet) return;
  const std::string there = result.n_there > 0 ? format_text(", {} before", result.n_there) : "";
  const std::string wrong = result.n_wrong > 0 ? format_text(", {} of them with an error", result.n_wrong) : "";
  print_note(format_text("{} of {} requests answered{}{}", result.n_answered, result.n, wrong, there));
}

Result<ExitCode> BatchCommand::answer(server::ServedModel& ready, const std::stop_token& stop) {
  const auto result = server::run_batch(ready, batch, stop);
  bar.wipe();
  if (!result) return std::unexpected(result.error());
  note_how_many(*result);
  return result->is_complete() ? ExitCode::kDone : ExitCode::kInterrupted;
}

Result<ExitCode> BatchCommand::answer_shared(server::ServedModel& ready, const std::stop_token& stop) {
  const auto result = server::run_shared_batch(ready, batch, share, stop);
  bar.wipe();
  if (!result) return std::unexpected(result.error());
  note_how_many(result->own);
  return result->is_complete ? ExitCode::kDone : ExitCode::kInterrupted;
}

Result<ExitCode> BatchCommand::run() {
  const bool is_shared = !share.folder.empty();
  if (is_shared) TRY_STATUS(settle_share());
  if (only_merge) {
    TRY(const size_t n, server::merge_batch(batch, share.folder));
    if (!quiet) print_note(format_text("{} answers in {}", n, batch.out));
    return ExitCode::kDone;
  }
  StopOnInterrupt interrupt(InterruptPipe::kAnyEnd);
  TRY(const Engine engine, load_engine(model));
  const ModelInfo& info = engine.info();
  const std::string file = std::filesystem::path(info.path).filename().string();
  served.names = {file.substr(0, file.rfind('.')), file, info.name, info.path};
  served.service.max_waiting = std::numeric_limits<int>::max() / 2;
  batch.n_at_once = served.service.scheduler.max_replies;
  served.defaults.speculate = drafts_of(served.defaults.speculate, served.service.scheduler.draft_block);
  TRY(const std::unique_ptr<server::ServedModel> ready, server::ServedModel::start(engine, served));
  if (!quiet) {
    batch.on_progress = [this](size_t n_done, size_t n) {
      bar.show({.what = "answering", .done = n_done, .total = n, .unit = "requests"});
    };
  }
  return is_shared ? answer_shared(*ready, interrupt.token()) : answer(*ready, interrupt.token());
}

void add_share(CLI::App& app, BatchCommand& command) {
  constexpr const char* kGroup = "Many programs";
  constexpr double kMost = std::numeric_limits<int>::max();
  CLI::Option* share =
      app.add_option("--share", command.share.folder,
                     "Share the batch with other programs through this folder; use a new one for each batch")
          ->type_name("DIR")
          ->check(not_empty())
          ->group(kGroup);
  command.share.rank = -1;
  CLI::Option* rank = app.add_option("--rank", command.share.rank,
                                     "The number of this program, from 0 (default: from MPI's or Slurm's environment)")
                          ->type_name("N")
                          ->check(in_range(0, kMost, /*whole=*/true))
                          ->needs(share)
                          ->group(kGroup);
  app.add_option("--of", command.share.n_ranks,
                 "How many programs there are; each begins in another part of the requests")
      ->type_name("N")
      ->check(in_range(1, kMost, /*whole=*/true))
      ->needs(rank)
      ->group(kGroup);
  app.add_option("--lease", command.lease_seconds,
                 "Take over the requests of programs that have been silent for this long (default 60)")
      ->type_name("SECONDS")
      ->check(in_range(1, 86400))
      ->needs(share)
      ->group(kGroup);
  app.add_flag("--merge", command.only_merge,
               "Only merge the answers of all programs; the last program does this by itself")
      ->needs(share)
      ->group(kGroup);
}

}  // namespace

Command add_batch(CLI::App& tern) {
  auto command = std::make_shared<BatchCommand>();
  CLI::App* app = add_command(tern, "batch", "Serve", "Answer many requests from a file into another.",
                              "IN OUT [options]", kBatchFooter);
  app->add_option("in", command->batch.in, "The requests, one per line; - is standard input")
      ->option_text("IN")
      ->required()
      ->check(not_empty())
      ->group("Files");
  app->add_option("out", command->batch.out, "The file to which the answers are appended")
      ->option_text("OUT")
      ->required()
      ->check(not_empty())
      ->group("Files");
  add_share(*app, *command);
  command->model.add_model(*app);
  command->model.add_backend(*app);
  constexpr double kMost = std::numeric_limits<int>::max();
  SchedulerOptions& scheduler = command->served.service.scheduler;
  app->add_option("-c,--ctx", scheduler.n_ctx,
                  "Context size of a conversation, in tokens (default: the model's trained length)")
      ->type_name("N")
      ->check(in_range(1, kMost, /*whole=*/true))
      ->group("Parallelism");
  app->add_option("--parallel", scheduler.max_replies, "Answers to generate at the same time (default 64); also -np")
      ->type_name("N")
      ->check(in_range(1, 4096, /*whole=*/true))
      ->group("Parallelism");
  add_kv(*app, scheduler.kv_type);
  server::ReplyDefaults& defaults = command->served.defaults;
  add_drafts(*app, defaults.speculate, scheduler.draft_block, "Parallelism");
  app->add_option("-n,--max-tokens", defaults.max_tokens,
                  "Maximum tokens of an answer, if its request does not set them")
      ->type_name("N")
      ->check(in_range(-1, kMost, /*whole=*/true))
      ->group("Length");
  add_sampling(*app, defaults.sample);
  add_seed(*app, [command](std::optional<uint64_t> seed) {
    command->served.defaults.has_seed = seed.has_value();
    command->served.defaults.sample.seed = seed.value_or(0);
  });
  app->add_flag("--embedding,--embeddings", command->model.load.embeddings,
                "Answer requests for embeddings (/v1/embeddings)")
      ->group("Files");
  app->add_flag("-q,--quiet", command->quiet, "Print errors only")->group("Other");
  return {.app = app, .run = [command] { return command->run(); }};
}

}  // namespace tern::cli
