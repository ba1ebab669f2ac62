// Schemas that are refused, and schemas designed to be expensive.
#include <chrono>

#include "grammar/grammar_test_support.h"

namespace tern {
namespace {

using namespace grammar_test;

void expect_error(const std::string& schema, const std::string& message) {
  EXPECT_EQ(error_of(Grammar::json_schema(schema)), "the JSON schema: " + message) << schema.substr(0, 200);
}

TEST(SchemaRefused, KeywordsByNameAndPlace) {
  expect_error(
      R"({"items":{"uniqueItems":true}})",
      "at '/items/uniqueItems': a reply can be held to different items only if their values are few (enum, const, "
      "boolean)");
  expect_error(R"~({"pattern":"a(?=b)"})~", "at '/pattern': look-around at column 2 cannot be held to");
  const std::string reference = ": this must refer to one schema in the same document, as #/$defs/NAME does";
  expect_error(R"({"$ref":"other.json"})", "at '/$ref'" + reference);
  expect_error(R"({"$ref":"#/$defs/none"})", "at '/$ref'" + reference);
  expect_error(R"({"$ref":"#none","$defs":{"a":{"$anchor":"other"}}})", "at '/$ref'" + reference);
  expect_error(R"({"$dynamicRef":"#a","$defs":{"b":{"$dynamicAnchor":"a"},"c":{"$dynamicAnchor":"a"}}})",
               "at '/$dynamicRef'" + reference);
  expect_error(R"({"type":"number","multipleOf":12345})",
               "at '/multipleOf': a reply can be held to multiples of N / 10^K, with N up to 2000 and K up to 12");
  expect_error(R"({"type":"object","minProperties":2})",
               "at '/minProperties': a reply cannot be held to several properties that the schema does not name");
  expect_error(R"({"type":"number","minimum":1e30})", "at '/': a bound of more than 15 digits");
  expect_error(R"({"type":"array","not":{"const":[1]}})",
               "at '/not': a reply cannot be held to differ from a list or an object");
  expect_error(R"({"type":"array","minItems":5000})",
               "at '/minItems': a reply can be held to at least 4096 items, no more");
  expect_error(R"({"minLength":20000})", "at '/minLength': a reply can be held to at least 16384 characters, no more");
}

TEST(SchemaRefused, ValuesThatAKeywordCannotHave) {
  expect_error(R"({"type":"text"})",
               "at '/type': must be null, boolean, integer, number, string, array or object, or a list of these");
  expect_error(R"({"type":[]})",
               "at '/type': must be null, boolean, integer, number, string, array or object, or a list of these");
  expect_error(R"({"minLength":-1})", "at '/minLength': must be a whole number from 0 up");
  expect_error(R"({"minLength":1.5})", "at '/minLength': must be a whole number from 0 up");
  expect_error(R"({"items":3})", "at '/items': must be a schema, or a list of schemas");
  expect_error(R"({"not":1})", "at '/not': must be a schema: an object, true or false");
  expect_error(R"({"dependentRequired":{"a":true}})", "at '/dependentRequired': must be an object of lists of names");
  expect_error(R"({"properties":{"a":1}})", "at '/properties': must be an object of schemas");
  expect_error(R"({"exclusiveMinimum":""})",
               "at '/exclusiveMinimum': must be a number, of a sensible size, or true or false as in draft-04");
  expect_error(R"({"multipleOf":0})", "at '/multipleOf': must be greater than 0");
  expect_error(R"({"anyOf":[]})", "at '/anyOf': must be a list of schemas, and not empty");
  expect_error(R"({"enum":[]})", "at '/enum': must be a list that is not empty");
  expect_error("[]", "a schema is an object, true or false");
  expect_error("{\"a\":1,\n \"a\":2}", "line 2, column 2: no valid JSON: 'a' a second time in one object");
  expect_error("{\"a\":1", "line 1, column 7: no valid JSON: ',' or '}' was expected");
}

TEST(SchemaRefused, WhatNoDocumentIsValidBy) {
  for (const char* schema :
       {"false", R"({"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]})",
        R"({"minimum":3,"maximum":2,"type":"number"})", R"({"type":"string","minLength":3,"maxLength":2})",
        R"({"allOf":[{"type":"string"},{"type":"null"}]})", R"({"enum":[1,2],"type":"string"})",
        R"({"type":"object","required":["a"],"additionalProperties":false})", R"({"minItems":2,"maxItems":1})",
        R"({"pattern":"^a$","minLength":2})"}) {
    EXPECT_TRUE(error_of(Grammar::json_schema(schema)).contains("no text of finite length is possible"))
        << schema << error_of(Grammar::json_schema(schema));
  }
  expect_error(R"({"$ref":"#"})", "at '/': this schema refers to itself and says nothing else");
  expect_error(R"({"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"allOf":[{"$ref":"#"}]}}})",
               "at '/': this schema refers to itself and says nothing else");
}

