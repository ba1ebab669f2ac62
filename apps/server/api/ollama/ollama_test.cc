// Ollama's API.
#include "server/api/api_test_support.h"
#include "server/api/ollama/requests.h"
#include "support/checkout.h"

namespace tern::server::test::ollama {
namespace {

Json ask(const std::string& text, int n = 16) {
  return {{"model", "stories:latest"},
          {"messages", {{{"role", "user"}, {"content", text}}}},
          {"stream", false},
          {"options", {{"temperature", 0}, {"num_predict", n}}}};
}

std::vector<Json> lines_of(const RunningServer::Answer& answer) {
  EXPECT_EQ(answer.status, 200) << answer.text;
  EXPECT_EQ(answer.headers.find("Content-Type")->second, "application/x-ndjson");
  std::vector<Json> lines;
  for (size_t at = 0; at < answer.text.size();) {
    const size_t end = answer.text.find('\n', at);
    lines.push_back(Json::parse(answer.text.substr(at, end - at)));
    at = end + 1;
  }
  return lines;
}

Engine load_with(const char* chat_template) {
  return Engine::load({.model_path = source_path("models/tern-stories.gguf"),
                       .backend = BackendKind::kCpu,
                       .chat_template = chat_template})
      .value();
}

TEST(Ollama, AChatIsAnsweredWholeAndInLines) {
  const RunningServer server;
  const Json text = server.post(kChat, chat("Once upon a time")).json["choices"][0]["message"]["content"];
  Json body = ask("Once upon a time");
  const Json whole = server.post("/api/chat", body).json;
  EXPECT_EQ(whole["message"], (Json{{"role", "assistant"}, {"content", text}})) << whole;
  EXPECT_EQ(whole["model"], "stories");
  EXPECT_EQ(whole["done"], true);
  EXPECT_EQ(whole["done_reason"], "length");
  EXPECT_EQ(whole["eval_count"], 16);
  EXPECT_GT(whole["prompt_eval_count"], 0);
  EXPECT_GT(whole["eval_duration"], 1000);
  EXPECT_GE(whole["total_duration"], whole["eval_duration"]);
  body.erase("stream");  // lines are the default
  const std::vector<Json> lines = lines_of(server.post("/api/chat", body));
  std::string pieces;
  for (const Json& line : lines) {
    pieces += line["message"]["content"];
    EXPECT_EQ(line["done"], &line == &lines.back());
  }
  EXPECT_GT(lines.size(), 4u);
  EXPECT_EQ(Json(pieces), text);
  EXPECT_EQ(lines.back()["done_reason"], "length");
}

TEST(Ollama, TokensHaveProbabilities) {
  const RunningServer server;
  Json body = ask("Once upon a time");
  body["logprobs"] = true;
  body["top_logprobs"] = 2;
  Json request = chat("Once upon a time");
  request.update({{"logprobs", true}, {"top_logprobs", 2}});
  const Json expected = server.post(kChat, request).json["choices"][0]["logprobs"]["content"];
  EXPECT_EQ(server.post("/api/chat", body).json["logprobs"], expected);
  body["stream"] = true;
  Json streamed = Json::array();
  for (const Json& line : lines_of(server.post("/api/chat", body))) {
    for (const Json& one : line.value("logprobs", Json::array())) streamed.push_back(one);
  }
  EXPECT_EQ(streamed, expected);
}

TEST(Ollama, GenerateTakesAPromptRawOrInTheTemplate) {
  static const Engine engine = load_with(kTemplate);
  const RunningServer server({}, engine);
  Json body = {{"prompt", "Once upon a time"}, {"raw", true}, {"options", {{"temperature", 0}, {"num_predict", 8}}}};
  std::string text;
  for (const Json& line : lines_of(server.post("/api/generate", body))) text += line["response"];
  EXPECT_EQ(Json(text), server.post(kText, completion("Once upon a time", 8)).json["choices"][0]["text"]);
  body.erase("raw");
  body["system"] = "Be brief.";
  body["stream"] = false;
  const Json json = server.post("/api/generate", body).json;
  const std::string prompt = "<system>Be brief.\n<user>Once upon a time\n<assistant>";
  EXPECT_EQ(json["prompt_eval_count"],
            engine.tokenizer().encode(prompt, {.add_bos = false, .parse_special = true}).size());
  body["format"] = Json::parse(R"({"type": "object", "properties": {"a": {"enum": [7, 8]}}, "required": ["a"],
      "additionalProperties": false})");
  body["options"]["num_predict"] = 60;
  const Json value = Json::parse(server.post("/api/generate", body).json["response"].get<std::string>());
  EXPECT_TRUE(value["a"] == 7 || value["a"] == 8);
  body["format"] = "json";
  body["options"]["num_predict"] = 4;
  EXPECT_TRUE(server.post("/api/generate", body).json["response"].get<std::string>().starts_with("{"));
}

TEST(Ollama, CallsHaveObjectsAsArguments) {
  static const Engine engine = load_with(kToolTemplate);
  const RunningServer server({}, engine);
  Json body = ask("Look.", 200);
  body["messages"] = Json::parse(R"([{"role": "user", "content": "Look."},
      {"role": "assistant", "content": "", "thinking": "Hm.",
       "tool_calls": [{"function": {"name": "look", "arguments": {"at": "Oslo"}}}]},
      {"role": "tool", "tool_name": "look", "content": "Rain."}])");
  body["tools"] = Json::parse(R"([{"type": "function", "function": {"name": "look", "parameters": {"type": "object",
      "properties": {"at": {"enum": ["Rome", "Oslo"]}}, "required": ["at"], "additionalProperties": false}}}])");
  body["tool_choice"] = "required";
  const Json whole = server.post("/api/chat", body).json;
  ASSERT_EQ(whole["message"]["tool_calls"].size(), 1u) << whole;
  const Json& call = whole["message"]["tool_calls"][0]["function"];
  EXPECT_EQ(call["name"], "look");
  EXPECT_TRUE(call["arguments"]["at"] == "Rome" || call["arguments"]["at"] == "Oslo") << call;
  body["stream"] = true;
  const std::vector<Json> lines = lines_of(server.post("/api/chat", body));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["message"]["tool_calls"][0]["function"], call);
  EXPECT_EQ(lines[1]["done_reason"], "stop");
}

