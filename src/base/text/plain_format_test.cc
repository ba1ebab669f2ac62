#include "base/text/plain_format.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace tern {
namespace {

template <class... Args>
void expect_same(std::format_string<Args...> format, Args&&... args) {
  EXPECT_EQ(plain_format(format.get(), std::make_format_args(args...)),
            std::vformat(format.get(), std::make_format_args(args...)))
      << format.get();
}

TEST(PlainFormat, GivesTheTextsOfStdFormat) {
  expect_same("{}|{:>4}|{:<6}|{:^7}|{:05}|{:016x}|{:#x}|{:#010x}|{:02X}|{{}}", 1, -7, "ab", 'c', -42, 0xdeadbeefULL,
              255, 255, 11);
  expect_same("{1} {0} {1}", "a", std::string("b"));
  expect_same("{} {} {}", uint8_t{7}, int64_t{-9'000'000'000}, std::numeric_limits<uint64_t>::max());
  expect_same("{:.3} {:24}| {:040} {:*>9}", "abcdef", "x", 5, true);
  expect_same("no fields, {{ and }}");
}

TEST(PlainFormat, GivesTheNumbersOfStdFormat) {
  expect_same("{} {} {} {} {} {}", 1.5, 0.1, 1e-7, 1e30, -0.0, 1e300);
  expect_same("{:.2f} {:.1e} {:.3f} {:g} {:8.3f}|{:08.2f}", 3.14159, 12345.678, 2.0f, 0.5, -1.25, -1.25);
  expect_same("{:.3} {:e}", 2.0 / 3, 1234.5);  // a precision without a type, and a type without a precision
  expect_same("{} {} {}", 0.1f, 16777216.0f, std::numeric_limits<float>::infinity());
}

}  // namespace
}  // namespace tern
