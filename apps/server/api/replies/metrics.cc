#include "server/api/replies/metrics.h"

#include <algorithm>
#include <tuple>

#include "base/text/format_text.h"
#include "server/api/replies/reply_options.h"

namespace tern::server {
namespace {

constexpr std::array kSeconds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,  0.25,
                                 0.5,   1.0,    2.5,   5.0,  10.0,  25.0, 50.0, 100.0};
constexpr std::array kReplies = {1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0};

// "{LABELS}", or "" without labels.
std::string in_braces(const std::string& labels) { return labels.empty() ? "" : "{" + labels + "}"; }

std::string joined(const std::string& labels, const std::string& more) {
  return in_braces(labels.empty() ? more : labels + "," + more);
}

}  // namespace

void Histogram::add(double value) {
  const auto at = std::ranges::lower_bound(bounds_, value) - bounds_.begin();
  ++counts_[static_cast<size_t>(at)];
  sum_ += value;
}

std::string Histogram::lines(std::string_view name, const std::string& labels) const {
  std::string out;
  uint64_t n = 0;
  for (size_t i = 0; i < bounds_.size(); ++i) {
    n += counts_[i];
    out += format_text("{}_bucket{} {}\n", name, joined(labels, format_text("le=\"{}\"", bounds_[i])), n);
  }
  n += counts_.back();
  return out + format_text("{}_bucket{} {}\n{}_sum{} {}\n{}_count{} {}\n", name, joined(labels, "le=\"+Inf\""), n, name,
                           in_braces(labels), sum_, name, in_braces(labels), n);
}

