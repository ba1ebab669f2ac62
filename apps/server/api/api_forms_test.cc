// Conversations, tool calls, responses with items, constrained answers, and embeddings.
#include <cstring>
#include <thread>
#include <vector>

#include "server/api/api_test_support.h"
#include "support/checkout.h"

namespace tern::server::test {
namespace {

TEST(ApiServer, AChatIsRenderedInTheModelsTemplate) {
  static const Engine engine = Engine::load({.model_path = source_path("models/tern-stories.gguf"),
                                             .backend = BackendKind::kCpu,
                                             .chat_template = kTemplate})
                                   .value();
  const RunningServer server({}, engine);
  Json body = chat("Who?");
  body["messages"] = Json::parse(R"([{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "Who?"},
      {"role": "user", "content": [{"type": "text", "text": "You"}, {"type": "text", "text": "?"}]}])");
  const std::string prompt = "<system>Be brief.\n<user>Who?\n<user>You?\n<assistant>";
  EXPECT_EQ(server.post("/apply-template", body).json["prompt"], prompt);
  EXPECT_EQ(server.post("/tokenize", body).json["tokens"], server.post("/apply-template", body).json["tokens"]);
  EXPECT_EQ(server.get("/tokenizer_info").json["chat_template"], kTemplate);
  const int n = static_cast<int>(engine.tokenizer().encode(prompt, {.add_bos = false, .parse_special = true}).size());
  EXPECT_EQ(server.post(kChat, body).json["usage"]["prompt_tokens"], n);
}

TEST(ApiServer, TheBeginningOfAReplyIsContinued) {
  static const Engine engine = Engine::load({.model_path = source_path("models/tern-stories.gguf"),
                                             .backend = BackendKind::kCpu,
                                             .chat_template = kTemplate})
                                   .value();
  const RunningServer server({}, engine);
  Json body = chat("Capital of France?");
  body["messages"].push_back({{"role", "assistant"}, {"content", "The capital is"}});
  EXPECT_EQ(server.post("/apply-template", body).json["prompt"],
            "<user>Capital of France?\n<assistant>The capital is\n<assistant>");
  body["add_generation_prompt"] = false;
  EXPECT_EQ(server.post("/apply-template", body).json["prompt"],
            "<user>Capital of France?\n<assistant>The capital is\n");
  body["continue_final_message"] = true;
  const std::string prompt = "<user>Capital of France?\n<assistant>The capital is";
  EXPECT_EQ(server.post("/apply-template", body).json["prompt"], prompt);
  const int n = static_cast<int>(engine.tokenizer().encode(prompt, {.add_bos = false, .parse_special = true}).size());
  EXPECT_EQ(server.post(kChat, body).json["usage"]["prompt_tokens"], n);
  body["add_generation_prompt"] = true;
  EXPECT_EQ(server.post(kChat, body).status, 400);
  body.erase("add_generation_prompt");
  body["messages"].erase(1);
  const auto refused = server.post(kChat, body);
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.json["error"]["param"], "messages");
}

TEST(ApiServer, ThoughtsThatTheTemplateHasNoPlaceFor) {
  const auto prompt_with = [](const char* chat_template) {
    const Engine engine = Engine::load({.model_path = source_path("models/tern-stories.gguf"),
                                        .backend = BackendKind::kCpu,
                                        .chat_template = chat_template})
                              .value();
    const RunningServer server({}, engine);
    Json body = chat("Who?");
    body["messages"].push_back({{"role", "assistant"}, {"content", "I."}, {"reasoning_content", "Hm."}});
    body["messages"].push_back({{"role", "user"}, {"content", "You?"}});
    EXPECT_EQ(server.post(kChat, body).status, 200);
    return server.post("/apply-template", body).json["prompt"];
  };
  EXPECT_EQ(prompt_with(kTemplate), "<user>Who?\n<assistant>I.\n<user>You?\n<assistant>");
  EXPECT_EQ(prompt_with("{% for m in messages %}{{ m.reasoning_content }}|{{ m.content }} {% endfor %}"),
            "|Who? Hm.|I. |You? ");
}

