// Errors of the public API: a code for the cause, and one line on what went wrong, where, and what to do.
#pragma once

#include <expected>
#include <string>

namespace tern {

enum class ErrorCode {
  kNotFound,         // the named file, tensor or device does not exist
  kCorruption,       // the file's bytes contradict its format
  kNotSupported,     // well-formed, but Tern cannot run it correctly
  kInvalidArgument,  // the caller's argument is out of range
  kOutOfMemory,      // the model or the context does not fit
  kDeviceLost,       // the GPU went away
  kIo,               // reading or writing failed, here or over the network
  kInterrupted,      // the caller asked to stop
};

struct Error {
  ErrorCode code;
  std::string message;  // one line: what, where (file, tensor, byte), what to do
};

template <class T>
using Result = std::expected<T, Error>;

}  // namespace tern
