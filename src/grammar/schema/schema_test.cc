#include "base/busy_pool_test_support.h"
#include "base/pauses.h"
#include "grammar/grammar_test_support.h"

namespace tern {
namespace {

using namespace grammar_test;

std::string taken_by(std::string_view schema, std::string_view document) {
  return taken(Grammar::json_schema(schema), document);
}

TEST(Schema, AnyValue) {
  const std::vector<const char*> values = {"null",
                                           "true",
                                           "false",
                                           "0",
                                           "-12.5e+3",
                                           "\"\"",
                                           "[]",
                                           "{}",
                                           "[1, [2],\n  {\"a\": null}]",
                                           R"({"a":{"b":[]},"c":"\u00e9\n\ud83d\ude00"})"};
  const std::vector<const char*> others = {"",       "01",      "1.",    ".5",    "+1",      "nul",
                                           "[1,]",   "{\"a\"}", "{a:1}", "[1 2]", "\"\\x\"", "\"\\ud83d\"",
                                           "\"\n\"", "  1",     "1 ",    "[  1]", "1e999"};
  check({{"true", values, others},
         {"{}", values, others},
         {R"({"title": "x", "default": 3, "examples": [1]})", values, others}});
  check({{R"({"type": "object"})", {"{}", "{ }", R"({"a": 1, "b": {}})"}, {"[]", "1"}}});
}

TEST(Schema, Types) {
  check({{R"({"type": "string"})", {"\"a\""}, {"1", "null"}},
         {R"({"type": "integer"})", {"0", "-7", "123456789012345678"}, {"1.0", "01", "--1", "1234567890123456789012"}},
         {R"({"type": "number"})", {"0", "-7.25", "1e5", "1E-05"}, {"1e", "1e123", "a"}},
         {R"({"type": ["boolean", "null"]})", {"true", "null"}, {"0", "\"\""}},
         {R"({"type": "array"})", {"[]", "[1,\"a\"]"}, {"{}"}}});
}

TEST(Schema, PropertiesComeInTheirOrder) {
  check(
      {{R"({"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string"},"c":{"type":"null"}},"required":["b"]})",
        {R"({"a":1,"b":"x","c":null})", R"({"b":"x"})", R"({"a": 1, "b": "x"})", "{\n  \"b\": \"x\",\n  \"c\": null\n}",
         R"({"b":"x","d":1,"e":2})"},
        {"{}", R"({"a":1})", R"({"b":"x","a":1})", R"({"b":"x",})", R"({,"b":"x"})", R"({"d":1,"b":"x"})", R"({"b":1})",
         R"({"a":1 "b":"x"})", R"({"b":"x","b":"x"})"}},
       {R"({"properties":{"a":{"const":1}}})", {"{}", R"({"a":1})", R"({"b":2})"}, {"1", R"({"a":2})"}},
       {R"({"type":"object","properties":{},"additionalProperties":false})", {"{}"}, {R"({"a":1})"}},
       {R"({"type":"object","required":["a b"]})", {R"({"a b":1})", R"({"a b":1,"c":2})"}, {"{}", R"({"c":2})"}},
       {R"({"type":"object","properties":{"\"\\\n":{}}})", {R"({"\"\\\n":1})"}, {}}});
}

TEST(Schema, OtherPropertiesComeLast) {
  check({{R"({"type":"object","properties":{"ab":{"type":"integer"}},"additionalProperties":{"type":"string"}})",
          {R"({"ab":1})", R"({"ab":1,"abc":"x"})", R"({"a":"x"})", R"({"":"x","b":""})"},
          {R"({"ab":"x"})", R"({"ab":1,"ab":"x"})", R"({"x":1})", R"({"\u0061b":"x"})"}},
         {R"({"type":"object","properties":{"a":{}},"additionalProperties":true})",
          {R"({"a":1,"b":[]})", R"({"b":1})"},
          {}},
         {R"({"type":"object","additionalProperties":{"type":"integer"}})",
          {"{}", R"({"x":1,"y":2})"},
          {R"({"x":""})"}}});
}

TEST(Schema, CountsOfProperties) {
  check({{R"({"type":"object","additionalProperties":{},"minProperties":1,"maxProperties":3})",
          {R"({"a":1})", R"({"a":1,"b":2})", R"({"a":1,"b":2,"c":3})"},
          {"{}", R"({"a":1,"b":2,"c":3,"d":4})"}},
         {R"({"properties":{"a":{},"b":{},"c":{}},"maxProperties":2})",
          {"{}", R"({"a":1,"c":1})"},
          {R"({"a":1,"b":1,"c":1})"}},
         {R"({"properties":{"a":{},"b":{},"c":{}},"minProperties":2,"required":["c"]})",
          {R"({"b":1,"c":1})"},
          {R"({"c":1})", R"({"a":1,"b":1})"}},
         {R"({"type":"object","maxProperties":0})", {"{}"}, {R"({"a":1})"}}});
}

TEST(Schema, Arrays) {
  check({{R"({"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":3})",
          {"[1,2]", "[1, 2, 3]"},
          {"[]", "[1]", "[1,2,3,4]", "[1,\"\"]", "[1,2,]"}},
         {R"({"type":"array","items":{"type":"integer"}})", {"[]", "[1]", "[1,2,3,4,5,6,7,8,9]"}, {"[null]"}},
         {R"({"type":"array","minItems":3})", {"[1,\"\",null]", "[1,2,3,4]"}, {"[1,2]"}},
         {R"({"prefixItems":[{"type":"integer"},{"type":"string"}]})",
          {"[]", "[1]", "[1,\"\"]", "[1,\"\",1]"},
          {"[\"\"]", "[1,1]"}},
         {R"({"prefixItems":[{"type":"integer"}],"items":{"type":"null"},"minItems":2})",
          {"[1,null]", "[1,null,null]"},
          {"[1]", "[null,null]"}},
         {R"({"prefixItems":[{"type":"integer"}],"items":false,"minItems":1})", {"[1]"}, {"[]", "[1,1]"}},
         {R"({"type":"array","items":{"type":"integer"},"maxItems":0})", {"[]"}, {"[1]"}}});
}

TEST(Schema, Strings) {
  check({{R"({"type":"string","minLength":2,"maxLength":3})",
          {"\"ab\"", "\"a\xC3\xA9\xE2\x82\xAC\"", R"("\n\ud83d\ude00")", "\"\xF0\x9F\x98\x80\xF0\x9F\x98\x80\""},
          {"\"a\"", "\"abcd\"", R"("\ud83d\ude00")"}},
         {R"({"type":"string","minLength":2})", {"\"ab\"", "\"abcdefghij\""}, {"\"a\""}},
         {R"({"type":"string","maxLength":0})", {"\"\""}, {"\"a\""}},
         {R"({"type":"string","pattern":"^[a-z]+\\d?$"})", {"\"abc1\"", "\"a\""}, {"\"\"", "\"a12\"", "\"A\""}},
         {R"({"type":"string","pattern":"b"})", {"\"abc\"", "\"b\"", R"("\"b\n")"}, {"\"ac\""}},
         {R"({"pattern":"^[\"\\\\\n]$"})", {R"("\"")", R"("\\")", R"("\n")"}, {"\"\"\"", "\"a\""}},
         {R"({"type":"string","pattern":"^a","minLength":2,"maxLength":3,"format":"hostname"})",
          {"\"ab\"", "\"abc\""},
          {"\"a\"", "\"abcd\"", "\"bb\"", "\"a_\""}}});
}

