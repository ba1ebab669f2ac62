#include "cli/flags/reply_flags.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <limits>
#include <random>

#include "base/platform/process.h"
#include "base/result.h"
#include "cli/flags/sampling_flags.h"
#include "cli/support/common.h"
#include "cli/support/gpu_stats.h"
#include "cli/support/sampling_text.h"
#include "cli/terminal/help.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/layout.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

namespace tern::cli {
namespace {

constexpr double kMaxInt = std::numeric_limits<int>::max();
constexpr const char* kSpeedGroup = "Speed";
template <class T>
bool parse_number(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// Parses "7+2.5" or "7-inf".
std::optional<LogitBias> parse_bias(const std::string& text) {
  const size_t sign = text.find_first_of("+-");
  LogitBias bias;
  if (sign == 0 || sign == text.npos) return std::nullopt;
  const std::string_view number = std::string_view(text).substr(text[sign] == '+' ? sign + 1 : sign);
  if (!parse_number(std::string_view(text).substr(0, sign), bias.token) || !parse_number(number, bias.bias)) {
    return std::nullopt;
  }
  return bias;
}

// Drops leading white space while `trimming`, which ends at the first other character.
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
      return "a --stop text was reached";
    case FinishReason::kMaxTokens:
      return "the limit set by -n was reached";
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

// Returns nullopt for "-1", which means another seed each time.
Result<std::optional<uint64_t>> parse_seed(const std::string& text) {
  if (text == "-1") return std::nullopt;
  uint64_t seed = 0;
  if (parse_number(text, seed)) return seed;
  return fail(ErrorCode::kInvalidArgument, "'{}' is not a whole number from 0 to {}, or -1 for a new one each time",
              shorten(one_line(text), 40), std::numeric_limits<uint64_t>::max());
}

}  // namespace

void add_seed(CLI::App& app, std::function<void(std::optional<uint64_t>)> set) {
  app.add_option_function<std::string>(
         "--seed",
         [set = std::move(set)](const std::string& text) {
           const auto seed = parse_seed(text);
           if (!seed) throw CLI::ValidationError("--seed", seed.error().message);
           set(*seed);
         },
         "The same seed gives the same text; -1 picks a new one each time (default -1)")
      ->type_name("N")
      ->group(kSamplingGroup);
}

void ReplyFlags::add(CLI::App& app, const std::string& max_tokens_help) {
  app.add_option("-n,--max-tokens", generate.max_tokens, max_tokens_help)
      ->type_name("N")
      ->check(in_range(-1, kMaxInt, /*whole=*/true))
      ->group("Length");
  app.add_option_function<std::string>(
         "--stop", [this](const std::string& text) { generate.stop.push_back(text); },
         "Stop before printing this text; may be given several times")
      ->type_name("TEXT")
      ->trigger_on_parse()
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->check([](const std::string& text) { return text.empty() ? "the text is empty" : ""; }, "")
      ->group("Length");
  app.add_flag("--ignore-eos", generate.ignore_eos, "Continue when the model wants to stop, for benchmarks")
      ->group("Length");
  app.add_option("-c,--ctx", session.n_ctx,
                 "Context size in tokens (default: the model's trained length, or as much of it as fits in memory)")
      ->type_name("N")
      ->check(in_range(1, kMaxInt, /*whole=*/true))
      ->group("Length");
  app.add_option("--min-tokens", generate.min_tokens,
                 "Do not end before N tokens, unless a grammar allows nothing more (default 0)")
      ->type_name("N")
      ->check(in_range(0, kMaxInt, /*whole=*/true))
      ->group("Length");
  add_sampling(app, generate.sample);
  add_seed(app, [this](std::optional<uint64_t> seed) { set_seed(seed); });
  app.add_option_function<std::vector<std::string>>(
         "--logit-bias",
         [this](const std::vector<std::string>& texts) {
           generate.logit_bias.clear();
           for (const std::string& text : texts) generate.logit_bias.push_back(parse_bias(text).value_or(LogitBias()));
         },
         "Make the token with id 7 more likely (7+2.5) or less likely (7-2.5), or forbid it (7-inf); 'tern tokenize' "
         "prints the ids; may be given several times")
      ->type_name("ID+X")
      ->check([](const std::string& text) { return parse_bias(text) ? "" : "not a token's id, + or -, and a number"; },
              "")
      ->group(kSamplingGroup);
  grammar_.add(app);
  add_kv(app, session.kv_type);
  app.add_flag("--ctx-shift", shift_,
               "When the context is full, forget its earlier half and continue, instead of ending")
      ->group("Length");
  app.add_option("--keep", keep_past_context_, "With --ctx-shift: never forget the first N tokens (default 0)")
      ->type_name("N")
      ->check(in_range(0, kMaxInt, /*whole=*/true))
      ->group("Length");
  add_speculation(app);
  app.add_option("--prompt-cache", prompt_cache, "Save the prompt's KV cache in this file, and reuse it the next time")
      ->type_name("FILE")
      ->check([](const std::string& name) { return name.empty() ? "the name is empty" : ""; }, "")
      ->group(kSpeedGroup);
}

void ReplyFlags::add_speculation(CLI::App& app) {
  app.add_flag("--speculate", speculate_,
               "Speculative decoding: draft tokens from repetitions in the text and check several at once; the same "
               "text, faster")
      ->group(kSpeedGroup);
  app.add_option("--draft", draft_model_,
                 "Speculative decoding with drafts from this smaller model, which has the same tokenizer")
      ->type_name("MODEL")
      ->group(kSpeedGroup);
  app.add_flag("--draft-block", session.draft_block,
               "Speculative decoding with drafts from the model's own layer for them (Qwen3.5 with MTP)")
      ->group(kSpeedGroup);
  app.add_option("--draft-max", most_guesses_, "Draft at most N tokens at a time (default 15)")
      ->type_name("N")
      ->check(in_range(1, 63, /*whole=*/true))
      ->group(kSpeedGroup);
}

Result<void> ReplyFlags::read_grammar() {
  TRY(generate.grammar, grammar_.grammar());
  return {};
}

Result<Session> ReplyFlags::open_session(const Engine& engine) {
  if (keep_past_context_ >= 0 && !shift_) {
    return fail(ErrorCode::kInvalidArgument, "--keep needs --ctx-shift");
  }
  if (shift_) generate.keep_past_context = std::max(keep_past_context_, 0);
  if (speculate_ || session.draft_block || !draft_model_.empty()) {
    generate.speculate = most_guesses_;
    if (generate.grammar) print_note("speculative decoding is off, because a grammar constrains the text");
    if (engine.info().adapter && !session.draft_block)
      print_note("speculative decoding is off, because a GPU samples the tokens itself");
  }
  if (!draft_model_.empty()) {
    ModelOptions draft = *model;
    draft.load.model_path = draft_model_;
    draft.load.metadata = {};
    TRY(Engine loaded, load_engine(draft));
    draft_ = std::make_shared<const Engine>(std::move(loaded));
    session.draft = draft_.get();
  }
  TRY(Session opened, engine.new_session(session));
  if (!prompt_cache.empty()) TRY_STATUS(opened.load_cache(prompt_cache));
  return opened;
}

Result<void> ReplyFlags::keep_cache(const Session& of) const {
  return prompt_cache.empty() ? Result<void>() : of.save_cache(prompt_cache);
}

void ReplyFlags::choose_seed() {
  if (seed_given_) return;
  std::random_device device;
  generate.sample.seed = device();  // 32 bits are enough, and easy to type again
}

void ReplyFlags::set_seed(std::optional<uint64_t> seed) {
  seed_given_ = seed.has_value();
  generate.sample.seed = seed.value_or(0);
  choose_seed();
}

std::vector<std::string> ReplyFlags::setting_names() {
  std::vector<std::string> names;
  for (const SamplingOption& s : sampling_options()) names.emplace_back(s.number.name);
  names.insert(names.end(), {"seed", "max-tokens"});
  return names;
}

std::string ReplyFlags::setting(const std::string& name) const {
  if (name == "seed") return format_text("{}", generate.sample.seed);
  if (name == "max-tokens") return format_text("{}", generate.max_tokens);
  for (const SamplingNumber& number : kSamplingNumbers) {
    if (name != number.name) continue;
    if (const std::string asked = number.text_in(generate.sample); !asked.empty()) return asked;
    if (const std::string advised = number.text_in(advice_.values); !advised.empty())
      return format_text("{} ({})", advised, one_line(advice_.source));
    return number.text_in(all_given({}));
  }
  return "";
}

Result<void> ReplyFlags::set(const std::string& name, const std::string& value) {
  const auto not_in_range = [&](const CLI::Validator& range) -> Result<void> {
    const std::string problem = range(const_cast<std::string&>(value));
    if (problem.empty()) return {};
    return fail(ErrorCode::kInvalidArgument, "{}: {}", name, problem);
  };
  if (name == "seed") {
    TRY(const std::optional<uint64_t> seed, parse_seed(value));
    set_seed(seed);
    return {};
  }
  if (name == "max-tokens") {
    TRY_STATUS(not_in_range(in_range(-1, kMaxInt, /*whole=*/true)));
    parse_number(value, generate.max_tokens);
    return {};
  }
  const auto s = std::ranges::find(sampling_options(), name,
                                   [](const SamplingOption& each) { return std::string(each.number.name); });
  if (s == sampling_options().end()) {
    std::string names;
    for (const std::string& setting : setting_names()) names += (names.empty() ? "" : ", ") + setting;
    return fail(ErrorCode::kInvalidArgument, "there is no setting '{}'; the settings are {}",
                shorten(one_line(name), 40), names);
  }
  TRY_STATUS(not_in_range(in_range(s->low, s->high, s->is_whole())));
  if (s->is_whole()) {
    parse_number(value, (generate.sample.*s->number.whole).emplace());
  } else {
    parse_number(value, (generate.sample.*s->number.real).emplace());
  }
  return {};
}

Result<PrintedReply> generate_to_output(Session& session, std::span<const TokenId> prompt,
                                        const GenerateOptions& options, const StreamOptions& stream) {
  StopOnInterrupt stop;
  PrintedReply generation;
  Result<void> printed;
  bool trimming = stream.trim_start;
  bool saw_text = false;
  const auto on_piece = [&](std::string_view piece) {
    if (!printed || generation.paragraph_ended) return;  // a token that was in progress when the stop was requested
    piece = trimmed(piece, trimming);
    saw_text = saw_text || piece.find_first_not_of(" \t\r\n") != piece.npos;
    if (stream.one_paragraph && saw_text && piece.find('\n') != piece.npos) {
      generation.paragraph_ended = true;
      piece = piece.substr(0, piece.find('\n'));
      stop.request_stop();
    }
    if (piece.empty() || stream.silent) return;
    generation.printed_something = true;
    generation.at_line_start = piece.back() == '\n';
    printed = print_untrusted(piece);
    if (!printed) stop.request_stop();
  };
  const auto on_text = [&](std::string_view piece) { on_piece(stream.show ? stream.show(piece, false) : piece); };
  Result<GenerateResult> result = session.generate(prompt, options, on_text, stop.token());
  if (stream.show && result) on_piece(stream.show("", true));
  if (!printed) return std::unexpected(printed.error());
  if (!result) return std::unexpected(result.error());
  generation.result = *std::move(result);
  generation.interrupted = stop.interrupted();
  return generation;
}

void print_stats(const Engine& engine, const Session& session, const GenerateResult& result,
                 const SampleOptions& asked) {
  const GenerateStats& stats = result.stats;
  const Style style = Style::of(STDERR_FILENO);
  const auto line = [&](std::string_view name, std::string_view value) {
    std::fprintf(stderr, "  %s %s\n", style.dim(pad(name, 12)).c_str(), std::string(value).c_str());
  };
  std::string prompt = speed(stats.n_prompt - stats.n_reused, stats.prompt_seconds);
  if (stats.n_reused > 0) prompt += format_text(", {} more were in the cache", stats.n_reused);
  line("backend", one_line(engine.info().backend));
  if (!engine.info().choice.empty()) line("chosen", one_line(engine.info().choice));
  std::string load = human_seconds(stats.load_seconds), separator = " (";
  for (const auto& [phase, seconds] : engine.info().load_phases) {
    if (seconds < 0.01) continue;
    load += separator + phase + " " + human_seconds(seconds);
    separator = ", ";
  }
  if (separator != " (") load += ")";
  line("load", load);
  line("prompt", prompt);
  line("first token", format_text("after {}", human_seconds(stats.prompt_seconds)));
  line("generated", format_text("{} tokens", stats.n_generated));
  if (stats.n_generated > 1) line("decode", speed(stats.n_generated - 1, stats.decode_seconds));
  if (stats.n_guessed > 0) line("guesses", format_text("{} checked, {} right", stats.n_guessed, stats.n_guessed_right));
  line("finish", explain(result.reason));
  line("context", format_text("{} of {} tokens", session.n_used(), session.n_ctx()));
  line("KV cache", format_text("{} in {}", human_bytes(session.kv_bytes()), kv_name(session.kv_type())));
  for (const DeviceShare& share : engine.device_shares()) {
    line("on " + share.device, format_text("{} prompt tokens, {} reply tokens; keys and values of {} copied there",
                                           share.prompt_tokens, share.single_tokens, share.tokens_brought));
  }
  if (const auto gpu = engine.gpu_stats()) {
    for (const auto& [name, value] : gpu_stats_lines(*gpu)) line(name, value);
  }
  line("sampling", describe_sampling(asked, engine.info().sampling));
  line("seed", format_text("{}", asked.seed));
  line("memory", format_text("{} at its peak", human_bytes(platform::peak_memory_bytes())));
}

std::string_view json_finish_name(FinishReason reason) {
  switch (reason) {
    case FinishReason::kStopToken:
    case FinishReason::kStopString:
      return "stop";
    case FinishReason::kMaxTokens:
      return "length";
    case FinishReason::kContextFull:
      return "context";
    case FinishReason::kCancelled:
      return "cancelled";
  }
  return "unknown";
}

}  // namespace tern::cli
