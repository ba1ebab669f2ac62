#include "server/api/responses/thought_code.h"

#include "server/api/base64.h"

namespace tern::server {
namespace {

constexpr std::string_view kMark = "tern:";

}  // namespace

std::string encode_thoughts(std::string_view thoughts) { return std::string(kMark) + to_base64(thoughts); }

std::optional<std::string> decode_thoughts(std::string_view code) {
  if (!code.starts_with(kMark)) return std::nullopt;
  return from_base64(code.substr(kMark.size()));
}

}  // namespace tern::server
