#include "text/tokenizer/normalize.h"

#include <gtest/gtest.h>

namespace tern {
namespace {

std::string nfc(std::string_view text) { return to_nfc(text).value_or(std::string(text)); }

TEST(Nfc, ComposesAndReorders) {
  EXPECT_EQ(nfc("e\u0301"), "\u00E9");
  EXPECT_EQ(nfc("\u1112\u1161\u11AB"), "\uD55C");    // Hangul jamo
  EXPECT_EQ(nfc("q\u0307\u0323"), "q\u0323\u0307");  // canonical order
  EXPECT_EQ(nfc("\u212B"), "\u00C5");                // a singleton
  EXPECT_EQ(nfc("\u0958"), "\u0915\u093C");          // excluded from composition
  EXPECT_EQ(nfc("\uFB01"), "\uFB01");                // only compatibility: unchanged
}

TEST(Nfc, TextBelowU0300IsLeftAlone) {
  EXPECT_EQ(to_nfc("plain ASCII"), std::nullopt);
  EXPECT_EQ(to_nfc("Größe, façade, Łódź, ʻokina"), std::nullopt);
  EXPECT_TRUE(to_nfc("日本").has_value());
}

TEST(Nfc, ChunksDoNotShow) {
  std::string decomposed;
  std::string composed;
  for (int i = 0; i < 60'000; ++i) {
    decomposed += "e\u0301 \u304B\u3099";
    composed += "\u00E9 \u304C";
  }
  EXPECT_EQ(nfc(decomposed), composed);
}

TEST(Nfc, AMegabyteOfMarksTakesNoQuadraticTime) {
  std::string marks = "a";
  for (int i = 0; i < 250'000; ++i) marks += "\u0315\u0316";  // the wrong order each time
  const std::string out = nfc(marks);
  EXPECT_EQ(out.size(), marks.size());
  EXPECT_EQ(out.substr(0, 5), "a\u0316\u0316");
}

}  // namespace
}  // namespace tern
