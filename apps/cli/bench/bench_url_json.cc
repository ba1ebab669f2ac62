// The report of `tern bench --url` as one object of JSON.
#include <nlohmann/json.hpp>

#include "cli/bench/bench_url_report.h"
#include "cli/terminal/layout.h"
#include "tern/tools.h"

namespace tern::cli {
namespace {

using ReportJson = nlohmann::ordered_json;

template <class T>
ReportJson or_null(const std::optional<T>& value) {
  return value ? ReportJson(*value) : ReportJson(nullptr);
}

ReportJson distribution_json(const load::Distribution& values) {
  ReportJson json = {{"n", values.size()}, {"mean", or_null(values.mean())}, {"min", nullptr}};
  if (values.size() > 0) json["min"] = values.sorted.front();
  for (const auto& [name, share] :
       {std::pair{"p1", 0.01}, {"p10", 0.1}, {"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"max", 1.0}})
    json[name] = or_null(values.at(share));
  return json;
}

ReportJson options_json(const LoadReport& report) {
  const load::LoadOptions& options = report.options;
  const bool is_open = options.rate.has_value();
  return {{"loop", is_open ? "open" : "closed"},
          {"clients", is_open ? ReportJson(nullptr) : ReportJson(options.clients)},
          {"rate_per_s", or_null(options.rate)},
          {"requests", options.requests > 0 ? ReportJson(options.requests) : ReportJson(nullptr)},
          {"seconds", options.seconds > 0 ? ReportJson(options.seconds) : ReportJson(nullptr)},
          {"turns", options.turns},
          {"think_ms", options.think_seconds * 1000},
          {"seed", options.seed},
          {"prompts", report.prompts},
          {"max_tokens", options.request.max_tokens},
          {"body", ReportJson::parse(options.request.extra)}};
}

ReportJson failures_json(const load::Metrics& metrics) {
  ReportJson list = ReportJson::array();
  for (const load::Failures& failures : metrics.failures) {
    list.push_back({{"kind", load::outcome_name(failures.outcome)},
                    {"status", failures.status > 0 ? ReportJson(failures.status) : ReportJson(nullptr)},
                    {"count", failures.count},
                    {"example", failures.example}});
  }
  return list;
}

ReportJson same_json(const std::optional<load::SameCheck>& same) {
  if (!same) return nullptr;
  ReportJson differing = ReportJson::array();
  for (const load::DifferingReplies& d : same->differing) {
    differing.push_back({{"asked", d.asked},
                         {"distinct", d.distinct},
                         {"requests", {d.first_index, d.other_index}},
                         {"at_byte", d.at_byte},
                         {"texts", {d.first_text, d.other_text}}});
  }
  return {{"prompts", same->questions}, {"replies", same->compared}, {"differing", std::move(differing)}};
}

ReportJson rows_json(const load::LoadResult& result) {
  ReportJson rows = ReportJson::array();
  for (const load::RequestRecord& r : result.records) {
    const bool has_text = !r.text_times.empty();
    rows.push_back({{"index", r.index},
                    {"conversation", r.conversation},
                    {"turn", r.turn},
                    {"outcome", load::outcome_name(r.outcome)},
                    {"status", r.status > 0 ? ReportJson(r.status) : ReportJson(nullptr)},
                    {"message", r.message},
                    {"due_s", r.due},
                    {"sent_s", r.sent},
                    {"ended_s", r.ended},
                    {"ttft_ms", has_text ? ReportJson(load::ttft_ms(r)) : ReportJson(nullptr)},
                    {"gaps_ms", load::gaps_ms(r)},
                    {"tokens", r.tokens()},
                    {"counted_by", r.counted_tokens ? "usage" : "pieces"},
                    {"prompt_tokens", or_null(r.prompt_tokens)},
                    {"cached_tokens", or_null(r.cached_tokens)},
                    {"finish_reason", r.finish_reason.empty() ? ReportJson(nullptr) : ReportJson(r.finish_reason)}});
  }
  return rows;
}

}  // namespace

std::string load_json(const LoadReport& report, bool with_rows) {
  const load::Metrics& metrics = report.metrics;
  const bool counts = metrics.counted_by_usage > 0;
  ReportJson json = {
      {"tern", version()},
      {"url", report.options.url},
      {"model", report.options.request.model},
      {"api", report.options.request.api == load::Api::kChat ? "chat" : "completions"},
      {"load", options_json(report)},
      {"seconds", report.result.ended},
      {"requests",
       {{"sent", report.result.records.size()},
        {"complete", metrics.complete},
        {"failed", metrics.failed},
        {"stopped", metrics.stopped},
        {"not_sent", report.result.skipped},
        {"most_at_a_time", report.result.most_running}}},
      {"ttft_ms", distribution_json(metrics.ttft_ms)},
      {"between_tokens_ms", distribution_json(metrics.gap_ms)},
      {"request_ms", distribution_json(metrics.request_ms)},
      {"reply_tokens_per_s", distribution_json(metrics.reply_rate)},
      {"sent_late_ms", distribution_json(metrics.late_ms)},
      {"window",
       {{"begin_s", metrics.window.begin}, {"end_s", metrics.window.end}, {"is_steady", metrics.window.is_steady}}},
      {"tokens_per_s", metrics.tokens_per_s},
      {"requests_per_s", metrics.requests_per_s},
      {"deadlines", {{"ttft_ms", or_null(report.deadlines.ttft_ms)}, {"itl_ms", or_null(report.deadlines.itl_ms)}}},
      {"goodput_per_s", report.deadlines.any() ? ReportJson(metrics.goodput) : ReportJson(nullptr)},
      {"met_deadlines", report.deadlines.any() ? ReportJson(metrics.met) : ReportJson(nullptr)},
      {"tokens", metrics.tokens},
      {"pieces", metrics.events},
      {"replies_counted_by_usage", metrics.counted_by_usage},
      {"prompt_tokens", counts ? ReportJson(metrics.prompt_tokens) : ReportJson(nullptr)},
      {"cached_tokens", metrics.knows_cached ? ReportJson(metrics.cached_tokens) : ReportJson(nullptr)},
      {"failures", failures_json(metrics)},
      {"same_replies", same_json(report.same)}};
  if (with_rows) json["rows"] = rows_json(report.result);
  return json.dump(2, ' ', false, ReportJson::error_handler_t::replace) + "\n";
}

}  // namespace tern::cli