TEST(Schema, Formats) {
  const auto format = [](const char* name) { return std::string(R"({"type":"string","format":")") + name + "\"}"; };
  const std::vector<std::tuple<const char*, std::vector<const char*>, std::vector<const char*>>> formats = {
      {"date",
       {"2024-02-29", "1999-12-31", "2000-02-29", "2024-04-30"},
       {"2023-02-29", "1900-02-29", "2024-13-01", "2024-04-31", "0000-01-01"}},
      {"time", {"23:59:59Z", "00:00:00.123+02:30"}, {"24:00:00Z", "12:60:00Z", "12:00:00", "12:00Z"}},
      {"date-time", {"2024-02-29T12:00:00Z"}, {"2024-02-30T12:00:00Z", "2024-02-29 12:00:00Z"}},
      {"duration", {"P1Y2M3D", "PT5M", "P3W", "P1DT12H"}, {"P", "PT", "P1", "P1Y3D", "P1W2D"}},
      {"email", {"a.b+c@example.org"}, {"a@", "@b.c", "a@b", "a..b@c.d"}},
      {"hostname", {"a", "www.example-1.com"}, {"", "-a", "a-", "a..b"}},
      {"ipv4", {"0.0.0.0", "192.168.10.255"}, {"256.1.1.1", "1.2.3", "01.2.3.4"}},
      {"ipv6",
       {"::", "::1", "fe80::1", "1:2:3:4:5:6:7:8", "1::8", "1:2:3:4:5:6:7::"},
       {":", "1:2:3", "1::2::3", "12345::", "1:2:3:4:5:6:7:8:9"}},
      {"uuid",
       {"123e4567-e89b-12d3-a456-426614174000"},
       {"123e4567e89b12d3a456426614174000", "123e4567-e89b-12d3-a456-42661417400g"}}};
  for (const auto& [name, yes, no] : formats) {
    const Made made = Grammar::json_schema(format(name));
    for (const char* text : yes) EXPECT_EQ(taken(made, "\"" + std::string(text) + "\""), "yes") << name << text;
    for (const char* text : no) EXPECT_NE(taken(made, "\"" + std::string(text) + "\""), "yes") << name << text;
  }
}

