#include "file/gguf/gguf_cursor.h"

namespace tern {

std::unexpected<Error> GgufCursor::cut_short(std::string_view what, uint64_t needed) const {
  return fail(
      ErrorCode::kCorruption,
      "{}: {} at byte {} needs {} bytes, but the file ends {} bytes later ({} are missing): the download may be "
      "incomplete; fetch the file again",
      path_, what, position_, needed, remaining(), needed - remaining());
}

std::unexpected<Error> GgufCursor::string_cut_short(std::string_view what) const {
  if (!has(sizeof(uint64_t))) return cut_short(what, sizeof(uint64_t));
  GgufCursor behind_length = *this;
  const auto length = behind_length.take<uint64_t>();
  return behind_length.cut_short(what, length);
}

}  // namespace tern
