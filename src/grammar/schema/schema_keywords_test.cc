// Keywords that combine schemas, or that older drafts have.
#include "grammar/grammar_test_support.h"

namespace tern {
namespace {

using namespace grammar_test;

TEST(SchemaKeywords, OthersAreAnnotations) {
  check({{R"({"type":"integer","x-order":1,"markdownDescription":"where","discriminator":{"propertyName":"kind"}})",
          {"1"},
          {"\"\"", "null"}},
         {R"({"type":"string","format":"color"})", {"\"red\""}, {"1"}},
         {R"({"type":["string","null"],"nullable":true})", {"null", "\"\""}, {"1"}},
         {R"({"type":"string","nullable":true})", {"null", "\"\""}, {"1"}},
         {"\xEF\xBB\xBF{\n \"type\": \"boolean\"\n}", {"true"}, {"1"}}});
}

TEST(SchemaKeywords, Not) {
  check(
      {{R"({"not":{"type":["object","array","string"]}})", {"1", "null", "0.5"}, {"{}", "[]", "\"\""}},
       {R"({"type":"number","not":{"type":"integer"}})", {"0.5", "-1.25"}, {"1", "1.0", "-3"}},
       {R"({"type":"integer","not":{"enum":[0,7,"a"]}})", {"1", "6", "8", "-1", "70"}, {"0", "7"}},
       {R"({"type":"string","not":{"const":"ab"}})", {"\"\"", "\"a\"", "\"abc\"", "\"b\""}, {"\"ab\""}},
       {R"({"type":"boolean","not":{"const":true}})", {"false"}, {"true"}},
       {R"({"type":"string","not":{"pattern":"^a+$"}})", {"\"\"", "\"ab\"", "\"b\""}, {"\"a\"", "\"aaa\""}},
       {R"({"type":"string","not":{"minLength":2}})", {"\"\"", "\"a\""}, {"\"ab\""}},
       {R"({"type":"string","not":{"format":"ipv4"}})", {"\"1.2.3\"", "\"x\""}, {"\"1.2.3.4\""}},
       {R"({"type":"integer","not":{"minimum":3,"maximum":5}})", {"2", "6"}, {"3", "4", "5"}},
       {R"({"type":"integer","not":{"multipleOf":3}})", {"1", "4", "20"}, {"0", "3", "21"}},
       {R"({"type":"object","not":{"required":["a"]}})", {"{}", R"({"b":1})"}, {R"({"a":1})", R"({"b":1,"a":1})"}},
       {R"({"type":"object","properties":{"a":{}},"not":{"properties":{"a":{"type":"string"}}}})",
        {R"({"a":1})"},
        {"{}", R"({"a":""})"}},
       {R"({"type":"object","properties":{"a":{},"b":{}},"not":{"properties":{"a":{}},"additionalProperties":false}})",
        {R"({"a":1,"b":1})", R"({"b":1})"},
        {"{}", R"({"a":1})"}},
       {R"({"type":"array","not":{"items":{"type":"integer"}}})", {"[1,\"\"]", "[null]"}, {"[]", "[1]", "[1,2]"}},
       {R"({"type":"array","not":{"contains":{"const":1}}})", {"[]", "[2,3]"}, {"[1]", "[2,1]"}},
       {R"({"not":{"additionalProperties":false,"oneOf":[{"maximum":2.5},true]}})", {"1"}, {"3"}},
       {R"({"not":{"not":{"type":"null"}}})", {"null"}, {"1"}},
       {R"({"type":["integer","string"],"not":{"anyOf":[{"minimum":3},{"type":"string","maxLength":2}]}})",
        {"1"},
        {"3", "\"abc\"", "\"a\""}},
       {R"({"type":["integer","string"],"not":{"allOf":[{"minimum":3},{"maxLength":2}]}})",
        {"1", "\"abc\""},
        {"3", "\"a\""}}});
}

TEST(SchemaKeywords, OneOfOverlappingBranches) {
  check({{R"({"oneOf":[{"type":"integer"},{"type":"number"}]})", {"0.5"}, {"1"}},
         {R"({"oneOf":[{"type":"integer","minimum":2},{"type":"integer","maximum":5}]})", {"1", "6"}, {"2", "5"}},
         {R"({"type":"object","oneOf":[{"required":["a"]},{"required":["b"]}]})",
          {R"({"a":1})", R"({"b":1})"},
          {"{}", R"({"a":1,"b":1})", R"({"b":1,"a":1})"}},
         {R"({"oneOf":[{"const":3},{"type":"integer","minimum":2}]})", {"2", "4"}, {"3", "1"}},
         {R"({"oneOf":[{"type":"string","format":"ipv4"},{"type":"string","format":"ipv6"}]})",
          {"\"1.2.3.4\"", "\"::1\"", "\"::ffff:1.2.3.4\""},
          {"\"x\""}},
         {R"({"oneOf":[{"properties":{"k":{"const":"a"}}},{"properties":{"k":{"const":"b"}}}]})",
          {R"({"k":"a"})", R"({"k":"b"})"},
          {"{}", R"({"k":"c"})"}}});
}

TEST(SchemaKeywords, IfAndDependencies) {
  check(
      {{R"({"type":"object","properties":{"k":{"enum":["a","b"]},"x":{}},"required":["k"],
              "if":{"properties":{"k":{"const":"a"}}},"then":{"required":["x"]},"else":{"properties":{"x":false}}})",
        {R"({"k":"a","x":1})", R"({"k":"b"})"},
        {R"({"k":"a"})", R"({"k":"b","x":1})"}},
       {R"({"type":"object","properties":{"a":{},"b":{}},"dependentRequired":{"a":["b"]}})",
        {"{}", R"({"b":1})", R"({"a":1,"b":1})"},
        {R"({"a":1})"}},
       {R"({"type":"object","properties":{"a":{},"b":{}},"dependencies":{"a":["b"]}})", {"{}"}, {R"({"a":1})"}},
       {R"({"type":"object","properties":{"a":{},"b":{}},"dependentSchemas":{"a":{"properties":{"b":{"type":"null"}}}}})",
        {R"({"b":1})", R"({"a":1,"b":null})"},
        {R"({"a":1,"b":1})"}}});
}

