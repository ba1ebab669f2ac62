#include "server/format_text.h"

namespace tern::server {

std::string vformat_text(std::string_view format, std::format_args arguments) {
  return std::vformat(format, arguments);
}

}  // namespace tern::server
