// MD5 (RFC 1321): MLC's index gives it for every shard. It detects damaged or wrong files, but does not protect against
// deliberately forged ones.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/bytes.h"

namespace tern {

// Hashes bytes that arrive in pieces.
class Md5 {
 public:
  void add(Bytes bytes);
  // Returns 32 lower-case hexadecimal digits. Call it last.
  std::string finish();

 private:
  std::array<uint32_t, 4> state_ = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  std::array<std::byte, 64> rest_{};  // an incomplete block
  uint64_t n_bytes_ = 0;
};

// Hashes bytes that are all available.
std::string md5(Bytes bytes);

}  // namespace tern
