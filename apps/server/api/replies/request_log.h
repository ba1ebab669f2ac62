// The log line for a request that has been answered, as text or JSON.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "server/connections/connection.h"

namespace tern::server {

enum class LogFormat : uint8_t { kText, kJson };

struct LogOptions {
  LogFormat format = LogFormat::kText;
  bool texts = false;                                       // log prompts and answers, too
  std::function<void(std::string_view line)> on_line = {};  // gets complete lines, without line ends; empty: no log
};

// Contains nothing from a request's body, except for texts if they are wanted.
struct RequestRecord {
  using Clock = std::chrono::steady_clock;

  std::string id;
  Peer peer;
  std::string method, route;  // the pattern rather than the path, which may contain anything
  int status = 0;
  Clock::time_point start = Clock::now();
  double total_ms = 0;
  // For a model's answers only.
  std::string model = {};  // empty: no model was asked
  int n_prompt = 0, n_cached = 0, n_generated = 0;
  std::optional<double> queue_ms = {}, first_token_ms = {};  // until it ran; until the first token
  std::optional<double> joules = {};                         // its share of the machine's energy
  std::string finish = {};
  // Kept only if the log includes them.
  bool keeps_texts = false;
  std::string prompt = {}, answer = {};
};

std::string utc_time();  // "2026-01-31T12:00:00.123Z"

std::string log_line(const RequestRecord& record, LogFormat format);

// The client's id for a request if it is safe to log, else a new one.
std::string request_id(std::string_view asked);

}  // namespace tern::server
