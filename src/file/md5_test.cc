#include "file/md5.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace tern {
namespace {

// RFC 1321, appendix A.5.
TEST(Md5, TheVectorsOfTheRfc) {
  const auto sum = [](std::string_view text) { return md5(as_bytes(text)); };
  EXPECT_EQ(sum(""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(sum("a"), "0cc175b9c0f1b6a831c399e269772661");
  EXPECT_EQ(sum("abc"), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(sum("message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
  EXPECT_EQ(sum("abcdefghijklmnopqrstuvwxyz"), "c3fcd3d76192e4007dfb496cca67e13b");
  EXPECT_EQ(sum("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"), "d174ab98d277d9f5a5611c2c9f419d9f");
  EXPECT_EQ(sum("12345678901234567890123456789012345678901234567890123456789012345678901234567890"),
            "57edf4a22be3c955ac49da2e2107b67a");
}

// Lengths around a block boundary, where the padding takes one block or two. Expected values, by Python's hashlib:
// for n in (55, 56, 63, 64, 65, 119, 120, 1000): hashlib.md5(bytes(i * 7 % 256 for i in range(n))).hexdigest()
TEST(Md5, LengthsAroundBlocks) {
  const std::pair<size_t, std::string_view> cases[] = {
      {55, "8d24280288a696559fd8d5aa1b6d8c6e"},  {56, "ef2c72b7254c92459e498eddd4ace573"},
      {63, "c4c8c6d513f4e1604eb18508a1769364"},  {64, "a2fcb39a253b9b785b1f97518fa37683"},
      {65, "e49fe82d0bb12967a196c85de313e446"},  {119, "1640deea49ebb258ec6ede18d4b2d2d7"},
      {120, "05f879f7b542a7ebf0605adff67d4423"}, {1000, "de809ff794e91b68f9e91a2b7030bcb0"},
  };
  for (const auto& [n, expected] : cases) {
    std::vector<std::byte> bytes(n);
    for (size_t i = 0; i < n; ++i) bytes[i] = static_cast<std::byte>(i * 7 % 256);
    EXPECT_EQ(md5(bytes), expected) << n;
    for (const size_t step : {1u, 7u, 63u, 64u, 130u}) {
      Md5 sum;
      for (size_t at = 0; at < n; at += step) sum.add(Bytes(bytes).subspan(at, std::min(step, n - at)));
      EXPECT_EQ(sum.finish(), expected) << n << " in steps of " << step;
    }
  }
}

}  // namespace
}  // namespace tern
