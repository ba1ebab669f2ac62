#pragma once

namespace tern::platform {

// A number that sysctl() knows by this name; 0 if it does not.
int system_number(const char* name);

}  // namespace tern::platform