TEST(Ollama, ThoughtsHaveAFieldOfTheirOwn) {
  static const Engine engine = load_with(
      "{{ bos_token }}{% for m in messages %}{{ m.content }}{% endfor %}{% if enable_thinking is not defined or "
      "enable_thinking %}<think>{% else %}<think></think>{% endif %}");
  const RunningServer server({}, engine);
  Json body = ask("Once upon a time", 8);
  body["think"] = true;
  const Json json = server.post("/api/chat", body).json;
  EXPECT_FALSE(json["message"]["thinking"].get<std::string>().empty()) << json;
  EXPECT_EQ(json["message"]["content"], "");
  body["think"] = false;
  EXPECT_FALSE(server.post("/api/chat", body).json["message"].contains("thinking"));
}

TEST(Ollama, Lists) {
  const RunningServer server;
  EXPECT_EQ(server.client()->Head("/")->status, 200);
  EXPECT_TRUE(server.get("/api/version").json["version"].is_string());
  for (const char* path : {"/api/tags", "/api/ps"}) {
    const Json models = server.get(path).json["models"];
    ASSERT_EQ(models.size(), 1u);
    EXPECT_EQ(models[0]["name"], "stories");
    EXPECT_EQ(models[0]["digest"].get<std::string>().size(), 64u);
    EXPECT_GT(models[0]["size"], 1'000'000);
  }
  for (const char* field : {"model", "name"}) {
    const Json show = server.post("/api/show", Json{{field, "stories:latest"}}).json;
    const std::string family = show["model_info"]["general.architecture"];
    EXPECT_EQ(show["model_info"][family + ".context_length"], 1024) << show;
    EXPECT_EQ(show["capabilities"], Json::array({"completion"}));
  }
  EXPECT_EQ(server.post("/api/pull", Json{{"model", "stories"}}).text, "{\"status\":\"success\"}\n");
  EXPECT_EQ(server.post("/api/pull", Json{{"model", "stories"}, {"stream", false}}).json["status"], "success");
  EXPECT_EQ(server.post("/api/generate", Json{{"model", "stories"}}).json["done_reason"], "load");
  EXPECT_EQ(server.post("/api/chat", Json{{"messages", Json::array()}, {"keep_alive", 0}}).json["done_reason"],
            "unload");
}