TEST(Schema, BoundsOfIntegers) {
  for (const auto& [low, high] : {std::pair(0, 9), std::pair(-5, 12), std::pair(7, 7), std::pair(99, 1001),
                                  std::pair(-230, -17), std::pair(-1, 0)}) {
    for (const int multiple : {1, 3, 7}) {
      const std::string schema = "{\"type\":\"integer\",\"minimum\":" + std::to_string(low) +
                                 ",\"exclusiveMaximum\":" + std::to_string(high + 1) +
                                 ",\"multipleOf\":" + std::to_string(multiple) + "}";
      const Made made = Grammar::json_schema(schema);
      int n = 0;
      for (int i = low - 30; i <= high + 130; ++i) {
        const bool is_in = low <= i && i <= high && i % multiple == 0;
        n += is_in ? 1 : 0;
        EXPECT_EQ(taken(made, std::to_string(i)) == "yes", is_in) << schema << i;
      }
      EXPECT_EQ(made.has_value(), n > 0) << schema << error_of(made);
    }
  }
  check(
      {{R"({"type":"integer","minimum":-1.5,"maximum":2.5})", {"-1", "0", "2"}, {"-2", "3", "-0", "00", "1.0"}},
       {R"({"type":"integer","exclusiveMinimum":1e2})", {"101", "999999999999999"}, {"100", "99", "1000000000000000"}},
       {R"({"type":"integer","minimum":100000000000000000})", {"100000000000000000"}, {"99999999999999999"}},
       {R"({"type":"integer","minimum":-9223372036854775808,"maximum":9223372036854775807})",
        {"0", "-123456789012345"},
        {"9223372036854775808"}},
       {R"({"type":"number","minimum":-1e300,"maximum":1e300})", {"0.5", "-123456789012345"}, {"1e5"}}});
}

TEST(Schema, BoundsOfNumbers) {
  check(
      {{R"({"type":"number","minimum":-0.25,"maximum":1.5})",
        {"0", "-0.25", "1.5", "1.50", "0.001", "-0.2", "1"},
        {"1.51", "-0.26", "2", "-1", "1.500001", "-0"}},
       {R"({"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1})",
        {"0.5", "0.0001", "0.999999"},
        {"0", "0.0", "1", "1.0", "0.000", "-0.1"}},
       {R"({"type":"number","minimum":12.34})", {"12.34", "12.35", "100", "13.0"}, {"12.33", "12.3", "9.9", "-13"}},
       {R"({"type":"number","exclusiveMaximum":-3.5})", {"-3.51", "-4", "-100.25"}, {"-3.5", "-3.50", "-3", "0", "4"}},
       {R"({"type":"number","multipleOf":5,"minimum":0})", {"0", "5", "15"}, {"7", "5.0"}}});
}

TEST(Schema, Values) {
  check({{R"({"enum":["a","ab",1,null,{"b":[1,2]}]})",
          {"\"a\"", "\"ab\"", "1", "null", R"({"b":[1,2]})", R"({"b": [1, 2]})"},
          {"\"\"", "2", "1.0"}},
         {R"({"const":1.50})", {"1.50"}, {"1.5"}},
         {R"({"type":"string","enum":["a",1]})", {"\"a\""}, {"1"}},
         {R"({"enum":["a","abc",7,12],"maxLength":2,"minimum":10,"pattern":"^a"})", {"\"a\"", "12"}, {"\"abc\"", "7"}},
         {R"({"enum":[{"a":1},{"a":"x"},{}],"properties":{"a":{"type":"string"}},"required":["a"]})",
          {R"({"a":"x"})"},
          {"{}", R"({"a":1})"}},
         {R"({"enum":[1,2,3],"const":2})", {"2"}, {"1"}}});
}

