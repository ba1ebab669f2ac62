// What is told of a request once it has been answered: a line of text, or of JSON.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "server/connections.h"

namespace tern::server {

enum class LogFormat : uint8_t { kText, kJson };

struct LogOptions {
  LogFormat format = LogFormat::kText;
  bool texts = false;                                       // of prompts and answers, too
  std::function<void(std::string_view line)> on_line = {};  // gets whole lines, without their ends; none: no log
};

// Nothing in it is from a request's body, apart from the texts that are asked for.
struct RequestRecord {
  using Clock = std::chrono::steady_clock;

  std::string id;
  Peer peer;
  std::string method, route;  // the pattern, and not what was asked for, in which anything may be
  bool is_whole = false;      // all of the request has been read
  int status = 0;
  Clock::time_point start = Clock::now();
  double total_ms = 0;
  // Of a model's answers.
  std::string model = {};  // empty: it was not asked
  int n_prompt = 0, n_cached = 0, n_generated = 0;
  std::optional<double> queue_ms = {}, first_token_ms = {};  // until it ran; until the first token
  std::optional<double> joules = {};                         // its share of what the machine took
  std::string finish = {};
  // Kept only where the log has them.
  bool keeps_texts = false;
  std::string prompt = {}, answer = {};
};

std::string log_line(const RequestRecord& record, LogFormat format);

// The asker's name for a request where it is one that can stand in a log, else a new one.
std::string request_id(std::string_view asked);

}  // namespace tern::server