void MetricFamilies::add(const std::string& name, std::string_view type, std::string_view help,
                         const std::string& lines) {
  const auto [at, is_new] =
      texts_.try_emplace(name, format_text("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type));
  if (is_new) order_.push_back(name);
  at->second += lines;
}

std::string MetricFamilies::text() const {
  std::string all;
  for (const std::string& name : order_) all += texts_.at(name);
  return all;
}

ModelMetrics::ModelMetrics() : first_token_(kSeconds), between_tokens_(kSeconds), step_(kSeconds), batch_(kReplies) {}

void ModelMetrics::on_first_token(double seconds) {
  const std::scoped_lock lock(mutex_);
  first_token_.add(seconds);
}

void ModelMetrics::on_token(double seconds) {
  const std::scoped_lock lock(mutex_);
  between_tokens_.add(seconds);
}

void ModelMetrics::on_end(const ReplyEvent& last) {
  const std::scoped_lock lock(mutex_);
  prompt_tokens_ += static_cast<uint64_t>(last.stats.n_prompt);
  cached_tokens_ += static_cast<uint64_t>(last.stats.n_reused);
  draft_tokens_ += static_cast<uint64_t>(last.stats.n_guessed);
  right_draft_tokens_ += static_cast<uint64_t>(last.stats.n_guessed_right);
  generated_tokens_ += static_cast<uint64_t>(last.stats.n_generated);
  ++ends_[std::string(last.error ? "error" : finish_name(*last.finish))];
}

void ModelMetrics::on_step(double seconds, int n_running, double joules) {
  const std::scoped_lock lock(mutex_);
  joules_ += joules;
  step_.add(seconds);
  batch_.add(n_running);
}

void HttpMetrics::on_answer(std::string_view route, int status) {
  const std::scoped_lock lock(mutex_);
  ++answers_[{std::string(route), status}];
}

void ModelMetrics::write(MetricFamilies& to, const std::string& labels, const ModelService::Status& status,
                         bool has_energy) const {
  const std::scoped_lock lock(mutex_);
  const Scheduler::Stats& s = status.scheduler;
  const auto one = [&](const std::string& name, std::string_view type, std::string_view help, double value) {
    to.add(name, type, help, format_text("{}{} {}\n", name, in_braces(labels), value));
  };
  const auto count = [&](const std::string& name, std::string_view help, uint64_t value) {
    one(name, "counter", help, static_cast<double>(value));
  };
  const auto gauge = [&](const std::string& name, std::string_view help, double value) {
    one(name, "gauge", help, value);
  };
  const auto histogram = [&](const std::string& name, std::string_view help, const Histogram& values) {
    to.add(name, "histogram", help, values.lines(name, labels));
  };
  gauge("tern_replies_running", "Replies in the batch.", status.n_running);
  gauge("tern_replies_waiting", "Replies that wait for room.", status.n_waiting);
  count("tern_prompt_tokens_total", "Tokens of prompts whose replies have ended.", prompt_tokens_);
  count("tern_prompt_tokens_cached_total", "... whose keys and values were there already.", cached_tokens_);
  count("tern_generated_tokens_total", "Tokens of replies that have ended.", generated_tokens_);
  count("tern_draft_tokens_total", "Draft tokens of replies that have ended.", draft_tokens_);
  count("tern_draft_tokens_right_total", "... that were right.", right_draft_tokens_);
  count("tern_steps_total", "Passes over the model.", s.steps);
  count("tern_tokens_run_total", "Tokens in these passes, prompts included.", s.tokens_run);
  count("tern_preemptions_total", "Replies that gave their memory back and were computed again.", s.preemptions);
  gauge("tern_kv_blocks_used", "Blocks of keys and values that belong to replies.", s.kv_blocks_used);
  gauge("tern_kv_blocks_kept", "Blocks that are kept for prompts that begin alike.", s.kv_blocks_kept);
  gauge("tern_kv_block_tokens", "Tokens of a block.", s.kv_block_tokens);
  gauge("tern_states_used", "States of recurrent layers that belong to replies.", s.states_used);
  gauge("tern_state_snapshots", "States that are kept for prompts that begin alike.", s.snapshots);
  gauge("tern_state_bytes", "Memory of both.", static_cast<double>(s.state_bytes));
  count("tern_state_snapshot_hits_total", "Replies that began with a kept state.", s.snapshot_hits);
  const std::tuple<const char*, const char*, uint64_t DeviceShare::*> shared_out[] = {
      {"tern_device_prompt_tokens_total", "Tokens of prompts by the device that ran them.",
       &DeviceShare::prompt_tokens},
      {"tern_device_reply_tokens_total", "Tokens of replies by the device that ran them.", &DeviceShare::single_tokens},
      {"tern_device_tokens_brought_total", "Tokens whose keys and values came from the other device.",
       &DeviceShare::tokens_brought}};
  for (const auto& [name, help, part] : shared_out) {
    std::string lines;
    for (const DeviceShare& share : s.shares) {
      lines += format_text("{}{} {}\n", name, joined(labels, format_text("device=\"{}\"", share.device)), share.*part);
    }
    if (!lines.empty()) to.add(name, "counter", help, lines);
  }
  if (has_energy) one("tern_energy_joules_total", "counter", "Of the processor, in these passes.", joules_);
  std::string ends;
  for (const auto& [reason, n] : ends_) {
    ends += format_text("tern_replies_ended_total{} {}\n", joined(labels, format_text("reason=\"{}\"", reason)), n);
  }
  to.add("tern_replies_ended_total", "counter", "Replies that have ended, by why.", ends);
  histogram("tern_time_to_first_token_seconds", "From a request to its first token.", first_token_);
  histogram("tern_time_between_tokens_seconds", "Between two tokens of a reply.", between_tokens_);
  histogram("tern_step_seconds", "A pass over the model.", step_);
  histogram("tern_batch_replies", "Replies in a pass.", batch_);
}

void HttpMetrics::write(MetricFamilies& to) const {
  const std::scoped_lock lock(mutex_);
  std::string lines;
  for (const auto& [what, n] : answers_) {
    lines += format_text("tern_http_answers_total{{route=\"{}\",status=\"{}\"}} {}\n", what.first, what.second, n);
  }
  to.add("tern_http_answers_total", "counter", "Answers, by route and status.", lines);
}

std::string model_label(const std::string& name) {
  std::string text = "model=\"";
  for (const char c : name) {
    if (c == '\\' || c == '"') text += '\\';
    text += c == '\n' ? ' ' : c;
  }
  return text + "\"";
}

}  // namespace tern::server
