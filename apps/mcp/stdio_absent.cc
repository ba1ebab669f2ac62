// Instead of stdio_transport.cc, on systems for which no child process is written yet.
#include "mcp/stdio_transport.h"

namespace tern::mcp {

Result<std::unique_ptr<Transport>> open_stdio(const ServerConfig&, Incoming, std::function<void(std::string_view)>) {
  return fail(ErrorCode::kNotSupported,
              "is a program, which Tern cannot start on Windows yet; name a server with a URL");
}

}  // namespace tern::mcp