TEST(SchemaKeywords, NamesOfProperties) {
  check(
      {{R"({"type":"object","properties":{"score":{"type":"integer"}},"required":["score"],
              "additionalProperties":false,"patternProperties":{"^x_":{"type":"integer"}}})",
        {R"({"score":1})", R"({"score":1,"x_a":2,"x_":3})"},
        {R"({"score":1,"x_a":""})", R"({"score":1,"y":2})", R"({"x_a":2})"}},
       {R"({"type":"object","patternProperties":{"^a":{"type":"integer"},"b$":{"minimum":5}},"additionalProperties":{"type":"null"}})",
        {R"({"a":1,"ab":7,"b":9,"c":null})"},
        {R"({"ab":1})", R"({"a":null})", R"({"c":1})"}},
       {R"({"type":"object","properties":{"ax":{"type":"integer"}},"patternProperties":{"^a":{"minimum":3}}})",
        {R"({"ax":3,"other":""})"},
        {R"({"ax":2})", R"({"az":1})"}},
       {R"({"type":"object","propertyNames":{"enum":["a","b"]},"additionalProperties":{"type":"integer"}})",
        {"{}", R"({"a":1,"b":2})"},
        {R"({"c":1})", R"({"a":""})", R"({"a":1,"a":2})"}},
       {R"({"type":"object","propertyNames":{"pattern":"^[a-z]+$","maxLength":2}})",
        {R"({"a":1,"zz":2})"},
        {R"({"A":1})", R"({"aaa":1})"}},
       {R"({"type":"object","propertyNames":{"maxLength":3}})", {R"({"foo":1})"}, {R"({"foobar":1})"}},
       {R"({"type":"object","properties":{"a":{}},"additionalProperties":{},"minProperties":2})",
        {R"({"a":1,"b":1})", R"({"a":1,"b":1,"c":1})"},
        {R"({"a":1})", R"({"b":1})"}}});
}

