#include "base/text/format_text.h"

#include <gtest/gtest.h>

#include "base/result.h"

namespace tern {
namespace {

TEST(FormatText, FormatsNumbersTextAndWidths) {
  const std::string name = "blk.0.attn_q.weight";
  EXPECT_EQ(format_text("tensor '{}' at byte {:#x}: {:.2f} {:>4}|", name, 4096, 1.5, -7),
            "tensor 'blk.0.attn_q.weight' at byte 0x1000: 1.50   -7|");
}

TEST(FormatText, FailCarriesTheCodeAndTheText) {
  const Result<int> result = fail(ErrorCode::kCorruption, "{}: {} bytes, not {}", "a.gguf", 3, 4);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::kCorruption);
  EXPECT_EQ(result.error().message, "a.gguf: 3 bytes, not 4");
}

}  // namespace
}  // namespace tern
