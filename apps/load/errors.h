// Creates errors, as base/result.h does for the library.
#pragma once

#include <string>
#include <utility>

#include "tern/error.h"

namespace tern::load {

[[nodiscard]] inline std::unexpected<Error> fail(ErrorCode code, std::string message) {
  return std::unexpected(Error{code, std::move(message)});
}

}  // namespace tern::load
