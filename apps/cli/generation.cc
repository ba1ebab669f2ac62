#include "cli/generation.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <limits>
#include <random>

#include "cli/gpu_stats.h"
#include "cli/help.h"
#include "cli/interrupt.h"
#include "cli/layout.h"
#include "cli/output.h"
#include "cli/terminal.h"

namespace tern::cli {
namespace {

constexpr double kMaxInt = std::numeric_limits<int>::max();

void add_sampling(CLI::App& app, SampleOptions& sample) {
  const auto add = [&](const char* name, auto& value, double low, double high, const char* type, const char* help) {
    app.add_option(name, value, help)->type_name(type)->check(in_range(low, high))->group("Sampling");
  };
  add("--temp", sample.temperature, 0, 100, "X", "Temperature: 0 always takes the likeliest token (default 0.7)");
  add("--top-k", sample.top_k, 0, kMaxInt, "N", "Choose among the N likeliest tokens; 0: all (default 40)");
  add("--top-p", sample.top_p, 1e-6, 1, "X",
      "Choose among the likeliest that have this probability together (default 1)");
  add("--min-p", sample.min_p, 0, 1, "X", "Drop tokens less likely than this fraction of the likeliest (default 0)");
  add("--repeat-penalty", sample.repeat_penalty, 0.01, 100, "X", "Make seen tokens less likely; 1: off (default 1)");
  add("--repeat-last-n", sample.repeat_last_n, -1, kMaxInt, "N",
      "How many of the last tokens count as seen; -1: all (default 64)");
}

// White space at the front is dropped while `trimming`, which ends with the first other character.
std::string_view trimmed(std::string_view piece, bool& trimming) {
  if (!trimming) return piece;
  piece.remove_prefix(std::min(piece.find_first_not_of(" \t\r\n"), piece.size()));
  trimming = piece.empty();
  return piece;
}

const char* explain(FinishReason reason) {
  switch (reason) {
    case FinishReason::kStopToken:
      return "the model ended its text";
    case FinishReason::kStopString:
      return "a --stop text came up";
    case FinishReason::kMaxTokens:
      return "the limit of -n was reached";
    case FinishReason::kContextFull:
      return "the context is full";
    case FinishReason::kCancelled:
      return "stopped";
  }
  return "unknown";
}

std::string speed(int tokens, double seconds) {
  if (tokens <= 0) return "nothing to compute";
  if (seconds <= 0) return format_text("{} tokens", tokens);
  return format_text("{} tokens in {} ({} tokens/s)", tokens, human_seconds(seconds), human_number(tokens / seconds));
}

uint64_t peak_memory_bytes() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
  return static_cast<uint64_t>(usage.ru_maxrss);
#else
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
#endif
}

}  // namespace

void GenerationOptions::add(CLI::App& app, const std::string& max_tokens_help) {
  app.add_option("-n,--max-tokens", generate.max_tokens, max_tokens_help)
      ->type_name("N")
      ->check(in_range(-1, kMaxInt))
      ->group("Length");
  app.add_option_function<std::string>(
         "--stop", [this](const std::string& text) { generate.stop.push_back(text); },
         "End before this text would be printed; may be given several times")
      ->type_name("TEXT")
      ->trigger_on_parse()
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->check([](const std::string& text) { return text.empty() ? "an empty text cannot be searched for" : ""; }, "")
      ->group("Length");
  app.add_flag("--ignore-eos", generate.ignore_eos, "Go on past the end that the model sets, to measure")
      ->group("Length");
  app.add_option("--ctx", session.n_ctx, "Tokens of context (default: what the model was trained for)")
      ->type_name("N")
      ->check(in_range(1, kMaxInt))
      ->group("Length");
  add_sampling(app, generate.sample);
  seed_ = app.add_option("--seed", generate.sample.seed, "Same seed, same text (default: another one each time)")
              ->type_name("N")
              ->group("Sampling");
  app.add_option_function<std::string>(
         "--kv", [this](const std::string& name) { session.kv_type = name == "f32" ? KvType::kF32 : KvType::kF16; },
         "Precision of the KV cache: f16 or f32 (default f16)")
      ->type_name("TYPE")
      ->check(one_of({"f16", "f32"}))
      ->group("Model");
}

void GenerationOptions::choose_seed() {
  if (seed_ && seed_->count() > 0) return;
  std::random_device device;
  generate.sample.seed = device();  // 32 bits are enough, and short enough to be typed again
}

Result<PrintedReply> generate_to_output(Session& session, std::span<const TokenId> prompt,
                                        const GenerateOptions& options, const StreamOptions& stream) {
  StopOnInterrupt stop;
  PrintedReply generation;
  Result<void> printed;
  bool trimming = stream.trim_start;
  bool saw_text = false;
  const auto on_text = [&](std::string_view piece) {
    if (!printed || generation.paragraph_ended) return;  // the token that was under way when we asked to stop
    piece = trimmed(piece, trimming);
    saw_text = saw_text || piece.find_first_not_of(" \t\r\n") != piece.npos;
    if (stream.one_paragraph && saw_text && piece.find('\n') != piece.npos) {
      generation.paragraph_ended = true;
      piece = piece.substr(0, piece.find('\n'));
      stop.request_stop();
    }
    if (piece.empty()) return;
    generation.printed_something = true;
    generation.at_line_start = piece.back() == '\n';
    printed = print_untrusted(piece);
    if (!printed) stop.request_stop();
  };
  Result<GenerateResult> result = session.generate(prompt, options, on_text, stop.token());
  if (!printed) return std::unexpected(printed.error());
  if (!result) return std::unexpected(result.error());
  generation.result = *std::move(result);
  generation.interrupted = stop.interrupted();
  return generation;
}

void print_stats(const Engine& engine, const Session& session, const GenerateResult& result, uint64_t seed) {
  const GenerateStats& stats = result.stats;
  const Style style = Style::of(STDERR_FILENO);
  const auto line = [&](std::string_view name, std::string_view value) {
    std::fprintf(stderr, "  %s %s\n", style.dim(pad(name, 12)).c_str(), std::string(value).c_str());
  };
  std::string prompt = speed(stats.n_prompt - stats.n_reused, stats.prompt_seconds);
  if (stats.n_reused > 0) prompt += format_text(", {} more were in the cache", stats.n_reused);
  line("load", human_seconds(stats.load_seconds));
  line("prompt", prompt);
  line("first token", format_text("after {}", human_seconds(stats.prompt_seconds)));
  line("generated", format_text("{} tokens", stats.n_generated));
  if (stats.n_generated > 1) line("decode", speed(stats.n_generated - 1, stats.decode_seconds));
  line("finish", explain(result.reason));
  line("context", format_text("{} of {} tokens", session.n_used(), session.n_ctx()));
  if (const auto gpu = engine.gpu_stats()) {
    for (const auto& [name, value] : gpu_stats_lines(*gpu)) line(name, value);
  }
  line("seed", format_text("{}", seed));
  line("memory", format_text("{} at most", human_bytes(peak_memory_bytes())));
}

}  // namespace tern::cli
