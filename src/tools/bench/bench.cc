// Measures tokens per second, as a user of Session::generate sees them.
#include <algorithm>
#include <chrono>

#include "base/result.h"
#include "engine/engine_impl.h"
#include "tern/scheduler.h"
#include "tern/tools.h"
#include "tools/bench/memory_bandwidth.h"
#include "tools/bench/spread.h"
#include "tools/energy/energy.h"
#include "tools/energy/energy_meter.h"
#include "tools/random_values.h"

namespace tern {
namespace {

Result<void> check_arguments(const Engine& engine, const BenchOptions& o) {
  if (o.n_prompt < 0 || o.n_generate < 0 || o.repeats < 1) {
    return fail(
        ErrorCode::kInvalidArgument,
        "bench: {} prompt tokens, {} generated and {} runs; counts cannot be negative, and at least one run is needed",
        o.n_prompt, o.n_generate, o.repeats);
  }
  if (o.n_prompt == 0 && o.n_generate == 0) {
    return fail(ErrorCode::kInvalidArgument,
                "bench: no prompt tokens and no generated tokens; give at least one of them");
  }
  if (o.n_parallel < 1)
    return fail(ErrorCode::kInvalidArgument, "bench: {} replies at a time; give at least one", o.n_parallel);
  if (o.n_parallel > 1 && o.energy)
    return fail(ErrorCode::kInvalidArgument, "bench: energy is measured of one reply at a time only");
  const int64_t wanted = int64_t{std::max(o.n_prompt, 1)} + o.n_generate;
  if (wanted > engine.info().n_ctx) {
    return fail(ErrorCode::kInvalidArgument,
                "bench: {} prompt and {} generated tokens, but the context of {} holds {}; give fewer", o.n_prompt,
                o.n_generate, engine.info().name, engine.info().n_ctx);
  }
  return {};
}

// Any tokens work: the time does not depend on them.
std::vector<TokenId> random_tokens(int n, int n_vocab, uint64_t seed = 1) {
  const CounterRandom random(seed);
  std::vector<TokenId> tokens;
  for (int i = 0; i < n; ++i) {
    tokens.push_back(static_cast<TokenId>(random(static_cast<uint64_t>(i)) % static_cast<uint64_t>(n_vocab)));
  }
  return tokens;
}

struct Rates {
  std::vector<double> prefill, decode;  // tokens/s, one per run
};

// Evaluates the prompt from scratch and generates. The first sampled token belongs to the prompt, so one more token is
// sampled than decoded.
Result<void> run_once(Session& session, std::span<const TokenId> prompt, int n_generate, Rates& rates,
                      EnergyMeter& energy) {
  session.reset();
  GenerateOptions options;
  options.max_tokens = n_generate + 1;
  options.ignore_eos = true;
  options.sample.temperature = 0;
  energy.begin();
  TRY(Generation generation, session.begin(prompt, options));
  for (bool is_read = false; !generation.done();) {
    TRY(const GenerationStep step, generation.next());
    if (!is_read && step.token) {
      energy.end_prefill(static_cast<int>(prompt.size()));
      is_read = true;
    }
  }
  const GenerateStats& stats = generation.result().stats;
  const int n_decoded = stats.n_generated - 1;
  energy.end_decode(n_decoded);
  if (stats.prompt_seconds > 0) rates.prefill.push_back(stats.n_prompt / stats.prompt_seconds);
  if (n_decoded > 0 && stats.decode_seconds > 0) rates.decode.push_back(n_decoded / stats.decode_seconds);
  return {};
}

// Runs all replies of one run together. Prefill lasts until each has its first token; the rest is decode.
Result<void> run_parallel(const Engine& engine, const BenchOptions& options, int run, Rates& rates) {
  const int n_ctx = std::max(options.n_prompt, 1) + options.n_generate + 1;
  TRY(Scheduler scheduler, engine.new_scheduler({.n_ctx = std::min(n_ctx, engine.info().n_ctx),
                                                 .kv_type = options.kv_type,
                                                 .max_replies = options.n_parallel}));
  GenerateOptions generate{.max_tokens = options.n_generate + 1, .ignore_eos = true};
  generate.sample.temperature = 0;
  int n_begun = 0;
  int64_t n_tokens = 0;
  std::optional<Error> error;
  for (int i = 0; i < options.n_parallel; ++i) {
    const auto seed = static_cast<uint64_t>(run * options.n_parallel + i + 1);  // no two prompts share a prefix
    const auto prompt = random_tokens(std::max(options.n_prompt, 1), engine.info().n_vocab, seed);
    TRY_STATUS(scheduler.submit(prompt, generate, [&, is_first = true](const auto& step, const auto&) mutable {
      if (!step) error = step.error();
      if (!step || !step->token) return;
      n_begun += is_first ? 1 : 0;
      is_first = false;
      ++n_tokens;
    }));
  }
  const auto now = [] { return std::chrono::steady_clock::now(); };
  const auto start = now();
  while (n_begun < options.n_parallel && scheduler.step()) {
  }
  const auto all_begun = now();
  const int64_t n_before = n_tokens;
  while (scheduler.step()) {
  }
  if (error) return std::unexpected(std::move(*error));
  const auto seconds = [](auto from, auto to) { return std::chrono::duration<double>(to - from).count(); };
  rates.prefill.push_back(options.n_prompt * options.n_parallel / seconds(start, all_begun));
  const auto n_decoded = static_cast<double>(n_tokens - n_before);
  if (n_decoded > 0) rates.decode.push_back(n_decoded / seconds(all_begun, now()));
  return {};
}

void note_run(const BenchOptions& options, int run) {
  if (!options.on_progress) return;
  options.on_progress({.what = "measuring",
                       .done = static_cast<uint64_t>(run) + 1,
                       .total = static_cast<uint64_t>(options.repeats) + 1,
                       .unit = "runs"});
}

Result<BenchResult> bench_parallel(const Engine& engine, const BenchOptions& options) {
  Rates warm_up, rates;
  for (int run = 0; run <= options.repeats; ++run) {
    TRY_STATUS(run_parallel(engine, options, run, run > 0 ? rates : warm_up));
    note_run(options, run);
  }
  BenchResult result;
  result.prefill = spread_of(std::move(rates.prefill));
  result.decode = spread_of(std::move(rates.decode));
  result.bytes_per_token = engine.info().bytes_per_token;
  return result;
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const size_t middle = values.size() / 2;
  const double median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {.median = median, .min = values.front(), .max = values.back()};
}

Result<BenchResult> bench(const Engine& engine, const BenchOptions& options) {
  if (!options.energy) return bench_with(engine, options, nullptr);
  const auto reader = open_energy_reader();
  TRY(BenchResult result, bench_with(engine, options, reader ? reader->get() : nullptr));
  if (!reader) result.energy = BenchEnergy{.source = {}, .reason = reader.error().message, .prefill = {}, .decode = {}};
  return result;
}

Result<BenchResult> bench_with(const Engine& engine, const BenchOptions& options, EnergyReader* reader) {
  TRY_STATUS(check_arguments(engine, options));
  if (options.n_parallel > 1) return bench_parallel(engine, options);
  const auto prompt = random_tokens(std::max(options.n_prompt, 1), engine.info().n_vocab);
  TRY(Session session, engine.new_session({.n_ctx = static_cast<int>(prompt.size()) + options.n_generate,
                                           .kv_type = options.kv_type,
                                           .share_prefixes = false}));  // every run evaluates the prompt
  Rates warm_up, rates;
  EnergyMeter no_energy(nullptr), energy(reader);
  for (int run = 0; run <= options.repeats; ++run) {
    const bool counts = run > 0;
    TRY_STATUS(run_once(session, prompt, options.n_generate, counts ? rates : warm_up, counts ? energy : no_energy));
    note_run(options, run);
  }
  BenchResult result;
  if (reader) {
    result.energy = energy.result();
    if (options.n_prompt == 0) result.energy->prefill.reset();
  }
  if (options.n_prompt > 0) result.prefill = spread_of(std::move(rates.prefill));
  result.decode = spread_of(std::move(rates.decode));
  result.bytes_per_token = engine.info().bytes_per_token;
  result.decode_gb_per_s = static_cast<double>(result.bytes_per_token) * result.decode.median / 1e9;
  const BackendKind backend = EngineAccess::impl(engine).backend;
  if (!options.memory || backend == BackendKind::kWebGpu || backend == BackendKind::kBoth) return result;
  result.machine_gb_per_s = measure_read_bandwidth(*EngineAccess::impl(engine).pool, bandwidth_buffer_bytes()) / 1e9;
  return result;
}

}  // namespace tern
