#include "grammar/grammar_test_support.h"

namespace tern {
namespace {

using namespace grammar_test;

Made tag(std::string_view format) {
  return Grammar::structural_tag("{\"type\": \"structural_tag\", \"format\": " + std::string(format) + "}");
}

void expect_taken(const Made& made, const std::vector<std::pair<const char*, const char*>>& texts) {
  for (const auto& [text, how] : texts) EXPECT_EQ(taken(made, text), how) << text;
}

constexpr const char* kCalls = R"({"type": "triggered_tags", "triggers": ["<call>"], "tags": [
  {"begin": "<call>{\"name\": \"a\", \"arguments\": ", "content": {"type": "json_schema", "json_schema":
    {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"], "additionalProperties": false}},
   "end": "}</call>"},
  {"type": "tag", "begin": "<call>b", "content": {"type": "regex", "pattern": "[0-9]+"}, "end": ["</call>", "."]}])";

TEST(StructuralTag, FreeTextUntilATrigger) {
  expect_taken(tag(std::string(kCalls) + "}"), {{"", "yes"},
                                                {"any text < at <cal all", "yes"},
                                                {"<<call>b7</call>", "yes"},
                                                {"\xC3\xA9 <call>b7</call> then <call>b8. <call", "yes"},
                                                {"<call>{\"name\": \"a\", \"arguments\": {\"x\": 5}}</call>", "yes"},
                                                {"<call>", "more"},
                                                {"text <call>b", "more"},
                                                {"<call>c", "no"},
                                                {"<call>bx", "no"},
                                                {"<call>{\"name\": \"a\", \"arguments\": {\"x\": true", "no"},
                                                {"\xFF", "no"}});
}

TEST(StructuralTag, OneAtLeastAndOneAtMost) {
  const std::string first = "<call>b1.", both = "<call>b1. and <call>b2.";
  for (const bool at_least : {false, true}) {
    for (const bool stops : {false, true}) {
      const Made made = tag(std::string(kCalls) + ", \"at_least_one\": " + (at_least ? "true" : "false") +
                            ", \"stop_after_first\": " + (stops ? "true" : "false") + "}");
      EXPECT_EQ(taken(made, ""), at_least ? "more" : "yes");
      EXPECT_EQ(taken(made, "text"), at_least ? "no" : "yes");
      EXPECT_EQ(taken(made, "text " + first), at_least ? "no" : "yes");
      EXPECT_EQ(taken(made, first), "yes");
      EXPECT_EQ(taken(made, both), stops ? "no" : "yes");
    }
  }
}

TEST(StructuralTag, TextWithinATagEndsWithIt) {
  const Made think = tag(R"({"type": "sequence", "elements": [
    {"type": "tag", "begin": "<t>", "content": {"type": "any_text", "excludes": ["no"]}, "end": "</t>"},
    {"type": "const_string", "value": "!"}]})");
  expect_taken(think, {{"<t></t>!", "yes"},
                       {"<t>a </ </t>!", "yes"},
                       {"<t>a</t>", "more"},
                       {"<t>a</t>a</t>!", "no"},
                       {"<t>no", "no"},
                       {"<t>nn</t>!", "yes"},
                       {"a", "no"}});
  const Made nested = tag(R"json({"type": "tag", "begin": "(", "end": ")", "content": {
    "type" : "triggered_tags",
             "triggers" : ["a"],
                          "tags" : [ {"begin" : "a", "content" : {"type" : "const_string", "value" : "b"}, "end" : ""} ]}
})json");
  expect_taken(nested, {{"()", "yes"}, {"(xaby)", "yes"}, {"(xac", "no"}, {"(ab)x", "no"}});
}

TEST(StructuralTag, Combinations) {
  const auto one = [](const char* type, const char* more = "") {
    return tag("{\"type\": \"" + std::string(type) +
               "\", \"content\": {\"type\": \"const_string\", \"value\": \"ab\"}" + more + "}");
  };
  expect_taken(one("optional"), {{"", "yes"}, {"ab", "yes"}, {"abab", "no"}});
  expect_taken(one("plus"), {{"", "more"}, {"ab", "yes"}, {"ababab", "yes"}});
  expect_taken(one("star"), {{"", "yes"}, {"abab", "yes"}, {"aba", "more"}});
  expect_taken(one("repeat", ", \"min\": 1, \"max\": 2"), {{"", "more"}, {"abab", "yes"}, {"ababab", "no"}});
  expect_taken(one("repeat", ", \"min\": 2, \"max\": -1"), {{"ab", "more"}, {"ababab", "yes"}});
  expect_taken(tag(R"({"type": "or", "elements": [{"type": "grammar", "grammar": "root ::= \"x\"\n  \"y\""},
                      {"type": "const_string", "value": "z"}]})"),
               {{"xy", "yes"}, {"z", "yes"}, {"x", "more"}, {"zz", "no"}});
  expect_taken(tag(R"({"type": "tags_with_separator", "separator": ",", "tags": [{"begin": "[", "end": "]",
                      "content": {"type": "json_schema", "json_schema": true}}]})"),
               {{"", "yes"}, {"[1]", "yes"}, {"[1],[{}]", "yes"}, {"[1],", "more"}, {"[1][2]", "no"}});
  expect_taken(tag(R"({"type": "dispatch", "loop": false, "excludes": ["stop"], "rules":
                      [["a=", {"type": "regex", "pattern": "[0-9]"}], ["b=", {"type": "const_string", "value": "c"}]]})"),
               {{"text a=1", "yes"}, {"a=1 ", "no"}, {"b=c", "yes"}, {"b=d", "no"}, {"stop", "no"}, {"stob=c", "yes"}});
  expect_taken(tag(R"({"type": "json_schema", "any_order": true, "json_schema": {"type": "object",
                      "properties": {"a": {"const": 1}, "b": {"const": 2}}, "required": ["a", "b"]}})"),
               {{R"({"b": 2, "a": 1})", "yes"}, {R"({"a": 1, "b": 2})", "yes"}});
  expect_taken(Grammar::structural_tag(R"({"type": "structural_tag", "triggers": ["<f"], "structures":
                      [{"begin": "<f=g>", "schema": {"type": "null"}, "end": "</f>"}]})"),
               {{"so <f=g>null</f> ok", "yes"}, {"<f=h", "no"}});
}