TEST(ApiServer, AResponseInItems) {
  const RunningServer server;
  const Json text = server.post(kChat, chat("Once upon a time")).json["choices"][0]["message"]["content"];
  Json body = {{"input", "Once upon a time"}, {"max_output_tokens", 16}, {"temperature", 0}};
  const Json whole = server.post("/v1/responses", body).json;
  EXPECT_EQ(whole["status"], "incomplete");
  EXPECT_EQ(whole["incomplete_details"]["reason"], "max_output_tokens");
  EXPECT_EQ(whole["output"][0]["content"][0]["text"], text);
  EXPECT_EQ(whole["usage"]["output_tokens"], 16);
  body["stream"] = true;
  const std::string stream = server.post("/v1/responses", body).text;
  std::string deltas, types;
  for (size_t at = 0; at < stream.size();) {
    const size_t end = stream.find("\n\n", at);
    const std::string event = stream.substr(at, end - at);
    at = end + 2;
    const size_t line = event.find("\ndata: ");
    ASSERT_TRUE(event.starts_with("event: ") && line != event.npos) << event;
    const Json data = Json::parse(event.substr(line + 7));
    const std::string type = data["type"];
    EXPECT_EQ(event.substr(7, line - 7), type);
    if (type == "response.output_text.delta") {
      deltas += data["delta"];
    } else {
      types += type.substr(8) + " ";
    }
  }
  EXPECT_EQ(Json(deltas), text);
  EXPECT_EQ(types,
            ".created .in_progress .output_item.added .content_part.added .output_text.done .content_part.done "
            ".output_item.done .incomplete ");
  const std::vector<Refusal> refusals = {
      {"", R"({})", 400, "input", "missing"},
      {"", R"({"input": []})", 400, "input", "list"},
      {"", R"({"input": [{"type": "computer_call"}]})", 400, "input[0].type", "computer_call"},
      {"", R"({"input": "a", "previous_response_id": "resp_1"})", 400, "previous_response_id", "whole conversation"},
      {"", R"({"input": "a", "tools": [{"type": "wings"}]})", 400, "tools[0].type", "wings"},
      {"", R"({"input": "a", "background": true})", 400, "background", "not supported"},
      {"", R"({"input": "a", "truncation": "much"})", 400, "truncation", "auto"},
      {"", R"({"input": "a", "max_output_tokens": 0})", 400, "max_output_tokens", "from 1"},
  };
  for (const Refusal& refusal : refusals) {
    const auto answer = server.post("/v1/responses", refusal.body);
    EXPECT_EQ(answer.status, refusal.status) << refusal.body;
    EXPECT_EQ(answer.json["error"]["param"], refusal.param) << answer.text;
    EXPECT_TRUE(answer.json["error"]["message"].get<std::string>().contains(refusal.words)) << answer.text;
  }
}

TEST(ApiServer, RepliesAreHeldToAFormat) {
  const RunningServer server;
  const Json schema = Json::parse(R"({"type": "object", "properties": {"name": {"type": "string", "maxLength": 12},
      "age": {"type": "integer", "minimum": 3, "maximum": 9}}, "required": ["name", "age"],
      "additionalProperties": false})");
  Json body = chat("Once upon a time", 200);
  const auto check = [&](const Json& answer) {
    ASSERT_TRUE(answer.contains("choices")) << answer;
    const Json value = Json::parse(answer["choices"][0]["message"]["content"].get<std::string>());
    EXPECT_LE(value["name"].get<std::string>().size(), 4 * 12u);
    EXPECT_GE(value["age"], 3);
    EXPECT_LE(value["age"], 9);
    EXPECT_EQ(answer["choices"][0]["finish_reason"], "stop");
  };
  body["response_format"] = {{"type", "json_schema"}, {"json_schema", {{"name", "person"}, {"schema", schema}}}};
  check(server.post(kChat, body).json);
  body.erase("response_format");
  body["json_schema"] = schema;  // llama.cpp's form
  check(server.post(kChat, body).json);
  body.erase("json_schema");
  body["response_format"] = {{"type", "json_object"}};
  EXPECT_TRUE(server.post(kChat, body).json["choices"][0]["message"]["content"].get<std::string>().starts_with("{"));
  body.erase("response_format");
  body["grammar"] = R"(root ::= "yes" | "no")";
  const Json word = server.post(kChat, body).json["choices"][0]["message"]["content"];
  EXPECT_TRUE(word == "yes" || word == "no") << word;
  const Json response =
      server
          .post("/v1/responses",
                Json{{"input", "Once upon a time"},
                     {"text", {{"format", {{"type", "json_schema"}, {"name", "person"}, {"schema", schema}}}}}})
          .json;
  EXPECT_TRUE(Json::accept(response["output"][0]["content"][0]["text"].get<std::string>())) << response;
}

