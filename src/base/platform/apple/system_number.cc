#include "base/platform/apple/system_number.h"

#include <sys/sysctl.h>

#include <cstddef>

namespace tern::platform {

int system_number(const char* name) {
  int number = 0;
  size_t size = sizeof(number);
  return ::sysctlbyname(name, &number, &size, nullptr, 0) == 0 ? number : 0;
}

}  // namespace tern::platform
