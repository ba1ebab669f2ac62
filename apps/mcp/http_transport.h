// A server that is reached over HTTP ("streamable HTTP"): each message is a POST, whose answer is JSON or a stream of
// events.
#pragma once

#include <memory>

#include "mcp/config.h"
#include "mcp/transport.h"

namespace tern::mcp {

// kNotSupported: this build has no downloads, and so no HTTP client.
Result<std::unique_ptr<Transport>> open_http(const ServerConfig& config, Incoming incoming);

}  // namespace tern::mcp
