#include <sys/sysctl.h>

#include <cstddef>

#include "base/platform/processors.h"

namespace tern::platform {
namespace {

int number_of(const char* name) {
  int number = 0;
  size_t size = sizeof(number);
  return ::sysctlbyname(name, &number, &size, nullptr, 0) == 0 ? number : 0;
}

}  // namespace

int fast_processors() { return number_of("hw.nperflevels") > 1 ? number_of("hw.perflevel0.logicalcpu") : 0; }

}  // namespace tern::platform
