// MD5 (RFC 1321): MLC's index gives it for every shard. It tells a damaged or foreign file from the right one; against
// somebody who makes files on purpose it is no protection.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/bytes.h"

namespace tern {

// Of bytes that come in pieces.
class Md5 {
 public:
  void add(Bytes bytes);
  // 32 lower-case hexadecimal digits. The last call.
  std::string finish();

 private:
  std::array<uint32_t, 4> state_ = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  std::array<std::byte, 64> rest_{};  // the beginning of a block
  uint64_t n_bytes_ = 0;
};

// The same of bytes that are all there.
std::string md5(Bytes bytes);

}  // namespace tern