// Large requests are read on other threads than small ones; see Preparation.
TEST(ApiServer, LargeRequestsAtOnce) {
  const RunningServer server;
  const auto ask = [&](int i) {
    Json properties = Json::object();
    for (int n = 0; n < 400; ++n) properties["property " + std::to_string(n)] = {{"const", i}};
    if (i == 0) properties["wrong"] = {{"type", "nothing"}};
    const Json form = {{"type", "json_schema"},
                       {"name", "many"},
                       {"schema", {{"type", "object"}, {"properties", std::move(properties)}}}};
    const Json body = {{"input", "Once upon a time"}, {"text", {{"format", form}}}};
    const RunningServer::Answer answer = server.post("/v1/responses/input_tokens", body);
    EXPECT_EQ(answer.status, i == 0 ? 400 : 200) << answer.text.substr(0, 200);
    if (i == 0) {
      EXPECT_EQ(answer.json["error"]["param"], "text.format.schema");
    } else {
      EXPECT_EQ(answer.json["input_tokens"], stories().tokenizer().encode("Once upon a time").size());
    }
  };
  std::vector<std::jthread> threads;
  for (int i = 0; i < 6; ++i) threads.emplace_back(ask, i);
  threads.clear();
  EXPECT_EQ(server.post("/tokenize", "[" + std::string(20'000, ' ')).status, 400);
}

TEST(ApiServer, CallsOfTools) {
  static const Engine engine = Engine::load({.model_path = source_path("models/tern-stories.gguf"),
                                             .backend = BackendKind::kCpu,
                                             .chat_template = kToolTemplate})
                                   .value();
  const RunningServer server({}, engine);
  Json body = chat("Weather?", 200);
  body["tools"] = Json::parse(R"([{"type": "function", "function": {"name": "weather", "parameters": {"type": "object",
      "properties": {"city": {"enum": ["Rome", "Oslo"]}}, "required": ["city"], "additionalProperties": false}}}])");
  body["tool_choice"] = "required";
  const Json answer = server.post(kChat, body).json;
  ASSERT_TRUE(answer.contains("choices")) << answer;
  const Json& choice = answer["choices"][0];
  EXPECT_EQ(choice["finish_reason"], "tool_calls") << answer;
  EXPECT_TRUE(choice["message"]["content"].is_null());
  const Json call = choice["message"]["tool_calls"][0];
  EXPECT_EQ(call["function"]["name"], "weather");
  const Json arguments = Json::parse(call["function"]["arguments"].get<std::string>());
  EXPECT_TRUE(arguments["city"] == "Rome" || arguments["city"] == "Oslo");
  std::string name, streamed;
  Json reason;
  for (const Json& event : server.stream(kChat, body)) {
    const Json& part = event["choices"][0];
    if (!part["finish_reason"].is_null()) reason = part["finish_reason"];
    if (!part["delta"].contains("tool_calls")) continue;
    name += part["delta"]["tool_calls"][0]["function"].value("name", "");
    streamed += part["delta"]["tool_calls"][0]["function"].value("arguments", "");
  }
  EXPECT_EQ(name, "weather");
  EXPECT_EQ(Json(streamed), call["function"]["arguments"]);
  EXPECT_EQ(reason, "tool_calls");

  // Sends the call and its result back to the model.
  body["tool_choice"] = "none";
  body["messages"].push_back(choice["message"]);
  body["messages"].push_back({{"role", "tool"}, {"tool_call_id", call["id"]}, {"content", "Sunny"}});
  const std::string prompt = server.post("/apply-template", body).json["prompt"];
  EXPECT_TRUE(prompt.contains("<tool_call>\n{\"name\": \"weather\"")) << prompt;
  EXPECT_TRUE(prompt.contains("<tool>Sunny")) << prompt;
  body["tool_choice"] = {{"type", "function"}, {"function", {{"name", "other"}}}};
  EXPECT_EQ(server.post(kChat, body).json["error"]["param"], "tool_choice");

  const Json response =
      server
          .post("/v1/responses",
                Json{{"input", "Weather?"},
                     {"tool_choice", "required"},
                     {"tools", Json::array({{{"type", "function"},
                                             {"name", "weather"},
                                             {"parameters", body["tools"][0]["function"]["parameters"]}}})}})
          .json;
  EXPECT_EQ(response["output"][0]["type"], "function_call") << response;
  EXPECT_EQ(response["output"][0]["name"], "weather");
}

