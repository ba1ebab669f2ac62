#include "c_api/error.h"

#include <cstdlib>
#include <mutex>

#include "base/log.h"
#include "tern/engine.h"

namespace tern::c_api {
namespace {

// Reported if there is no memory for an error object; must not be freed.
tern_error& out_of_memory() {
  static tern_error error{TERN_OUT_OF_MEMORY, {}};
  return error;
}

struct WarningHandler {
  tern_on_warning call = nullptr;
  void* user = nullptr;
};

std::mutex handler_mutex;
WarningHandler warning_handler;

void pass_on(std::string_view line) {
  WarningHandler handler;
  {
    const std::lock_guard lock(handler_mutex);
    handler = warning_handler;
  }
  if (handler.call) handler.call(handler.user, std::string(line).c_str());
}

}  // namespace

tern_code status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kNotFound:
      return TERN_NOT_FOUND;
    case ErrorCode::kCorruption:
      return TERN_CORRUPTION;
    case ErrorCode::kNotSupported:
      return TERN_NOT_SUPPORTED;
    case ErrorCode::kInvalidArgument:
      return TERN_INVALID_ARGUMENT;
    case ErrorCode::kOutOfMemory:
      return TERN_OUT_OF_MEMORY;
    case ErrorCode::kDeviceLost:
      return TERN_DEVICE_LOST;
    case ErrorCode::kIo:
      return TERN_IO;
    case ErrorCode::kInterrupted:
      return TERN_INTERRUPTED;
  }
  return TERN_INTERNAL;
}

tern_code report(tern_error** error, tern_code status, std::string_view message) noexcept {
  if (!error) return status;
  try {
    *error = new tern_error{status, std::string(message)};
  } catch (...) {
    *error = &out_of_memory();
  }
  return status;
}

}  // namespace tern::c_api

using namespace tern::c_api;

const char* tern_version() { return TERN_VERSION_STRING; }

void tern_free(void* memory) { std::free(memory); }

const char* tern_error_message(const tern_error* error) {
  if (!error) return "";
  return error == &out_of_memory() ? "not enough memory" : error->message.c_str();
}

tern_code tern_error_code(const tern_error* error) { return error ? error->status : TERN_OK; }

void tern_error_free(tern_error* error) {
  if (error != &out_of_memory()) delete error;
}

void tern_set_warning_handler(tern_on_warning handler, void* user) {
  {
    const std::lock_guard lock(handler_mutex);
    warning_handler = {handler, user};
  }
  tern::set_warning_sink(handler ? pass_on : nullptr);
}