TEST(SchemaKeywords, ItemsOfArrays) {
  check(
      {{R"({"$schema":"http://json-schema.org/draft-07/schema#","type":"array","items":[{"type":"integer"},{"type":"null"}],"additionalItems":false})",
        {"[]", "[1]", "[1,null]"},
        {"[null]", "[1,null,1]"}},
       {R"({"type":"array","items":[{"type":"integer"}],"additionalItems":{"type":"string"}})",
        {"[1,\"\",\"a\"]"},
        {"[1,2]"}},
       {R"({"type":"array","items":{"enum":["a","b",1]},"uniqueItems":true})",
        {"[]", "[\"b\",1,\"a\"]"},
        {"[1,1]", "[\"a\",1,\"a\"]"}},
       {R"({"type":"array","maxItems":1,"uniqueItems":true})", {"[]", "[\"x\"]"}, {"[1,2]"}},
       {R"({"type":"array","items":{"type":"integer"},"contains":{"minimum":5}})", {"[5]", "[1,7,2]"}, {"[]", "[1,2]"}},
       {R"({"type":"array","items":{"type":"integer"},"contains":{"const":1},"minContains":2,"maxContains":3})",
        {"[1,1]", "[1,0,1,1]"},
        {"[1]", "[1,1,1,1]", "[0]"}},
       {R"({"prefixItems":[{"type":"integer"}],"unevaluatedItems":false})", {"[1]", "[]"}, {"[1,2]", "[null]"}}});
}

TEST(SchemaKeywords, ReferencesByAddressAndAnchor) {
  check(
      {{R"({"$defs":{"Car Type/1":{"enum":["sedan","SUV"]}},"$ref":"#/$defs/Car%20Type~11"})", {"\"SUV\""}, {"\"\""}},
       {R"({"$ref":"#x","$defs":{"a":{"$anchor":"x","type":"null"}}})", {"null"}, {"1"}},
       {R"({"$id":"http://a.b/root.json","$ref":"item.json","$defs":{"a":{"$id":"item.json","type":"null"}}})",
        {"null"},
        {"1"}},
       {R"({"$id":"http://a.b/c/","$ref":"http://a.b/c/d#y","$defs":{"a":{"$id":"d","$defs":{"e":{"$anchor":"y","type":"null"}}}}})",
        {"null"},
        {"1"}},
       {R"({"$dynamicRef":"#n","$defs":{"a":{"$dynamicAnchor":"n","type":"null"}}})", {"null"}, {"1"}},
       {R"({"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/a","type":"string","definitions":{"a":{"type":"null"}}})",
        {"null"},
        {"\"\""}},
       {R"({"$schema":"http://json-schema.org/draft-04/schema#","type":"integer","minimum":3,"exclusiveMinimum":true})",
        {"4"},
        {"3"}},
       {R"({"allOf":[{"properties":{"a":{}}}],"properties":{"b":{}},"unevaluatedProperties":false})",
        {R"({"b":1,"a":1})", "{}"},
        {R"({"c":1})"}}});
}

TEST(SchemaKeywords, MultiplesOfAnyNumber) {
  check({{R"({"type":"number","multipleOf":1})", {"0", "17", "-3"}, {"0.5", "1.5"}},
         {R"({"type":"number","multipleOf":0.01})", {"0.01", "12.5", "3", "-0.07"}, {"0.001", "1.005"}},
         {R"({"type":"number","multipleOf":2.5,"minimum":0})", {"0", "2.5", "5", "12.5"}, {"1", "2", "2.51"}},
         {R"({"allOf":[{"multipleOf":0.5},{"multipleOf":3}],"type":"number"})", {"3", "6"}, {"0.5", "1.5", "4"}},
         {R"({"type":"number","maximum":0.12345678901234567})", {"0.123", "-1"}, {"0.13", "0.1235"}},
         {R"({"type":"integer","multipleOf":1000})", {"0", "3000"}, {"300", "1"}}});
}

TEST(SchemaKeywords, ADiscriminatedUnion) {
  check(
      {{R"({"$defs":{"Cat":{"properties":{"kind":{"const":"cat","type":"string"},"meows":{"type":"integer"}},"required":["kind","meows"],"type":"object"},
             "Dog":{"properties":{"kind":{"const":"dog","type":"string"},"barks":{"type":"number"}},"required":["kind","barks"],"type":"object"}},
             "properties":{"pet":{"discriminator":{"mapping":{"cat":"#/$defs/Cat","dog":"#/$defs/Dog"},"propertyName":"kind"},
             "oneOf":[{"$ref":"#/$defs/Cat"},{"$ref":"#/$defs/Dog"}]},"n":{"type":"integer"}},"required":["pet","n"],"type":"object"})",
        {R"({"pet":{"kind":"cat","meows":3},"n":1})", R"({"pet":{"kind":"dog","barks":0.5},"n":1})"},
        {R"({"pet":{"kind":"cat","barks":3},"n":1})", R"({"pet":{"kind":"cow"},"n":1})"}}});
}