std::vector<float> from_base64(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0;
  int n_bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = (bits << 6) | static_cast<unsigned>(digits.find(c));
    if ((n_bits += 6) < 8) continue;
    n_bits -= 8;
    bytes += static_cast<char>((bits >> n_bits) & 255);
  }
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

TEST(ApiServer, Vectors) {
  static const Engine engine =
      Engine::load(
          {.model_path = source_path("models/tern-stories.gguf"), .backend = BackendKind::kCpu, .embeddings = true})
          .value();
  const RunningServer server({}, engine);
  Session session = engine.new_session().value();
  const std::vector<float> expected = session.embed(engine.tokenizer().encode("a dog")).value();
  const Json answer = server.post("/v1/embeddings", Json{{"input", {"a cat", "a dog"}}}).json;
  ASSERT_EQ(answer["data"].size(), 2u) << answer;
  EXPECT_EQ(answer["data"][1]["index"], 1);
  const std::vector<float> values = answer["data"][1]["embedding"];
  EXPECT_EQ(values, expected);
  const Json packed =
      server.post("/v1/embeddings", Json{{"input", "a dog"}, {"encoding_format", "base64"}}).json["data"][0];
  EXPECT_EQ(from_base64(packed["embedding"]), expected);
  EXPECT_EQ(server.post(kText, completion("Once")).status, 501);
  EXPECT_EQ(server.post("/v1/embeddings", Json{{"input", ""}}).json["error"]["param"], "input[0]");
  EXPECT_EQ(server.post("/v1/embeddings", Json{{"input", "a"}, {"dimensions", 513}}).json["error"]["param"],
            "dimensions");
  const std::vector<float> few =
      server.post("/v1/embeddings", Json{{"input", "a dog"}, {"dimensions", 7}}).json["data"][0]["embedding"];
  ASSERT_EQ(few.size(), 7u);
  float squares = 0;
  for (const float value : few) squares += value * value;
  EXPECT_NEAR(squares, 1, 1e-5);  // eight roundings of at most 2^-24 each
  EXPECT_NEAR(few[1] / few[0], expected[1] / expected[0], 1e-4);
}

TEST(ApiServer, ChatsAreKeptIfTheyShouldBe) {
  const RunningServer server;
  Json body = chat("Once upon a time");
  const Json other = server.post(kChat, body).json;
  EXPECT_EQ(server.get(kChat + "/" + other["id"].get<std::string>()).status, 404);
  body["store"] = true;
  body["metadata"] = {{"topic", "tales"}};
  body["service_tier"] = "auto";
  const Json kept = server.post(kChat, body).json;
  EXPECT_EQ(kept["metadata"], body["metadata"]);
  EXPECT_EQ(kept["service_tier"], "default");
  const std::string path = kChat + "/" + kept["id"].get<std::string>();
  EXPECT_EQ(server.get(path).json, kept);
  const Json messages = server.get(path + "/messages").json;
  ASSERT_EQ(messages["data"].size(), 1u) << messages;
  EXPECT_EQ(messages["data"][0]["content"], "Once upon a time");
  const std::vector<Json> events = server.stream(kChat, body);
  const Json streamed = server.get(kChat + "/" + events[0]["id"].get<std::string>()).json;
  EXPECT_EQ(streamed["object"], "chat.completion");
  EXPECT_EQ(streamed["choices"], kept["choices"]);
  EXPECT_EQ(Json::parse(server.client()->Delete(path)->body)["object"], "chat.completion.deleted");
  EXPECT_EQ(server.get(path).status, 404);
}

}  // namespace
}  // namespace tern::server::test
