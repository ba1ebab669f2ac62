#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace tern {

void check_failed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "tern: internal error: CHECK(%s) failed at %s:%d\n", condition, file, line);
  std::abort();
}

}  // namespace tern
