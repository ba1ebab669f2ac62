#include "mcp/tool_names.h"

#include <gtest/gtest.h>

namespace tern::mcp {
namespace {

using Names = std::vector<std::string>;

TEST(McpToolNames, PlainOnesStay) {
  EXPECT_EQ(names_for({{"a", "read_file"}, {"b", "get-sum"}}), (Names{"read_file", "get-sum"}));
}

TEST(McpToolNames, OddOnesAreMappedAndStayDifferent) {
  EXPECT_EQ(names_for({{"a", "x.y"}, {"a", "x y"}, {"a", "x_y"}, {"a", ""}, {"a", "é"}}),
            (Names{"x_y", "x_y_2", "x_y_3", "tool", "__"}));
}

TEST(McpToolNames, TwoServersWithTheSameNameGetPrefixes) {
  EXPECT_EQ(names_for({{"git hub", "search"}, {"web", "search"}, {"web", "open"}}),
            (Names{"git_hub_search", "web_search", "open"}));
  EXPECT_EQ(names_for({{"a", "x"}, {"b", "x"}, {"c", "a_x"}}), (Names{"a_x", "b_x", "a_x_2"}));
}

TEST(McpToolNames, LongOnesAreCutAndStayDifferent) {
  const std::string longest(200, 'n');
  const Names names = names_for({{"a", longest}, {"a", longest + "m"}});
  EXPECT_EQ(names[0], std::string(64, 'n'));
  EXPECT_EQ(names[1], std::string(62, 'n') + "_2");
}

}  // namespace
}  // namespace tern::mcp
