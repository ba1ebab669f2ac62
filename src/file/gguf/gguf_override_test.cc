#include "file/gguf/gguf_override.h"

#include <gtest/gtest.h>

#include "file/gguf/gguf_test_support.h"

namespace tern {
namespace {

TEST(GgufOverride, EveryTypeReplacesAValueOrAddsOne) {
  GgufBytes bytes(0, 2);
  bytes.scalar<uint32_t>("number", 4, 7).string("text", "old");
  auto file = bytes.parse().value();
  for (const char* text :
       {"number=int:-9", "text=str:a=b:c", "new.flag=bool:true", "new.number=float:2.5e-3", "new.text=str:"}) {
    file.override_value(parse_gguf_override(text).value());
  }
  EXPECT_EQ(file.get_int("number").value(), -9);
  EXPECT_EQ(file.get_float("number").value(), -9.0);
  EXPECT_EQ(file.get_string("text").value(), "a=b:c");
  EXPECT_EQ(file.get_bool("new.flag").value(), true);
  EXPECT_EQ(file.get_float("new.number").value(), 2.5e-3);
  EXPECT_EQ(file.get_string("new.text").value(), "");
  ASSERT_EQ(file.metadata().size(), 5u);
  EXPECT_EQ(file.metadata()[0].first, "number");  // keeps its position
  const GgufFile moved = std::move(file);
  EXPECT_EQ(moved.get_string("text").value(), "a=b:c");
}

TEST(GgufOverride, ReadersWantTheirTypes) {
  auto file = GgufBytes(0, 0).parse().value();
  for (const char* text : {"i=int:1", "f=float:1", "b=bool:true", "s=str:1"}) {
    file.override_value(parse_gguf_override(text).value());
  }
  const auto message = [](const auto& looked_up) {
    if (looked_up) return std::string("found");
    EXPECT_EQ(looked_up.error().code, ErrorCode::kInvalidArgument);
    return looked_up.error().message;
  };
  EXPECT_EQ(message(file.get_int("s")),
            "t.gguf: the override of 's' is of type str, but an integer is needed; give the type int");
  EXPECT_EQ(message(file.get_int("f")),
            "t.gguf: the override of 'f' is of type float, but an integer is needed; give the type int");
  EXPECT_EQ(message(file.get_int("b")),
            "t.gguf: the override of 'b' is of type bool, but an integer is needed; give the type int");
  EXPECT_EQ(message(file.get_float("b")),
            "t.gguf: the override of 'b' is of type bool, but a number is needed; give the type float");
  EXPECT_EQ(message(file.get_bool("i")),
            "t.gguf: the override of 'i' is of type int, but a bool is needed; give the type bool");
  EXPECT_EQ(message(file.get_string("i")),
            "t.gguf: the override of 'i' is of type int, but a string is needed; give the type str");
  EXPECT_EQ(message(file.get_strings("s")),
            "t.gguf: the override of 's' is of type str, but an array of strings is needed, which no override can "
            "give");
}

TEST(GgufOverride, WhatIsNoneIsRefused) {
  struct Case {
    const char* text;
    const char* part;
  };
  for (const auto& [text, part] : {Case{"", "'' is not KEY=TYPE:VALUE"},
                                   {"key", "'key' is not KEY=TYPE:VALUE"},
                                   {"=int:1", "'=int:1' is not KEY=TYPE:VALUE"},
                                   {"key=1", "'key=1' is not KEY=TYPE:VALUE"},
                                   {"key:int=1", "'key:int=1' is not KEY=TYPE:VALUE"},
                                   {"key=u32:1", "of 'key' has the type 'u32'"},
                                   {"key=:1", "of 'key' has the type ''"},
                                   {"key=int:", "the value '', but the type int needs an integer of 64 bits"},
                                   {"key=int:1.5", "the value '1.5', but the type int needs"},
                                   {"key=int: 1", "the value ' 1'"},
                                   {"key=int:9223372036854775808", "the type int needs"},
                                   {"key=float:1x", "the type float needs a finite number"},
                                   {"key=float:nan", "the type float needs a finite number"},
                                   {"key=float:1e999", "the type float needs a finite number"},
                                   {"key=bool:yes", "the type bool needs true or false"},
                                   {"a\x1b[2Jb=int:x", "'a\\x1b[2Jb'"}}) {
    const auto made = parse_gguf_override(text);
    ASSERT_FALSE(made) << text;
    EXPECT_EQ(made.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(made.error().message.find(part), std::string::npos) << made.error().message;
    EXPECT_NE(made.error().message.find("the override"), std::string::npos) << made.error().message;
  }
}

}  // namespace
}  // namespace tern
