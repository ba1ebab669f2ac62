// Converts structs of the C interface, of this and other versions, to the engine's options.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tern/chat_reply.h"
#include "tern/hub.h"
#include "tern/options.h"
#include "tern/tern.h"

namespace tern::c_api {

// Returns the caller's options, with defaults for fields that its version does not have. `first_size` is sizeof(T) in
// the first version with T. A newer caller may set fields that this version does not know; ignoring them would hide a
// mistake, so they are rejected.
template <class T>
Result<T> read_struct(const T* given, const T& defaults, size_t first_size, std::string_view name) {
  T known = defaults;
  if (!given) return known;
  size_t size = 0;
  std::memcpy(&size, given, sizeof(size));
  if (size < first_size) {
    return fail(ErrorCode::kInvalidArgument, "{}.size is {}, but must be {} or more; begin with {}_init", name, size,
                first_size, name);
  }
  const char* bytes = reinterpret_cast<const char*>(given);
  const size_t n = std::min(size, sizeof(T));
  if (std::any_of(bytes + n, bytes + size, [](char byte) { return byte != 0; })) {
    return fail(ErrorCode::kInvalidArgument, "{} has fields set that Tern {} does not know", name, TERN_VERSION_STRING);
  }
  std::memcpy(&known, bytes, n);
  return known;
}

// Copies as much of `values` as the caller's struct has room for.
template <class T>
Result<void> fill_struct(T* out, T values, size_t first_size, std::string_view name) {
  size_t size = 0;
  if (out) std::memcpy(&size, out, sizeof(size));
  if (size < first_size) {
    return fail(ErrorCode::kInvalidArgument, "{}.size is {}, but must be {} or more", name, size, first_size);
  }
  values.size = size;
  std::memcpy(out, &values, std::min(size, sizeof(T)));
  return {};
}

inline std::string text_or_empty(const char* text) { return text ? text : ""; }

// `given` may be NULL.
Result<LoadOptions> read_options(const tern_load_options* given);
Result<ChatOptions> read_options(const tern_chat_options* given);
Result<SessionOptions> read_options(const tern_session_options* given);
Result<GenerateOptions> read_options(const tern_generate_options* given);
struct TurnOptions {
  ToolUse use;
  std::optional<bool> think;
  bool parse_special = false;
};
Result<TurnOptions> read_options(const tern_turn_options* given);
Result<HubOptions> read_options(const tern_pull_options* given);

}  // namespace tern::c_api
