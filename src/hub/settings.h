// Where the hub, its cache and the token are: options first, then the environment, under the names and with the
// defaults of huggingface_hub.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "tern/hub.h"

namespace tern::hub {

struct Settings {
  std::string endpoint;   // without a slash at its end
  std::string token;      // empty: none
  std::string cache_dir;  // absolute
  bool offline = false;
};

// The value of an environment variable, nullptr where it is not set; std::getenv outside of tests.
using GetVariable = std::function<const char*(const char* name)>;

// kInvalidArgument: an endpoint that is no http(s) address, a token with characters that no token has, or no home
// directory to put a cache into.
Result<Settings> settings_from(const HubOptions& options, const GetVariable& variable);

}  // namespace tern::hub
