// Load on a server: when what is asked, and what came of it.
//
// Closed loop: N clients, each of which asks again when its reply is there (and a while later, if they think). Open
// loop: conversations arrive at random times, whether the server keeps up or not; a request that has to wait for a free
// thread is late from its arrival on, so that a slow server cannot hide by slowing the questions down.
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

// Requests that run at a time, each on a thread of its own.
inline constexpr int kMaxClients = 256;

struct LoadOptions {
  std::string url = {};
  std::string api_key = {};
  RequestOptions request = {};

  int clients = 1;                  // closed loop; at most kMaxClients
  std::optional<double> rate = {};  // open loop: conversations per second, instead of `clients`
  int64_t requests = 0;             // to send in all; 0: as many as `seconds` allow
  double seconds = 0;               // none is sent afterwards; those that run are waited for
  int turns = 1;                    // requests of a conversation
  double think_seconds = 0;         // of a client between a reply and the next request
  double timeout_seconds = 120;     // without a byte from the server
  uint64_t seed = 1;                // of the arrivals
  bool keep_texts = false;          // in the records, for comparing replies
  OnProgress on_progress = {};      // called from several threads, one at a time
};

struct LoadResult {
  std::vector<RequestRecord> records;  // by `sent`
  std::string model;                   // as it was asked for
  double offered_until =
      0;  // when the load began to end: the last arrival, or the first client with nothing left to do
  double ended = 0;
  int64_t skipped = 0;   // requests that were not sent because one before them in the conversation had failed
  int most_running = 0;  // requests at one time
  bool interrupted = false;
};

// The model that is asked for where none is named: the first that the server lists. kIo where it lists none.
Result<std::string> listed_model(const LoadOptions& options);

// Runs the load. Failures of single requests are in their records; kIo where the server cannot be reached at all, and
// kInvalidArgument for a URL that is none. A stop ends the requests that run (Outcome::kStopped).
Result<LoadResult> run_load(const LoadOptions& options, const Prompts& prompts, const std::stop_token& stop);

}  // namespace tern::load
