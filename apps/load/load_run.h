// Puts load on a server: decides when to send each request, and records the results.
//
// Closed loop: N clients, each of which sends its next request when its reply is complete (after a pause, if they
// think). Open loop: conversations arrive at random times, whether the server keeps up or not. A request that has to
// wait for a free thread counts as late from its arrival on, so a slow server cannot hide by delaying the requests.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "load/prompts.h"
#include "load/request_record.h"
#include "tern/options.h"

namespace tern::load {

// The maximum number of requests at a time, each on a thread of its own.
inline constexpr int kMaxClients = 256;

struct LoadOptions {
  std::string url = {};
  std::string api_key = {};
  RequestOptions request = {};

  int clients = 1;                  // closed loop; at most kMaxClients
  std::optional<double> rate = {};  // open loop: conversations per second, instead of `clients`
  int64_t requests = 0;             // to send in all; 0: as many as `seconds` allow
  double seconds = 0;               // no request is sent afterwards; running ones are waited for
  int turns = 1;                    // requests per conversation
  double think_seconds = 0;         // a client's pause between a reply and its next request
  double timeout_seconds = 120;     // how long the server may send no byte
  uint64_t seed = 1;                // for the arrivals
  bool keep_texts = false;          // keep texts in the records, to compare replies
  OnProgress on_progress = {};      // called from several threads, one at a time
};

struct LoadResult {
  std::vector<RequestRecord> records;  // in order of `sent`
  std::string model;                   // the name in the requests
  double offered_until = 0;  // when the load began to end: the last arrival, or the first client without further work
  double ended = 0;
  int64_t skipped = 0;   // requests that were not sent because an earlier one in their conversation had failed
  int most_running = 0;  // requests at one time
  bool interrupted = false;
};

// The default model: the first that the server lists. kIo if it lists none.
Result<std::string> listed_model(const LoadOptions& options);

// Runs the load. Failures of single requests are in their records. kIo: the server cannot be reached at all;
// kInvalidArgument: the URL is invalid. A stop request ends the running requests (Outcome::kStopped).
Result<LoadResult> run_load(const LoadOptions& options, const Prompts& prompts, const std::stop_token& stop);

}  // namespace tern::load