class SchemaHostile : public testing::Test {
 protected:
  // The schema may be refused or not, but quickly.
  void expect_quick(const std::string& schema) {
    const auto start = std::chrono::steady_clock::now();
    const Made made = Grammar::json_schema(schema);
    if (made) taken(made, "{\"a\":[1,{\"b\":\"xxxxxxxxxxxxxxxx\"}]}");
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    EXPECT_LT(elapsed.count(), 20) << schema.substr(0, 200) << "\n" << error_of(made);
  }
};

TEST_F(SchemaHostile, Nesting) {
  std::string deep, arrays;
  for (int i = 0; i < 10'000; ++i) deep += "{\"items\":", arrays += '[';
  expect_quick(deep);
  expect_error(deep, "nested more than 100 deep");
  expect_quick("{\"enum\":" + arrays);
}

TEST_F(SchemaHostile, ChainsAndExponentialAlternatives) {
  std::string chain = R"({"$ref":"#/$defs/0","$defs":{)", doubled = chain, both = chain;
  for (int i = 0; i < 2000; ++i) {
    const std::string name = std::to_string(i), next = std::to_string(i + 1);
    chain += "\"" + name + "\":{\"$ref\":\"#/$defs/" + next + "\"},";
    if (i >= 60) continue;
    doubled += "\"" + name + "\":{\"properties\":{\"a\":{\"$ref\":\"#/$defs/" + next +
               "\"},\"b\":{\"$ref\":\"#/$defs/" + next + "\"}},\"required\":[\"a\",\"b\"]},";
    both += "\"" + name + "\":{\"allOf\":[{\"$ref\":\"#/$defs/" + next + "\"},{\"anyOf\":[{\"minimum\":" + name +
            "},{\"maxLength\":" + name + "}]}]},";
  }
  expect_quick(chain + "\"2000\":{}}}");
  expect_quick(doubled + "\"60\":{\"type\":\"null\"}}}");
  expect_quick(both + "\"60\":{}}}");
  std::string ones = R"({"oneOf":[)";
  for (int i = 0; i < 3000; ++i) ones += "{\"const\":" + std::to_string(i) + "},";
  expect_quick(ones + "{\"const\":-1}]}");
}

TEST_F(SchemaHostile, Sizes) {
  expect_quick(R"({"type":"string","minLength":1000000000})");
  expect_quick(R"({"type":"string","minLength":16000,"pattern":"(a|b)*c(a|b){30}"})");
  expect_quick(R"({"type":"array","minItems":1000000000})");
  expect_quick(
      R"({"type":"array","minItems":4000,"items":{"type":"array","minItems":4000,"items":{"type":"array","minItems":4000}}})");
  expect_quick(R"({"type":"object","minProperties":1000000000,"additionalProperties":true})");
  expect_quick(R"({"minimum":-1e9999,"maximum":1e9999})");
  expect_quick(R"({"multipleOf":997,"maximum":999999999999999999})");
  expect_quick(R"({"pattern":"((((a{100}){100}){100}){100}){100}"})");
  std::string values = R"({"enum":[)", properties = R"({"properties":{)", required = R"("required":[)";
  for (int i = 0; i < 20'000; ++i) values += "\"value " + std::to_string(i * 7919) + "\",";
  for (int i = 0; i < 2'500; ++i) {
    properties += "\"p" + std::to_string(i) + "\":{},";
    required += "\"q" + std::to_string(i) + "\",";
  }
  expect_quick(values + "1]}");
  expect_quick(properties + "\"z\":{}}," + required + "\"z\"]}");
  expect_quick(properties + "\"z\":{}},\"additionalProperties\":true}");
  expect_quick(std::string(size_t{2} << 20, ' '));
}

}  // namespace
}  // namespace tern