TEST(StructuralTag, ErrorsNameThePlace) {
  const auto expect = [](std::string_view format, std::string_view message) {
    EXPECT_EQ(error_of(tag(format)), "the structural tag: " + std::string(message)) << format;
  };
  expect(R"({"type": "token"})", "/format: the format 'token' is not one that Tern has");
  expect(R"({"type": "regex"})", "/format: \"pattern\" is missing");
  expect(R"({"type": "or", "elements": []})", "/format/elements: the list is empty");
  expect(R"({"type": "any_text", "max_tokens": 5})",
         "/format/max_tokens: text cannot be limited; use max_tokens of the request");
  expect(R"({"type": "any_text", "lazy": true})", "/format: \"any_text\" has no 'lazy'");
  expect(R"({"type": "json_schema", "json_schema": {}, "style": "qwen_xml"})",
         "/format/style: values are written as JSON only");
  expect(R"({"type": "tag", "begin": {"type": "token", "token": 1}, "end": ""})",
         "/format/begin: tokens cannot begin or end a tag, only texts");
  expect(
      R"({"type": "json_schema", "json_schema": {"type": "strange"}})",
      "/format/json_schema: at '/type': must be null, boolean, integer, number, string, array or object, or a list of "
      "these");
  const std::string triggered = R"({"type": "triggered_tags", "tags": [{"begin": "<a", "content": {"type": "any_text"},
                                    "end": ">"}], "triggers": [)";
  expect(triggered + R"("<b"]})", "/format/tags/0/begin: exactly one of the triggers has to begin this text");
  expect(triggered + R"("<", "<a"]})", "/format/tags/0/begin: exactly one of the triggers has to begin this text");
  expect(triggered + R"("<a", "b"]})", "/format/triggers: no tag begins with trigger 2");
  EXPECT_EQ(error_of(Grammar::structural_tag("{\"type\": \"structural_tag\"}")),
            "the structural tag: \"format\" is missing");
  EXPECT_EQ(error_of(Grammar::structural_tag("{}")), "the structural tag: \"type\" has to be \"structural_tag\"");
  EXPECT_NE(error_of(tag(R"({"type": "any_text", "excludes": [")" + std::string(5000, 'a') + "\"]}")), "none");
}

TEST(Ebnf, AsXgrammarReadsIt) {
  const Made made = Grammar::ebnf(
      "root ::= item.one\n  (\"=\" item.one)*  # and so on\nitem.one ::=\n  [a-z\\-] |\n  \"\\x1F600\"\n");
  expect_taken(made, {{"a=-", "yes"}, {"\xF0\x9F\x98\x80=b", "yes"}, {"a=", "more"}, {"A", "no"}});
  expect_taken(Grammar::ebnf("root ::= [^] \"\\/\\0\""), {{"\n/", "more"}, {"a\\", "no"}});
  expect_taken(Grammar::ebnf("root ::= a b a\r\nb ::= \"b\"\n\n\na ::= \"a\"{0,2}"), {{"aab", "yes"}, {"ab", "yes"}});
  for (const auto& [text, message] :
       {std::pair("root ::= \"a\" (=\"b\")", "line 1, column 14: look-ahead"),
        std::pair("root ::= a\na[max_tokens=3] ::= \"b\"", "line 2, column 2: options of a rule"),
        std::pair("root ::= Regex(\"a\")", "line 1, column 10: there is no rule 'Regex'"),
        std::pair("root ::= \"a\" )", "line 1, column 14: this belongs to no rule"),
        std::pair("root ::= \"\\xD800\"", "line 1, column 11: an escape of no character")}) {
    EXPECT_EQ(error_of(Grammar::ebnf(text)), std::string("the grammar: ") + message) << text;
  }
}

}  // namespace
}  // namespace tern
