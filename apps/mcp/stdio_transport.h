// A server that is a program: messages are lines on its standard input and output.
#pragma once

#include <memory>

#include "mcp/config.h"
#include "mcp/transport.h"

namespace tern::mcp {

// `on_log` gets each line that the server writes to its standard error.
Result<std::unique_ptr<Transport>> open_stdio(const ServerConfig& config, Incoming incoming,
                                              std::function<void(std::string_view line)> on_log);

}  // namespace tern::mcp
