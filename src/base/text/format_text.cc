#include "base/text/format_text.h"

#ifdef __EMSCRIPTEN__
#include "base/text/plain_format.h"
#endif

namespace tern {

std::string vformat_text(std::string_view format, std::format_args arguments) {
#ifdef __EMSCRIPTEN__
  return plain_format(format, arguments);
#else
  return std::vformat(format, arguments);
#endif
}

}  // namespace tern
