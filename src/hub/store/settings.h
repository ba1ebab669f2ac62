// Locations of the hub, its cache and the token: from the options first, then from the environment, with the names and
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

// Returns the value of an environment variable, nullptr if it is not set; std::getenv outside of tests.
using GetVariable = std::function<const char*(const char* name)>;

// kInvalidArgument: the endpoint is not an http(s) address, the token has invalid characters, or there is no home
// directory for a cache.
Result<Settings> settings_from(const HubOptions& options, const GetVariable& variable);

}  // namespace tern::hub
