#include "cli/bench/bench_url_report.h"

#include <array>

#include "cli/terminal/layout.h"

namespace tern::cli {
namespace {

constexpr size_t kNameWidth = 18, kNumberWidth = 11;
constexpr size_t kMaxDiffering = 5;  // prompts that are shown; JSON lists all

std::string load_number(const std::optional<double>& value) { return value ? human_number(*value) : "–"; }

std::string distribution_row(const std::string& name, const load::Distribution& values,
                             const std::array<double, 4>& shares) {
  std::string text = "  " + pad(name, kNameWidth);
  for (const double share : shares) text += pad_left(load_number(values.at(share)), kNumberWidth);
  return text + "\n";
}

std::string rate_row(const std::string& name, double rate, const std::string& unit, const std::string& what) {
  return "  " + pad(name, kNameWidth) + pad_left(human_number(rate), kNumberWidth) + " " + pad(unit, 11) + what + "\n";
}

std::string deadline_words(const load::Deadlines& deadlines) {
  std::string words;
  if (deadlines.ttft_ms) words = format_text("first token within {} ms", *deadlines.ttft_ms);
  if (deadlines.itl_ms) words += format_text("{}no gap over {} ms", words.empty() ? "" : ", ", *deadlines.itl_ms);
  return words;
}

std::string window_words(const load::Window& window) {
  if (window.is_steady) {
    return format_text("rates are over the steady {}: from the first complete request until the load began to decrease",
                       human_seconds(window.seconds()));
  }
  return format_text("rates are over the whole run: fewer than {} requests ended in its steady part",
                     load::kMinInWindow);
}

std::string token_words(const load::Metrics& metrics) {
  if (metrics.complete == 0) return "no tokens were received";
  const double per_event = static_cast<double>(metrics.tokens) / static_cast<double>(metrics.events);
  if (metrics.counted_by_usage == metrics.complete)
    return format_text("tokens are counted by the server (usage); a piece of text has {:.2f} on average", per_event);
  if (metrics.counted_by_usage == 0)
    return "tokens are pieces of text, because the server sends no usage; a piece may be several tokens";
  return format_text("tokens of {} replies are counted by the server (usage), of {} by pieces of text",
                     metrics.counted_by_usage, metrics.complete - metrics.counted_by_usage);
}

std::string definitions(const LoadReport& report) {
  const load::Metrics& metrics = report.metrics;
  const char* due = report.options.rate ? "its arrival, sent at once or not" : "its client was free";
  std::string text = format_text("  first token: from when a request was due ({}) to its first text\n", due);
  text += "  between tokens: from one piece of text to the next, over all replies\n";
  text += "  a reply: its tokens after the first, over the time from its first text to its last\n";
  text += "  percentiles: the smallest measured value that this share does not exceed; complete requests only\n";
  text += "  " + token_words(metrics) + "\n  " + window_words(metrics.window) + "\n";
  return text;
}

std::string same_lines(const load::SameCheck& same) {
  std::string text;
  if (same.questions == 0) return "  same replies: not known, because no prompt was sent more than once\n";
  text += format_text("  same replies: {} of {} prompts had one reply each ({} replies compared)\n",
                      same.questions - static_cast<int64_t>(same.differing.size()), same.questions, same.compared);
  for (size_t i = 0; i < std::min(same.differing.size(), kMaxDiffering); ++i) {
    const load::DifferingReplies& d = same.differing[i];
    text += format_text("    requests {} and {} differ from byte {} on ({} distinct of {}):\n", d.first_index,
                        d.other_index, d.at_byte, d.distinct, d.asked);
    text += format_text("      {}\n      {}\n", one_line(d.first_text), one_line(d.other_text));
  }
  return text;
}

}  // namespace

std::string failure_line(const load::Failures& failures) {
  std::string why = failures.status > 0 ? format_text("HTTP {}", failures.status) : "";
  if (!failures.example.empty()) why += (why.empty() ? "" : ": ") + one_line(failures.example);
  return format_text("{} × {}{}", failures.count, load::outcome_words(failures.outcome),
                     why.empty() ? "" : " (" + why + ")");
}

std::string load_title(const LoadReport& report) {
  return one_line(format_text("{} at {}", report.options.request.model, report.options.url));
}

std::string load_subtitle(const LoadReport& report) {
  const load::LoadOptions& options = report.options;
  std::string load = options.rate
                         ? format_text("open loop, {} arrivals a second", *options.rate)
                         : format_text("closed loop, {} client{}", options.clients, options.clients == 1 ? "" : "s");
  if (options.turns > 1) load += format_text(", {} turns", options.turns);
  if (options.think_seconds > 0) load += format_text(", {} of thinking", human_seconds(options.think_seconds));
  return one_line(format_text("{} · {} · {}, replies of up to {} · {} requests in {}",
                              options.request.api == load::Api::kChat ? "chat" : "completions", load, report.prompts,
                              options.request.max_tokens, report.result.records.size(),
                              human_seconds(report.result.ended)));
}

std::string load_table(const LoadReport& report, const Style& style) {
  const load::Metrics& metrics = report.metrics;
  std::string text = style.bold(load_title(report)) + "\n" + load_subtitle(report) + "\n\n";
  const auto header = [&](const std::string& name, const std::array<const char*, 4>& columns) {
    std::string line = "  " + pad(name, kNameWidth);
    for (const char* column : columns) line += pad_left(column, kNumberWidth);
    text += style.dim(line) + "\n";
  };
  constexpr std::array kHigh = {0.5, 0.9, 0.99, 1.0};
  header("ms", {"p50", "p90", "p99", "max"});
  text += distribution_row("first token", metrics.ttft_ms, kHigh);
  text += distribution_row("between tokens", metrics.gap_ms, kHigh);
  text += distribution_row("whole request", metrics.request_ms, kHigh);
  text += "\n";
  header("tokens/s", {"p1", "p10", "p50", "p90"});
  text += distribution_row("a reply", metrics.reply_rate, {0.01, 0.1, 0.5, 0.9}) + "\n";

  text += rate_row("output", metrics.tokens_per_s, "tokens/s", format_text("{} in all", metrics.tokens));
  text += rate_row("requests", metrics.requests_per_s, "a second",
                   format_text("{} complete, {} failed, at most {} at a time", metrics.complete, metrics.failed,
                               report.result.most_running));
  if (report.deadlines.any()) {
    text += rate_row("goodput", metrics.goodput, "a second",
                     format_text("{} of {} in time: {}", metrics.met, metrics.complete + metrics.failed,
                                 deadline_words(report.deadlines)));
  }
  if (metrics.counted_by_usage > 0) {
    text += rate_row(
        "prompt", static_cast<double>(metrics.prompt_tokens) / static_cast<double>(metrics.counted_by_usage), "tokens",
        metrics.knows_cached && metrics.prompt_tokens > 0
            ? format_text("on average; the server had {:.0f} % of them in a cache",
                          100 * static_cast<double>(metrics.cached_tokens) / static_cast<double>(metrics.prompt_tokens))
            : "on average, as the server counts");
  }
  if (report.options.rate && metrics.late_ms.size() > 0) {
    text +=
        rate_row("sent late", *metrics.late_ms.at(0.99), "ms (p99)",
                 format_text("max {}: how long requests waited for this program", load_number(metrics.late_ms.at(1))));
  }
  text += "\n";
  for (const load::Failures& failures : metrics.failures)
    text += style.red("  failed: ") + failure_line(failures) + "\n";
  if (report.result.skipped > 0)
    text += format_text("  not sent: {} requests of conversations in which one failed\n", report.result.skipped);
  if (metrics.stopped > 0) text += format_text("  stopped by Ctrl-C: {} requests\n", metrics.stopped);
  if (report.same) text += same_lines(*report.same);
  if (text.substr(text.size() - 2) != "\n\n") text += "\n";
  return text + style.dim(definitions(report));
}

}  // namespace tern::cli
