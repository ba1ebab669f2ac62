// Turns a Result into the status and error object of the C interface.
#pragma once

#include <concepts>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "tern/tern.h"

struct tern_error {  // NOLINT(readability-identifier-naming): the name of tern.h
  tern_code status;
  std::string message;
};

namespace tern::c_api {

tern_code status_of(ErrorCode code);

// Sets `*error` if the caller wants it, and returns its status.
tern_code report(tern_error** error, tern_code status, std::string_view message) noexcept;

// Runs `call`, which returns a Result<void>, and turns its errors and exceptions into a status.
template <std::invocable F>
tern_code guarded(tern_error** error, F&& call) noexcept {
  try {
    Result<void> result = std::forward<F>(call)();
    if (result) return TERN_OK;
    return report(error, status_of(result.error().code), result.error().message);
  } catch (const std::bad_alloc&) {
    return report(error, TERN_OUT_OF_MEMORY, "not enough memory");
  } catch (const std::exception& e) {
    return report(error, TERN_INTERNAL, e.what());
  } catch (...) {
    return report(error, TERN_INTERNAL, "an exception of an unknown kind");
  }
}

// For arguments that must not be NULL: "text is NULL".
inline Result<void> given(const void* argument, std::string_view name) {
  if (argument) return {};
  return fail(ErrorCode::kInvalidArgument, "{} is NULL", name);
}

}  // namespace tern::c_api
