#include "text/chat/forms/json_scanner.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>

namespace tern {
namespace {

using Step = JsonScanner::Step;

// The scanner's last step on a text, and the number of bytes until then.
std::pair<Step, size_t> scan(std::string_view text) {
  JsonScanner scanner;
  for (size_t at = 0; at < text.size(); ++at) {
    const Step step = scanner.feed(text[at]);
    if (step != Step::kMore) return {step, at + 1};
  }
  return {Step::kMore, text.size()};
}

TEST(JsonScanner, FindsTheEnd) {
  for (const std::string good : {"{}", "[]", R"({"a": [1, -0.5e+7, 0, "\u00E9\"]}\\", true, false, null], "b": {} })",
                                 "[[[]], {\"\": \"\"}]", "[ 1 , 2 ]", "[0e1,1E-2,-1]", "{\"a\n\":1}"}) {
    const bool is_json = nlohmann::json::accept(good);
    EXPECT_EQ(scan(good + "x"), std::pair(is_json ? Step::kDone : Step::kBad, is_json ? good.size() : 4)) << good;
  }
  EXPECT_EQ(scan(std::string(64, '[') + std::string(64, ']')).first, Step::kDone);
  EXPECT_EQ(scan(std::string(10'000, '[')), std::pair(Step::kBad, size_t{65}));
}

// Compares with another parser: random texts of JSON's characters, and JSON with single bytes changed.
TEST(JsonScanner, TakesWhatIsJson) {
  const std::string alphabet = "{}[],:\"\\ /0123-+.eEubtrufalsnv \n";
  const std::string start = R"({"a": [1, -0.5e+7, "\u00e9\n", true, false, null], "b": {"c": 0}})";
  std::mt19937 random(1);
  int n_json = 0;
  for (int i = 0; i < 100'000; ++i) {
    std::string text = i % 3 == 0 ? "[" : start;
    if (i % 3 == 0) {
      for (size_t n = random() % 8; n > 0; --n) text += alphabet[random() % alphabet.size()];
      text += "]";
    } else {
      for (int n = 0; n < i % 3; ++n) text[random() % text.size()] = alphabet[random() % alphabet.size()];
    }
    // The other parser refuses numbers beyond a double's range, possible with four digits after an e.
    const size_t e = text.find_first_of("eE", text.find_first_of("0123456789"));
    if (e != text.npos && text.find_first_not_of("+-0123456789", e + 1) - e > 4) continue;
    const bool brackets = text[0] == '[' || text[0] == '{';
    const bool is_json = nlohmann::json::accept(text) && brackets;
    n_json += is_json;
    EXPECT_EQ(scan(text) == std::pair(Step::kDone, text.size()), is_json) << text;
  }
  EXPECT_GT(n_json, 4'000);
}

TEST(JsonScanner, TellsOfMembers) {
  const auto members = json_members(R"({ "a" : [1, {"x": ":,"}] ,"b\"":"},\"" , "c":0})", 9);
  ASSERT_TRUE(members);
  ASSERT_EQ(members->size(), 3u);
  EXPECT_EQ((*members)[0].name, "\"a\"");
  EXPECT_EQ((*members)[0].value, R"([1, {"x": ":,"}])");
  EXPECT_EQ((*members)[1].name, R"("b\"")");
  EXPECT_EQ((*members)[1].value, R"("},\"")");
  EXPECT_EQ((*members)[2].value, "0");
  EXPECT_TRUE(json_members("{ }", 0)->empty());
  EXPECT_FALSE(json_members(R"({"a":1,"b":2})", 1));
  EXPECT_FALSE(json_members(R"({"a":1} )", 9));
  EXPECT_FALSE(json_members(R"({"a":1)", 9));
  EXPECT_FALSE(json_members("[1]", 9));
}

TEST(JsonScanner, TellsOfItems) {
  EXPECT_EQ(json_items(R"([ 1 ,[2,3],{"a":"]"} , "x,y"])", 9),
            (std::vector<std::string_view>{"1", "[2,3]", R"({"a":"]"})", R"("x,y")"}));
  EXPECT_TRUE(json_items("[]", 9)->empty());
  EXPECT_FALSE(json_items("[1,2]", 1));
  EXPECT_FALSE(json_items("{}", 1));
}

}  // namespace
}  // namespace tern
