#include "server/api/replies/request_log.h"

#include <algorithm>
#include <cmath>

#include "base/text/format_text.h"
#include "server/api/replies/answer.h"

namespace tern::server {
namespace {

constexpr size_t kMostIdBytes = 128;

}  // namespace

std::string utc_time() {
  const auto time = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  // Written by hand, because std::format's formatter for times takes 2 s to compile.
  return format_text("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
}

namespace {

std::string remote(const Peer& peer) {
  return peer.first.contains(':') ? format_text("[{}]:{}", peer.first, peer.second)
                                  : format_text("{}:{}", peer.first, peer.second);
}

double rounded(double number) { return std::round(number * 1000) / 1000; }

std::string json_line(const RequestRecord& record) {
  Json json = {{"time", utc_time()},      {"id", record.id},       {"remote", remote(record.peer)},
               {"method", record.method}, {"route", record.route}, {"status", record.status}};
  if (!record.model.empty()) {
    json["model"] = record.model;
    json["prompt_tokens"] = record.n_prompt;
    json["cached_tokens"] = record.n_cached;
    json["generated_tokens"] = record.n_generated;
    if (record.queue_ms) json["queue_ms"] = rounded(*record.queue_ms);
    if (record.first_token_ms) json["ttft_ms"] = rounded(*record.first_token_ms);
    if (record.joules) json["joules"] = rounded(*record.joules);
    if (!record.finish.empty()) json["finish"] = record.finish;
  }
  json["total_ms"] = rounded(record.total_ms);
  if (record.keeps_texts && !record.model.empty()) {
    json["prompt"] = record.prompt;
    json["answer"] = record.answer;
  }
  return dump(json);
}

std::string text_line(const RequestRecord& record) {
  std::string line = format_text("{} {} {} {} {} {:.0f} ms", utc_time(), remote(record.peer), record.method,
                                 record.route, record.status, record.total_ms);
  if (!record.model.empty()) {
    line += format_text(", {} + {} tokens, {} cached", record.n_prompt, record.n_generated, record.n_cached);
    if (record.queue_ms) line += format_text(", waited {:.0f} ms", *record.queue_ms);
    if (record.first_token_ms) line += format_text(", first token {:.0f} ms", *record.first_token_ms);
    if (record.joules) line += format_text(", {:.1f} J", *record.joules);
    if (!record.finish.empty()) line += ", " + record.finish;
  }
  line += " " + record.id;
  if (record.keeps_texts && !record.model.empty()) {
    line += format_text(" {} → {}", dump(record.prompt), dump(record.answer));
  }
  return line;
}

}  // namespace

std::string log_line(const RequestRecord& record, LogFormat format) {
  return format == LogFormat::kJson ? json_line(record) : text_line(record);
}

std::string request_id(std::string_view asked) {
  constexpr std::string_view kOthers = "-_.:";
  const auto is_sane = [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || kOthers.contains(c);
  };
  if (!asked.empty() && asked.size() <= kMostIdBytes && std::ranges::all_of(asked, is_sane)) return std::string(asked);
  return new_id("req_");
}

}  // namespace tern::server
