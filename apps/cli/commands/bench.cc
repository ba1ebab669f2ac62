// tern bench: how fast a model runs on this machine.
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/result.h"
#include "cli/bench/bench_energy.h"
#include "cli/bench/bench_kernels.h"
#include "cli/bench/bench_ops.h"
#include "cli/bench/bench_url.h"
#include "cli/commands/commands.h"
#include "cli/terminal/help.h"
#include "cli/terminal/layout.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress_bar.h"
#include "cli/terminal/terminal.h"
#include "tern/tools.h"

namespace tern::cli {
namespace {

constexpr const char* kBenchFooter = R"(Examples
  tern bench                                      the model that comes with Tern
  tern bench -m model.gguf -t 8 -p 512 -n 128
  tern bench -o json > before.json
  tern bench -m model.gguf -N 8                   eight replies at once, sharing each read of the weights
  tern bench --energy -n 256                      with the energy that the processor used
  tern bench ops -b webgpu -n 512                 each operation of one token, after 512 others
  tern bench kernels --shape 4096x4096 -t 1       ways to multiply by a ternary matrix on this CPU
  tern bench --url http://127.0.0.1:8080 --clients 8
  tern bench --url http://127.0.0.1:8080 --rate 2 --seconds 60 --deadline-ttft 500 --deadline-itl 50 --svg load.svg

Prefill computes the prompt; decode generates one token after another. Decoding reads all weights for each token, so it
cannot be faster than memory; the 'memory' line shows how close it comes.

--energy reads the processor's counters (RAPL, through powercap or perf) before and after each part. They count the whole
processor with all programs, and memory if it has a counter, but not a GPU. On most systems only root may read them.

'bench ops' times every dispatch of one token on the GPU, or with -N of a step that generates one token for each of N
replies. 'alone' is the same work in one submit, with nothing else running; its weights may come from the GPU's cache.

'bench kernels' needs no model. It packs one random matrix in several ways (floats, two bits per weight, base 3 with five
weights per byte), multiplies by each, checks the results, and prints how much each reads and how fast it is.

'bench --url' measures any server with OpenAI's API, with streamed replies at temperature 0. --clients shows the server's
throughput. --rate shows how long independent users wait: the time of a request begins when it arrives, even if it could
not be sent at once. Each request has its own connection. Failed requests count in no time and no rate. The lines below
the table explain the figures.
)";

struct BenchCommand {
  ModelOptions model;
  BenchOptions options;
  KernelsCommand kernels;
  UrlCommand url;
  std::string what;
  std::string format = "table";
  bool as_json = false;
  const CLI::App* app = nullptr;
  const CLI::Option* generate = nullptr;
  const CLI::Option* repeats = nullptr;
  const CLI::Option* prompt = nullptr;

