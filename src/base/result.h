// Helpers for Result<T>: creating errors and passing them on.
#pragma once

#include <utility>

#include "base/text/format_text.h"
#include "tern/error.h"

namespace tern {

// Usage: `return fail(ErrorCode::kCorruption, "{}: bad magic", path);`
template <class... Args>
[[nodiscard]] std::unexpected<Error> fail(ErrorCode code, std::format_string<Args...> format, Args&&... args) {
  return std::unexpected(Error{code, format_text(format, std::forward<Args>(args)...)});
}

}  // namespace tern

// `TRY(auto file, MappedFile::open(path));` declares `file`, or returns the error from the enclosing function.
// `TRY_STATUS(check(file));` does the same for Result<void>.
#define TERN_CONCAT_INNER(a, b) a##b
#define TERN_CONCAT(a, b) TERN_CONCAT_INNER(a, b)
#define TRY(declaration, ...)                                                       \
  auto TERN_CONCAT(tern_result_, __LINE__) = __VA_ARGS__;                           \
  if (!TERN_CONCAT(tern_result_, __LINE__))                                         \
    return std::unexpected(std::move(TERN_CONCAT(tern_result_, __LINE__)).error()); \
  declaration = *std::move(TERN_CONCAT(tern_result_, __LINE__))
#define TRY_STATUS(...)                                                                                       \
  do {                                                                                                        \
    if (auto tern_status = __VA_ARGS__; !tern_status) return std::unexpected(std::move(tern_status).error()); \
  } while (false)
