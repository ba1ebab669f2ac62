// CHECK and DCHECK: for bugs in Tern itself. Errors from outside are a Result (base/result.h).
#pragma once

namespace tern {
[[noreturn]] void check_failed(const char* file, int line, const char* condition);
}  // namespace tern

#define CHECK(condition) \
  (static_cast<bool>(condition) ? static_cast<void>(0) : ::tern::check_failed(__FILE__, __LINE__, #condition))
#ifdef NDEBUG
#define DCHECK(condition) static_cast<void>(false && (condition))
#else
#define DCHECK(condition) CHECK(condition)
#endif
