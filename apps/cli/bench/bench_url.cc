#include "cli/bench/bench_url.h"

#include <unistd.h>

#include <algorithm>

#include "base/files/draft_file.h"
#include "base/result.h"
#include "cli/bench/bench_url_report.h"
#include "cli/terminal/help.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress_bar.h"
#include "load/picture.h"
#include "load/same_replies.h"
#include "tern/tools.h"

namespace tern::cli {
namespace {

constexpr int kLeastRequests = 32;     // the default,
constexpr int kRequestsPerClient = 4;  // or this many per client if that is more
constexpr int64_t kSamePrompts = 4;    // distinct texts for --check-same; each is sent repeatedly
constexpr const char* kLoadGroup = "Load on a server";
constexpr const char* kRequestGroup = "Requests to a server";

std::unexpected<Error> usage(const std::string& what) {
  return fail(ErrorCode::kInvalidArgument, "bench --url: {}", what);
}

}  // namespace

CLI::Option* UrlCommand::own(CLI::Option* option, const char* type_name) {
  own_options_.push_back(option);
  if (*type_name != '\0') option->type_name(type_name);
  return option;
}

bool UrlCommand::was_given(const std::string& name) const {
  return std::ranges::any_of(own_options_,
                             [&](const CLI::Option* o) { return o->get_name() == name && o->count() > 0; });
}

void UrlCommand::add(CLI::App& app) {
  url_option_ =
      app.add_option("--url", options_.url,
                     "Measure the server at this URL instead, which has OpenAI's API; without a path, /v1 is added")
          ->type_name("URL")
          ->check(not_empty())
          ->group(kLoadGroup);
  add_load(app);
  add_requests(app);
  add_output(app);
}

void UrlCommand::add_load(CLI::App& app) {
  own(app.add_option("--clients", options_.clients,
                     format_text("Closed loop: this many clients, each of which sends its next request after its reply "
                                 "(default 1; at most {})",
                                 load::kMaxClients)),
      "N")
      ->check(in_range(1, load::kMaxClients, /*whole=*/true))
      ->group(kLoadGroup);
  own(app.add_option_function<double>(
          "--rate", [this](const double& rate) { options_.rate = rate; },
          format_text("Open loop: requests arrive at random, this many per second on average, even if the server "
                      "cannot keep up (at most {} run at a time)",
                      load::kMaxClients)),
      "R")
      ->check(in_range(0.001, 10000))
      ->group(kLoadGroup);
  own(app.add_option("--requests", options_.requests, "Total number of requests (default 32, or 4 for each client)"),
      "N")
      ->check(in_range(1, 10'000'000, /*whole=*/true))
      ->group(kLoadGroup);
  own(app.add_option("--seconds", options_.seconds,
                     "Send requests for this long instead, and wait for those that are running"),
      "S")
      ->check(in_range(0.1, 1e6))
      ->group(kLoadGroup);
  own(app.add_option("--turns", options_.turns,
                     "Requests of each conversation, which grows with each reply (default 1); with --rate, whole "
                     "conversations arrive"),
      "N")
      ->check(in_range(1, 1000, /*whole=*/true))
      ->group(kLoadGroup);
  own(app.add_option("--think-time", think_ms_, "Milliseconds between a reply and its client's next request"), "MS")
      ->check(in_range(0, 3.6e6))
      ->group(kLoadGroup);
  own(app.add_option("--timeout", options_.timeout_seconds,
                     "Give up a request after this many seconds without a byte (default 120)"),
      "S")
      ->check(in_range(1, 86400, /*whole=*/true))
      ->group(kLoadGroup);
  own(app.add_option("--seed", options_.seed, "Seed of arrival times and generated prompts (default 1)"), "N")
      ->group(kLoadGroup);
}

void UrlCommand::add_requests(CLI::App& app) {
  own(app.add_option("--api", api_, "chat or completions (default chat)"), "API")
      ->check(one_of({"chat", "completions"}))
      ->group(kRequestGroup);
  own(app.add_option("--max-tokens", options_.request.max_tokens, "Maximum tokens of a reply (default 128)"), "N")
      ->check(in_range(1, 1 << 20, /*whole=*/true))
      ->group(kRequestGroup);
  own(app.add_option("--prompt-tokens", text_.tokens,
                     "Approximate tokens of each prompt, which is generated text of this many words (default 128)"),
      "N")
      ->check(in_range(1, 1 << 20, /*whole=*/true))
      ->group(kRequestGroup);
  own(app.add_option("--shared-prefix", text_.shared_tokens,
                     "Tokens at the beginning that all prompts share (default 0)"),
      "N")
      ->check(in_range(1, 1 << 20, /*whole=*/true))
      ->group(kRequestGroup);
  own(app.add_option("--prompts", text_.n_distinct,
                     "Number of different prompts, used in turn (default: all differ; 4 with --check-same)"),
      "N")
      ->check(in_range(1, 1 << 20, /*whole=*/true))
      ->group(kRequestGroup);
  own(app.add_option("--prompt-file", prompt_file_,
                     "Take prompts from a file, in turn; each line is {\"prompt\": …} or {\"messages\": …}"),
      "FILE")
      ->check(not_empty())
      ->group(kRequestGroup);
  own(app.add_option("--body", options_.request.extra,
                     "More fields for each request, as JSON; they override Tern's own, such as \"temperature\": 0"),
      "JSON")
      ->check(not_empty())
      ->group(kRequestGroup);
  own(app.add_option("--api-key", options_.api_key, "API key, sent as the bearer token"), "KEY")
      ->check(not_empty())
      ->group(kRequestGroup);
}

void UrlCommand::add_output(CLI::App& app) {
  own(app.add_option_function<double>(
          "--deadline-ttft", [this](const double& ms) { deadlines_.ttft_ms = ms; },
          "Count the requests whose first token came within this many milliseconds"),
      "MS")
      ->check(in_range(0.001, 1e9))
      ->group(kLoadGroup);
  own(app.add_option_function<double>(
          "--deadline-itl", [this](const double& ms) { deadlines_.itl_ms = ms; },
          "Count the requests without a gap between two tokens that is longer than this many milliseconds"),
      "MS")
      ->check(in_range(0.001, 1e9))
      ->group(kLoadGroup);
  own(app.add_flag("--check-same", check_same_, "Fail if the same request got different replies"), "")
      ->group(kLoadGroup);
  own(app.add_flag("--rows", with_rows_, "With --url and --json: also print a record of each request"), "")
      ->group("Output");
  own(app.add_option("--svg", svg_, "With --url: draw the times and tokens per second to this file"), "FILE")
      ->check(not_empty())
      ->group("Output");
}

Result<void> UrlCommand::check_unused() const {
  for (const CLI::Option* option : own_options_) {
    if (option->count() > 0)
      return fail(ErrorCode::kInvalidArgument, "{} is for 'tern bench --url URL' only", option->get_name());
  }
  return {};
}

Result<void> UrlCommand::check(const CLI::App& app, bool as_json) const {
  static const std::vector<std::string> kShared = {"--model", "--output", "--json"};
  for (const CLI::Option* option : app.get_options()) {
    const bool is_meant = option == url_option_ || option == app.get_help_ptr() ||
                          std::ranges::contains(own_options_, option) ||
                          std::ranges::contains(kShared, option->get_name());
    if (option->count() > 0 && !is_meant)
      return usage(format_text("it loads no model and does not use {}: leave it out", option->get_name()));
  }
  if (was_given("--rate") && was_given("--clients")) return usage("give either --rate or --clients, not both");
  if (was_given("--seconds") && was_given("--requests")) return usage("give either --seconds or --requests, not both");
  if (with_rows_ && !as_json) return usage("--rows needs --json");
  if (text_.shared_tokens > text_.tokens) {
    return usage(format_text("a --shared-prefix of {} is longer than the prompts, which have {} (--prompt-tokens)",
                             text_.shared_tokens, text_.tokens));
  }
  if (!prompt_file_.empty()) {
    for (const char* made : {"--prompt-tokens", "--shared-prefix", "--prompts"}) {
      if (was_given(made)) return usage(format_text("{} is for generated prompts, not for a --prompt-file", made));
    }
    if (options_.turns > 1) return usage("--turns generates the next messages: leave out --prompt-file");
  }
  if (std::ranges::any_of(options_.api_key, [](unsigned char c) { return c <= ' ' || c >= 0x7F; }))
    return usage("an --api-key has only ASCII characters and no white space");
  TRY_STATUS(load::check_extra(options_.request.extra));
  if (check_same_ && !load::is_greedy(options_.request))
    return usage("--check-same needs temperature 0; leave the temperature out of --body");
  return {};
}

Result<load::Prompts> UrlCommand::prompts() const {
  if (prompt_file_.empty()) return load::Prompts::made(text_);
  TRY(const std::string lines, read_text(prompt_file_));
  return load::Prompts::from_jsonl(lines, prompt_file_, options_.request.api);
}

Result<ExitCode> UrlCommand::run(const CLI::App& app, const std::string& model, bool as_json) {
  TRY_STATUS(check(app, as_json));
  options_.request.api = api_ == "chat" ? load::Api::kChat : load::Api::kCompletions;
  options_.think_seconds = think_ms_ / 1000;
  options_.keep_texts = check_same_;
  if (check_same_ && text_.n_distinct == 0) text_.n_distinct = kSamePrompts;
  if (options_.requests == 0 && options_.seconds == 0)
    options_.requests = std::max(kLeastRequests, options_.rate ? 0 : kRequestsPerClient * options_.clients);
  TRY(const load::Prompts prompts, this->prompts());
  options_.request.model = model;
  if (model.empty()) {
    TRY(options_.request.model, load::listed_model(options_));
  }
  // Tried first, so that a bad path fails before an hour of measuring.
  if (!svg_.empty() && !write_text_file(svg_, "")) return fail(ErrorCode::kIo, "{}: cannot be written (--svg)", svg_);

  StopOnInterrupt interrupt;
  ProgressBar bar;
  options_.on_progress = bar.callback();
  TRY(const load::LoadResult result, load::run_load(options_, prompts, interrupt.token()));
  bar.wipe();

  const load::Metrics metrics = load::measure(result, deadlines_);
  LoadReport report{.options = options_, .result = result, .metrics = metrics, .deadlines = deadlines_};
  report.prompts = prompts.n_from_file() > 0 ? format_text("{} prompts from {}", prompts.n_from_file(), prompt_file_)
                                             : format_text("generated text of about {} tokens", text_.tokens);
  if (text_.shared_tokens > 0) report.prompts += format_text(", {} of them shared", text_.shared_tokens);
  if (check_same_) report.same = load::check_same(result.records);
  TRY_STATUS(print(as_json ? load_json(report, with_rows_) : load_table(report, Style::of(STDOUT_FILENO))));
  if (!svg_.empty()) {
    const std::string drawing =
        load::picture(result, metrics, deadlines_, {.title = load_title(report), .subtitle = load_subtitle(report)});
    if (!write_text_file(svg_, drawing))
      return fail(ErrorCode::kIo, "{}: writing failed (--svg); the disk may be full", svg_);
  }
  if (result.interrupted) return ExitCode::kInterrupted;
  if (metrics.complete == 0) {
    const std::string why = metrics.failures.empty() ? "none was sent" : failure_line(metrics.failures.front());
    return fail(ErrorCode::kIo, "{}: no request was complete: {}", options_.url, why);
  }
  if (report.same && !report.same->differing.empty()) {
    return fail(ErrorCode::kIo, "{}: {} of {} prompts that were sent more than once had different replies",
                options_.url, report.same->differing.size(), report.same->questions);
  }
  return ExitCode::kDone;
}

}  // namespace tern::cli
