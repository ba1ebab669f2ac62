// Instead of http_transport.cc, in builds without libcurl (TERN_HUB=OFF).
#include "mcp/http_transport.h"

namespace tern::mcp {

Result<std::unique_ptr<Transport>> open_http(const ServerConfig&, Incoming) {
  return fail(ErrorCode::kNotSupported, "has a URL, but this build of Tern has no HTTP client (TERN_HUB=OFF)");
}

}  // namespace tern::mcp