  Result<ExitCode> run();
  Result<ExitCode> run_ops(const Engine& engine);
};

std::string table(const ModelInfo& info, const BenchOptions& options, const BenchResult& result, const Style& style) {
  const auto row = [](std::string_view name, const Spread& spread, const std::string& what) {
    return format_text("  {}{}{}{}   {}\n", pad(name, 9), pad_left(human_number(spread.median), 10),
                       pad_left(human_number(spread.min), 10), pad_left(human_number(spread.max), 10), what);
  };
  std::string text = style.bold(describe(info)) + "\n\n";
  if (!info.choice.empty()) text += format_text("  {}\n\n", one_line(info.choice));
  text += style.dim("  tokens/s     median       min       max") + "\n";
  const std::string at_once = options.n_parallel > 1 ? format_text("{} times ", options.n_parallel) : "";
  text +=
      row("prefill", result.prefill, format_text("{}{} tokens, {} runs", at_once, options.n_prompt, options.repeats));
  text +=
      row("decode", result.decode, format_text("{}{} tokens, {} runs", at_once, options.n_generate, options.repeats));
  if (options.n_parallel > 1) return text;
  text += format_text("\n  weights  {} read per token; KV cache in {}\n", human_bytes(result.bytes_per_token),
                      kv_name(options.kv_type));
  text += format_text("  memory   {} GB/s while decoding", human_number(result.decode_gb_per_s));
  if (result.machine_gb_per_s > 0) {
    text += format_text("; this machine reads {} GB/s ({:.0f} %)", human_number(result.machine_gb_per_s),
                        100 * result.decode_gb_per_s / result.machine_gb_per_s);
  }
  return text + "\n" + bench_energy_table(result, info.adapter.has_value(), style);
}

nlohmann::ordered_json spread_json(const Spread& spread) {
  return {{"median", spread.median}, {"min", spread.min}, {"max", spread.max}};
}

std::string json(const ModelInfo& info, const BenchOptions& options, const BenchResult& result) {
  using Json = nlohmann::ordered_json;
  Json json = {{"tern", version()},
               {"model", info.path},
               {"name", info.name},
               {"architecture", info.architecture},
               {"parameters", info.n_params},
               {"backend", info.backend},
               {"choice", info.choice.empty() ? Json(nullptr) : Json(info.choice)},
               {"head", info.head},
               {"kv", kv_name(options.kv_type)},
               {"n_prompt", options.n_prompt},
               {"n_generate", options.n_generate},
               {"repeats", options.repeats},
               {"parallel", options.n_parallel},
               {"prefill_tokens_per_s", spread_json(result.prefill)},
               {"decode_tokens_per_s", spread_json(result.decode)},
               {"bytes_per_token", result.bytes_per_token},
               {"decode_gb_per_s", result.decode_gb_per_s},
               {"machine_gb_per_s", result.machine_gb_per_s}};
  add_bench_energy(json, result);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<ExitCode> BenchCommand::run_ops(const Engine& engine) {
  OpBenchOptions ops{.kv_type = options.kv_type, .n_parallel = options.n_parallel};
  if (generate->count() > 0) ops.pos = options.n_generate;
  if (repeats->count() > 0) ops.repeats = options.repeats;
  TRY(const OpBenchResult result, bench_ops(engine, ops));
  const Style style = Style::of(STDOUT_FILENO);
  TRY_STATUS(print(format == "json" ? bench_ops_json(engine.info(), ops, result)
                                    : bench_ops_table(engine.info(), ops, result, style)));
  return ExitCode::kDone;
}

Result<ExitCode> BenchCommand::run() {
  if (as_json) format = "json";
  if (url.is_given()) return url.run(*app, model.load.model_path, format == "json");
  TRY_STATUS(url.check_unused());
  if (what == "kernels")
    return kernels.run(*app, model.load.n_threads, repeats->count() > 0 ? options.repeats : 0, format);
  TRY_STATUS(kernels.check_unused());
  if (what == "ops" && prompt->count() > 0)
    return fail(ErrorCode::kInvalidArgument,
                "bench ops reads no prompt; use -n to say how many tokens come before the timed one");
  if (what == "ops" && options.energy)
    return fail(ErrorCode::kInvalidArgument, "bench ops cannot measure energy: a single operation is too short");
  model.load.job = {.n_prompt = options.n_prompt, .n_generate = options.n_generate, .n_parallel = options.n_parallel};
  TRY(const Engine engine, load_engine(model));
  if (what == "ops") return run_ops(engine);
  ProgressBar bar;
  options.on_progress = bar.callback();
  TRY(const BenchResult result, bench(engine, options));
  bar.wipe();
  const Style style = Style::of(STDOUT_FILENO);
  TRY_STATUS(
      print(format == "json" ? json(engine.info(), options, result) : table(engine.info(), options, result, style)));
  return ExitCode::kDone;
}

}  // namespace

Command add_bench(CLI::App& tern) {
  auto command = std::make_shared<BenchCommand>();
  CLI::App* app = add_command(tern, "bench", "Measure and check",
                              "Measure tokens per second, and how close that comes to what memory allows.",
                              "[ops|kernels|--url URL] [-p N] [-n N] [-r N] [options]", kBenchFooter);
  command->app = app;
  app->add_option("what", command->what,
                  "ops: time the operations of one token instead (-b webgpu); kernels: compare ways to multiply, "
                  "without a model")
      ->option_text("ops|kernels")
      ->check(one_of({"ops", "kernels"}))
      ->group("Measure");
  command->prompt = app->add_option("-p,--prompt", command->options.n_prompt, "Prompt tokens to read (default 128)")
                        ->type_name("N")
                        ->check(in_range(1, 1 << 20, /*whole=*/true))
                        ->group("Measure");
  command->generate =
      app->add_option("-n,--generate", command->options.n_generate,
                      "Tokens to generate (default 32); for ops, tokens before the one that is timed (default 0)")
          ->type_name("N")
          ->check(in_range(1, 1 << 20, /*whole=*/true))
          ->group("Measure");
  command->repeats = app->add_option("-r,--repeats", command->options.repeats,
                                     "Number of runs (default 5; ops: 20; kernels: as many as fit into half a second)")
                         ->type_name("N")
                         ->check(in_range(1, 10000, /*whole=*/true))
                         ->group("Measure");
  app->add_option("-N,--parallel", command->options.n_parallel,
                  "Replies to generate at the same time; rates are those of all together (default 1)")
      ->type_name("N")
      ->check(in_range(1, 1024, /*whole=*/true))
      ->group("Measure");
  app->add_flag("--energy", command->options.energy,
                "Also measure the processor's joules per token and watts, where its counters can be read")
      ->group("Measure");
  command->kernels.add(*app);
  command->url.add(*app);
  app->add_option("-o,--output", command->format, "table or json (default table)")
      ->type_name("FORM")
      ->check(one_of({"table", "json"}))
      ->group("Output");
  app->add_flag("--json", command->as_json, "The same as -o json")->group("Output");
  command->model.add_model(*app);
  CLI::Option* const name = app->get_option("--model");
  name->description(name->get_description() + "; with --url, the name of the server's model");
  command->model.add_backend(*app);
  add_kv(*app, command->options.kv_type);
  return {.app = app, .run = [command] { return command->run(); }};
}

}  // namespace tern::cli