TEST(SchemaKeywords, FormatsOfAddresses) {
  const auto format = [](const char* name) { return std::string(R"({"type":"string","format":")") + name + "\"}"; };
  const std::vector<std::tuple<const char*, std::vector<const char*>, std::vector<const char*>>> formats = {
      {"uri",
       {"https://a.b/c?d=e#f", "mailto:a@b.c", "urn:x:y"},
       {"//a", "a b", "http://a b", "http://[x", "http://a/%zz"}},
      {"uri-reference", {"/a/b", "a?b", "#c", "", "//h/p", "http://a"}, {"a b", "\u00e9"}},
      {"iri", {"http://\u00e9.org/\u00fc"}, {"http://a b"}},
      {"iri-reference", {"/\u00e9"}, {"a b"}},
      {"uri-template", {"http://a/{b}{?c,d*}"}, {"{", "a b", "{b"}},
      {"ipv6", {"::ffff:1.2.3.4", "1:2:3:4:5:6:1.2.3.4"}, {"::1.2.3", "1.2.3.4::"}},
      {"json-pointer", {"", "/a/~0b/~1"}, {"a", "/~2"}},
      {"relative-json-pointer", {"0", "1/a", "2#"}, {"01", "/a"}},
      {"regex", {"^a+(b|c)*$", "[a-z]{2,}"}, {"(", "[", "*a"}},
      {"idn-email", {"a@b.c"}, {"a"}},
      {"idn-hostname", {"a.b"}, {"-a"}}};
  for (const auto& [name, yes, no] : formats) {
    const Made made = Grammar::json_schema(format(name));
    for (const char* text : yes) EXPECT_EQ(taken(made, "\"" + std::string(text) + "\""), "yes") << name << text;
    for (const char* text : no) EXPECT_NE(taken(made, "\"" + std::string(text) + "\""), "yes") << name << text;
  }
}

// An extension: a text by a grammar, whatever characters JSON escapes.
TEST(JsonSchema, TextsByAGrammar) {
  const std::string lark = R"("$lark": "start: line+\nline: /[^\\n]*/ \"\\n\"")";
  const Made g = Grammar::json_schema(R"({"type": "object", "properties": {"text": {"type": "string", )" + lark +
                                      R"(}}, "required": ["text"], "additionalProperties": false})");
  EXPECT_EQ(taken(g, R"({"text": "a \"b\" \\\né\n"})"), "yes");
  EXPECT_EQ(taken(g, R"({"text": "a"})"), "no");
  EXPECT_EQ(taken(g, R"({"text": 1})"), "no");
  EXPECT_EQ(taken(Grammar::json_schema("{" + lark + "}"), "[1]"), "no");
  EXPECT_EQ(taken(Grammar::json_schema("{\"type\": [\"string\", \"null\"], " + lark + "}"), "null"), "yes");
  const auto refused = [&](const std::string& more, std::string_view words) {
    const std::string error = error_of(Grammar::json_schema("{\"type\": \"string\", " + lark + ", " + more + "}"));
    EXPECT_TRUE(error.contains(words)) << more << "\n" << error;
  };
  refused(R"("minLength": 1)", "at '/$lark': a text cannot be held to a grammar and to something else");
  refused(R"("pattern": "a")", "something else");
  refused(R"("not": {"const": "a"})", "cannot be compared with a grammar");
  refused(R"("enum": ["a", "b"])", "a given text cannot be compared with a grammar");
  refused(R"("allOf": [{"$lark": "start: \"a\""}])", "one grammar only");
  EXPECT_TRUE(
      error_of(Grammar::json_schema(R"({"propertyNames": {"$lark": "start: \"a\""}})")).contains("names cannot"));
  EXPECT_TRUE(error_of(Grammar::json_schema(R"({"type": "string", "$lark": "start: \"a"})"))
                  .contains("at '/$lark': line 1, column 8: '\"' without its end"));
}

