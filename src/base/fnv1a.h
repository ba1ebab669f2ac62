// FNV-1a, 64 bits: a short name for a text, the same on every machine. It is not secure: collisions are easy to make.
#pragma once

#include <cstdint>
#include <string_view>

namespace tern {

constexpr uint64_t fnv1a(std::string_view text) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3u;
  return hash;
}

}  // namespace tern