TEST(Schema, Alternatives) {
  check(
      {{R"({"anyOf":[{"type":"integer"},{"type":"string","maxLength":1}]})", {"1", "\"a\""}, {"\"ab\"", "null"}},
       {R"({"type":"object","properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]})",
        {R"({"a":1})", R"({"b":1})", R"({"a":1,"b":1})"},
        {"{}"}},
       {R"({"oneOf":[{"type":"integer"},{"type":"string"}]})", {"1", "\"a\""}, {"null"}},
       {R"({"oneOf":[{"properties":{"k":{"const":"a"},"x":{"type":"integer"}},"required":["k"]},{"properties":{"k":{"const":"b"},"x":{"type":"null"}},"required":["k"]}]})",
        {R"({"k":"a","x":1})", R"({"k":"b","x":null})"},
        {R"({"k":"a","x":null})", "{}"}},
       {R"({"oneOf":[{"type":"object","properties":{"a":{}},"required":["a"],"additionalProperties":false},{"type":"object","properties":{"b":{}},"required":["b"],"additionalProperties":false}]})",
        {R"({"a":1})", R"({"b":1})"},
        {"{}", R"({"a":1,"b":1})"}},
       {R"({"allOf":[{"properties":{"a":{"type":"integer"}}},{"properties":{"b":{},"a":{"maximum":5}},"required":["a"]}]})",
        {R"({"a":5,"b":1})", R"({"a":1})"},
        {R"({"a":6})", "{}"}},
       {R"({"allOf":[{"type":["string","null"]},{"type":["null","integer"]}]})", {"null"}, {"\"\"", "1"}},
       {R"({"allOf":[{"minLength":2},{"pattern":"^a"},{"pattern":"z$"}]})",
        {"\"az\"", "\"abz\""},
        {"\"a\"", "\"ab\"", "\"bz\""}},
       {R"({"anyOf":[{"type":"integer"},{"type":"null"}],"allOf":[{"anyOf":[{"minimum":3},{"type":"string"}]}]})",
        {"3", "4"},
        {"2"}}});
}

TEST(Schema, ReferencesAndRecursion) {
  check(
      {{R"({"$ref":"#/$defs/a~1b","$defs":{"a/b":{"type":"integer"}}})", {"1"}, {"\"\""}},
       {R"({"$defs":{"node":{"type":"object","properties":{"v":{"type":"integer"},"next":{"anyOf":[{"$ref":"#/$defs/node"},{"type":"null"}]}},"required":["v","next"]}},"$ref":"#/$defs/node"})",
        {R"({"v":1,"next":null})", R"({"v":1,"next":{"v":2,"next":{"v":3,"next":null}}})"},
        {R"({"v":1})", R"({"v":1,"next":{}})"}},
       {R"({"type":"array","items":{"$ref":"#"}})", {"[]", "[[],[[]]]"}, {"[1]"}},
       {R"({"properties":{"a":{"type":"integer"},"b":{"$ref":"#/properties/a","maximum":3}}})",
        {R"({"a":9,"b":3})"},
        {R"({"b":4})"}},
       {R"({"properties":{"a":false,"b":{"type":"null"}}})", {R"({"b":null})", "{}"}, {R"({"a":1})"}}});
}

TEST(Schema, WhiteSpaceIsBounded) {
  const std::string schema = R"({"type":"array","items":{"type":"integer"}})";
  EXPECT_EQ(taken_by(schema, "[\n" + std::string(32, ' ') + "1\n]"), "yes");
  EXPECT_EQ(taken_by(schema, "[\n" + std::string(33, ' ')), "no");
  EXPECT_EQ(taken_by(schema, "[\n\n"), "no");
  EXPECT_EQ(taken_by(schema, "[1  ,2]"), "no");
  EXPECT_EQ(taken_by(schema, "[\n\t\t1,\n\t\t2\n\t]"), "yes");
}

TEST(Schema, CompilationPausesBesideAModel) {
  std::string schema = R"({"type": "object", "properties": {)";
  for (int i = 0; i < 200; ++i) {
    schema += (i > 0 ? ",\"p" : "\"p") + std::to_string(i) + R"(": {"type": "string", "pattern": "^[a-z]{)" +
              std::to_string(i % 90 + 1) + "}$\"}";
  }
  schema += "}}";
  beside_pool(ThreadPool::available_cpus(), [&] {
    const Pauses pauses;
    const auto grammar = Grammar::json_schema(schema);
    EXPECT_TRUE(grammar) << error_of(grammar);
    EXPECT_GE(pauses.n_pauses(), 2);
  });
}

}  // namespace
}  // namespace tern