// An extension: members in any order, each once, here and inside.
TEST(JsonSchema, MembersInAnyOrder) {
  check({{R"({"$anyOrder": true, "type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "boolean"},
              "c": {"properties": {"x": {}, "y": {"const": 1}}, "required": ["x", "y"], "additionalProperties": false,
              "type": "object"}}, "required": ["a", "b"], "additionalProperties": false})",
          {R"({"a": 1, "b": true})", R"({"b": true, "a": 1})", R"({"b": true,"c": {"y": 1, "x": 2},"a": 1})"},
          {R"({"a": 1})", R"({"b": true, "a": 1, "b": true})", R"({"b": true, "a": true})", "{}",
           R"({"a": 1, "b": true, "c": {"x": 1}})", R"({"a": 1, "b": true, "d": 1})", R"({"a": 1, "b": true, })"}},
         {R"({"$anyOrder": true, "type": "object", "properties": {"a": {}, "b": {"type": "integer"}}})",
          {"{}", R"({"b": 1})", R"({"z": 0, "b": 1, "y": 0, "a": 2, "x": 0})"},
          {R"({"b": "1"})", R"({"b": 1, "z": 0, "b": 1})", R"({"z": 0, "a": 1, "a": 2})"}},
         {R"({"$anyOrder": true, "type": "object", "properties": {"a": {}, "b": {}, "c": {}}, "required": ["c"],
              "additionalProperties": false, "minProperties": 2, "maxProperties": 2})",
          {R"({"c": 1, "a": 1})", R"({"b": 1, "c": 1})"},
          {R"({"c": 1})", R"({"a": 1, "b": 1})", R"({"a": 1, "b": 1, "c": 1})"}},
         {R"({"$anyOrder": true, "properties": {"in": {"$anyOrder": false, "type": "object", "properties": {"a": {},
              "b": {}}, "required": ["a", "b"], "additionalProperties": false}}, "type": "object"})",
          {R"({"in": {"a": 1, "b": 2}})"},
          {R"({"in": {"b": 1, "a": 2}})"}}});
  std::string many = R"({"$anyOrder": true, "type": "object", "properties": {)";
  for (int i = 0; i < 13; ++i) many += (i > 0 ? ", \"" : "\"") + std::string(1, static_cast<char>('a' + i)) + "\": {}";
  EXPECT_TRUE(error_of(Grammar::json_schema(many + "}}")).contains("at '/properties': more than 12 in any order"));
  EXPECT_EQ(taken(Grammar::json_schema(many.substr(0, many.size() - 9) + "}, \"additionalProperties\": false}"),
                  R"({"l": 1, "b": 2, "a": 3})"),
            "yes");
  EXPECT_TRUE(error_of(Grammar::json_schema(R"({"$anyOrder": true, "type": "object", "maxProperties": 2})"))
                  .contains("cannot be counted in any order"));
  EXPECT_TRUE(error_of(Grammar::json_schema(R"({"$anyOrder": 1})")).contains("/$anyOrder"));
}

}  // namespace
}  // namespace tern
