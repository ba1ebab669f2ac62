// MD5 (RFC 1321): MLC's index gives it for every shard. It tells a damaged or foreign file from the right one; against
// somebody who makes files on purpose it is no protection.
#pragma once

#include <string>

#include "base/bytes.h"

namespace tern {

// 32 lower-case hexadecimal digits.
std::string md5(Bytes bytes);

}  // namespace tern