TEST(Ollama, Embeddings) {
  static const Engine engine =
      Engine::load(
          {.model_path = source_path("models/tern-stories.gguf"), .backend = BackendKind::kCpu, .embeddings = true})
          .value();
  const RunningServer server({}, engine);
  const Json vectors = server.post("/v1/embeddings", Json{{"input", {"a cat", "a dog"}}}).json["data"];
  const Json answer = server.post("/api/embed", Json{{"input", {"a cat", "a dog"}}}).json;
  EXPECT_EQ(answer["embeddings"], Json::array({vectors[0]["embedding"], vectors[1]["embedding"]}));
  EXPECT_EQ(server.post("/api/embeddings", Json{{"prompt", "a dog"}}).json["embedding"], vectors[1]["embedding"]);
  std::string book;
  for (int i = 0; i < 3000; ++i) book += "word ";
  EXPECT_EQ(server.post("/api/embed", Json{{"input", book}}).json["prompt_eval_count"], 1024);
  EXPECT_EQ(server.post("/api/embed", Json{{"input", book}, {"truncate", false}}).status, 400);
  EXPECT_EQ(server.post("/api/chat", ask("hi")).status, 501);
  EXPECT_EQ(server.post("/api/show", Json{{"model", "stories"}}).json["capabilities"], Json::array({"embedding"}));
}

TEST(Ollama, AStreamThatFailsEndsWithAnError) {
  GrammarCache grammars;
  const ModelProfile model = {.engine = stories(), .name = "a", .n_ctx = 64, .defaults = {}, .grammars = grammars};
  const auto asked = server::ollama::read_chat(ask("Once"), model, {});
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->writer->error_event({.status = 503, .message = "no memory"}), (Json{{"error", "no memory"}}));
}

TEST(Ollama, ErrorsAreTexts) {
  const RunningServer server;
  const auto with = [](const char* name, const Json& value) {
    Json body = ask("hi");
    body[name] = value;
    return body;
  };
  const auto with_option = [](const char* name, const Json& value) {
    Json body = ask("hi");
    body["options"][name] = value;
    return body;
  };
  const auto check = [&](const std::string& path, const Json& body, int status, const std::string& words) {
    const auto answer = server.post(path, body);
    EXPECT_EQ(answer.status, status) << answer.text;
    ASSERT_TRUE(answer.json.contains("error") && answer.json["error"].is_string()) << answer.text;
    EXPECT_TRUE(answer.json["error"].get<std::string>().contains(words)) << answer.text;
  };
  check("/api/chat", with("model", "llama9"), 404, "llama9");
  check("/api/chat", with("format", 7), 400, "format: ");
  check("/api/chat", with("think", true), 400, "think: ");
  check("/api/chat", with("think", "much"), 400, "think: ");
  check("/api/chat", with("top_logprobs", 2), 400, "top_logprobs: ");
  check("/api/chat", with("guided_json", {{"a", 1}}), 400, "guided_json: ");
  check("/api/chat", with("messages", {{{"role", "user"}, {"images", {"x"}}}}), 400, "messages[0].images");
  check("/api/chat", with_option("num_ctx", 8192), 400, "options.num_ctx: 8192");
  check("/api/chat", with_option("mirostat", 3), 400, "options.mirostat: ");
  check("/api/chat", with_option("tfs_z", 0.5), 400, "options.tfs_z: ");
  check("/api/chat", with_option("temperature", -1), 400, "options.temperature: ");
  check("/api/chat", with_option("wings", 2), 400, "options.wings: ");
  EXPECT_EQ(server.post("/api/chat", with_option("num_ctx", 512)).status, 200);
  EXPECT_EQ(server.post("/api/chat", with_option("num_gpu", 9)).status, 200);
  check("/api/chat", with("messages", {7}), 400, "messages[0]");
  EXPECT_EQ(server.post("/api/chat", Json{{"messages", Json::array()}, {"prompt", "a"}}).json["done_reason"], "load");
  check("/api/generate", Json{{"prompt", "a"}, {"template", "b"}}, 400, "template: ");
  check("/api/generate", Json{{"prompt", "a"}, {"suffix", "b"}}, 400, "suffix: ");
  check("/api/show", Json::object(), 400, "model: is missing");
  check("/api/pull", Json{{"model", "llama9"}}, 404, "--models");
  check("/api/create", Json{{"model", "a"}}, 501, "/api/create is not supported");
  check("/api/embed", Json{{"input", "a"}}, 501, "--embedding");
  check("/api/nothing", Json::object(), 404, "/api/nothing");
  EXPECT_EQ(server.client()->Delete("/api/delete")->status, 501);
}

}  // namespace
}  // namespace tern::server::test::ollama
