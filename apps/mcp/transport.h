// How messages of the Model Context Protocol travel to one server and back.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"
#include "mcp/config.h"

namespace tern::mcp {

using Clock = std::chrono::steady_clock;

// The revision of the protocol without handshakes and sessions.
inline constexpr const char* kStatelessVersion = "2026-07-28";

// Larger than any real message; bounds the memory for one.
inline constexpr size_t kMaxMessageBytes = size_t{16} << 20;

// A message for the server.
struct Outgoing {
  std::string text;                             // one line of JSON
  std::string method = {};                      // of a request or a notification; empty: an answer
  std::string tool = {};                        // of tools/call
  NamedValues headers = {};                     // over HTTP, in addition to those of all messages
  Clock::time_point deadline = Clock::now();    // for sending, and for an answer that comes back the same way
  std::stop_token stop = {};                    // ends it early
  std::function<bool()> is_answered = nullptr;  // null: no answer is expected
};

// What arrives. Called by threads of the transport, or within send(); not after the transport's destructor.
struct Incoming {
  std::function<void(std::string_view message)> on_message;
  // The server cannot be reached any more. `why` continues "the MCP server NAME …".
  std::function<void(const std::string& why)> on_closed;
};

class Transport {
 public:
  virtual ~Transport() = default;

  // May return before an answer arrives, or after; several threads may call it. An error continues "the MCP server
  // NAME …". kInterrupted: `stop`.
  virtual Result<void> send(const Outgoing& message) = 0;

  // Called once the protocol's version is known.
  virtual Result<void> use_version(const std::string& version) = 0;

  // A lasting session that the server has forgotten must be opened again: true once after that happened.
  virtual bool take_lost_session() { return false; }

  // Asks the server to end, without waiting for it; the destructor waits.
  virtual void begin_close() = 0;

  // What the server wrote about itself last; "" if nothing.
  virtual std::string last_words() const { return ""; }
};

}  // namespace tern::mcp
