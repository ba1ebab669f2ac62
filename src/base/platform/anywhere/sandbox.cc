#include "base/platform/sandbox.h"

namespace tern::platform {

SystemResult<Sandbox> enter_sandbox(const SandboxRules& /*rules*/) {
  return std::unexpected(std::make_error_code(std::errc::not_supported));
}

}  // namespace tern::platform
