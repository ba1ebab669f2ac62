#include <nlohmann/json.hpp>

#include "c_api/c_api_test_support.h"

namespace tern::c_api {
namespace {

using Json = nlohmann::json;

// The tool-call syntax of Hermes models.
constexpr const char* kToolTemplate =
    "{% if tools %}<tools>{% for t in tools %}{{ t | tojson }}\n{% endfor %}</tools>\n{% endif %}"
    "{% for m in messages %}<{{ m.role }}>{{ m.content or '' }}"
    "{% for c in m.tool_calls or [] %}<tool_call>\n"
    "{\"name\": {{ c.function.name | tojson }}, \"arguments\": {{ c.function.arguments | tojson }}}\n</tool_call>"
    "{% endfor %}\n{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}";

constexpr const char* kWeather =
    R"([{"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties":
        {"city": {"enum": ["Rome", "Oslo"]}}, "required": ["city"], "additionalProperties": false}}}])";
const std::string kQuestion = R"([{"role": "user", "content": "Weather?"}])";

using TurnHandle = std::unique_ptr<tern_turn, decltype(&tern_turn_free)>;

class CApiTurn : public CApi {
 protected:
  static void SetUpTestSuite() {
    tern_load_options options;
    tern_load_options_init(&options, sizeof(options));
    options.model_path = kModel.c_str();
    options.backend = TERN_BACKEND_CPU;
    options.chat_template = kToolTemplate;
    ASSERT_EQ(tern_engine_load(&options, &engine_, nullptr), TERN_OK);
  }

  static tern_turn_options with_tools(int32_t choice, const char* tools = kWeather) {
    tern_turn_options options;
    tern_turn_options_init(&options, sizeof(options));
    EXPECT_EQ(options.think, -1);
    options.tools = tools;
    options.tool_choice = choice;
    return options;
  }
  static Outcome make(const std::string& messages, const tern_turn_options& options, TurnHandle* turn = nullptr) {
    tern_turn* made = nullptr;
    const Outcome outcome = outcome_of([&](tern_error** error) {
      return tern_turn_new(engine_, messages.data(), messages.size(), &options, &made, error);
    });
    TurnHandle handle(made, tern_turn_free);
    if (turn) *turn = std::move(handle);
    return outcome;
  }
  static Json read(const tern_turn* turn, const std::string& text, int32_t finish) {
    char* message = nullptr;
    size_t n = 0;
    EXPECT_EQ(tern_turn_read(turn, text.data(), text.size(), finish, &message, &n, nullptr), TERN_OK);
    Json json = Json::parse(std::string(message, n));
    tern_free(message);
    return json;
  }
};

TEST_F(CApiTurn, AReplyThatHasToBeACall) {
  tern_turn_options options = with_tools(TERN_TOOLS_REQUIRED);
  options.tool_name = "weather";
  TurnHandle turn(nullptr, tern_turn_free);
  ASSERT_EQ(make(kQuestion, options, &turn).message, "");
  size_t n = 0;
  const std::string prompt = tern_turn_prompt(turn.get(), &n);
  EXPECT_EQ(prompt.size(), n);
  EXPECT_TRUE(prompt.ends_with("<assistant><tool_call>\n")) << prompt;
  tern_generate_options generate = greedy(100);
  EXPECT_EQ(generate.turn, nullptr);
  generate.turn = turn.get();
  const auto session = new_session();
  const auto tokens = tokens_of(prompt);
  std::string text;
  tern_stats stats = {};
  stats.size = sizeof(stats);
  ASSERT_EQ(tern_generate(session.get(), tokens.data(), tokens.size(), &generate, append, &text, &stats, nullptr),
            TERN_OK);
  EXPECT_EQ(stats.finish, TERN_FINISH_STOP_TOKEN);
  const Json message = read(turn.get(), text, stats.finish);
  EXPECT_TRUE(message["content"].is_null());
  ASSERT_EQ(message["tool_calls"].size(), 1u) << message;
  const Json call = message["tool_calls"][0];
  EXPECT_EQ(call["function"]["name"], "weather");
  const Json arguments = Json::parse(call["function"]["arguments"].get<std::string>());
  EXPECT_TRUE(arguments["city"] == "Rome" || arguments["city"] == "Oslo") << arguments;
  EXPECT_EQ(read(turn.get(), text, stats.finish), message) << "read again, it has the same ids";
  // Send the call and its result back.
  Json messages = Json::parse(kQuestion);
  messages.push_back(message);
  messages.push_back({{"role", "tool"}, {"tool_call_id", call["id"]}, {"content", "Sunny"}});
  ASSERT_EQ(make(messages.dump(), with_tools(TERN_TOOLS_AUTO), &turn).message, "");
  const std::string next = tern_turn_prompt(turn.get(), nullptr);
  EXPECT_TRUE(next.contains("<tool_call>\n{\"name\": \"weather\"") && next.contains("<tool>Sunny")) << next;
}

TEST_F(CApiTurn, MessagesHaveNoControlTokens) {
  const std::string messages = R"([{"role": "user", "content": "a<|end|>b"}])";
  const int32_t end = tern_find_token(engine_, "<|end|>");
  const auto count = [&](int parse_special) {
    tern_turn_options options = with_tools(TERN_TOOLS_AUTO);
    options.parse_special = parse_special;
    TurnHandle turn(nullptr, tern_turn_free);
    EXPECT_EQ(make(messages, options, &turn).message, "");
    size_t n = 0;
    const int32_t* tokens = tern_turn_tokens(turn.get(), &n);
    EXPECT_GT(n, 0u);
    return std::count(tokens, tokens + n, end);
  };
  EXPECT_EQ(count(1), count(0) + 1);
  EXPECT_EQ(tern_turn_tokens(nullptr, nullptr), nullptr);
  const tern_chat_message said = {"user", "a<|end|>b"};
  const auto count_chat = [&](int parse_special) {
    tern_chat_options options;
    tern_chat_options_init(&options, sizeof(options));
    options.parse_special = parse_special;
    int32_t* tokens = nullptr;
    size_t n = 0;
    EXPECT_EQ(tern_tokenize_chat(engine_, &said, 1, &options, &tokens, &n, nullptr), TERN_OK);
    const auto found = std::count(tokens, tokens + n, end);
    tern_free(tokens);
    return found;
  };
  EXPECT_EQ(count_chat(1), count_chat(0) + 1);
}

TEST_F(CApiTurn, AReplyThatMayBeACall) {
  TurnHandle turn(nullptr, tern_turn_free);
  ASSERT_EQ(make(kQuestion, with_tools(TERN_TOOLS_AUTO), &turn).message, "");
  const std::string good = "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Oslo\"}}";
  EXPECT_EQ(read(turn.get(), "Well.\n" + good + "\n</tool_call>", TERN_FINISH_STOP_TOKEN)["tool_calls"].size(), 1u);
  EXPECT_FALSE(read(turn.get(), good, TERN_FINISH_NONE).contains("tool_calls"));
  const Json cut = read(turn.get(), good.substr(0, 40), TERN_FINISH_MAX_TOKENS);
  EXPECT_EQ(cut["content"], good.substr(0, 40));
  const std::string bad = "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Bonn\"}}\n</tool_call>";
  EXPECT_EQ(read(turn.get(), bad, TERN_FINISH_STOP_TOKEN)["content"], bad);
  ASSERT_EQ(make(kQuestion, with_tools(TERN_TOOLS_NONE), &turn).message, "");
  EXPECT_FALSE(std::string(tern_turn_prompt(turn.get(), nullptr)).contains("<tools>"));
  EXPECT_EQ(read(turn.get(), good + "\n</tool_call>", TERN_FINISH_STOP_TOKEN)["content"], good + "\n</tool_call>");
}

TEST_F(CApiTurn, RefusesByName) {
  EXPECT_EQ(make("{", with_tools(0)).code, TERN_INVALID_ARGUMENT);
  EXPECT_EQ(make("{}", with_tools(0)).message, "messages: no list, or one of more than 10000");
  EXPECT_EQ(make(R"([{"content": "a"}])", with_tools(0)).message, "messages: number 1 has no role");
  EXPECT_EQ(make(R"([{"role": "user", "content": 1}])", with_tools(0)).message,
            "messages: number 1 has \"content\" that is no text");
  EXPECT_EQ(make(R"([{"role": "assistant", "tool_calls": [1]}])", with_tools(0)).message,
            "messages: number 1 has a tool call without \"function\" that is an object");
  EXPECT_EQ(make(kQuestion, with_tools(3)).message, "tern_turn_options.tool_choice is 3, but can be 0 to 2");
  EXPECT_EQ(make(kQuestion, with_tools(TERN_TOOLS_REQUIRED, "")).message, "tools: there is none to call");
  EXPECT_EQ(make(kQuestion, with_tools(0, R"([{"type": "function"}])")).message,
            "tools: number 1 has no \"function\" that is an object");
  const char* odd =
      R"([{"type": "function", "function": {"name": "f", "strict": true, "parameters": {"properties": {"n": {"uniqueItems": true}}}}}])";
  EXPECT_EQ(make(kQuestion, with_tools(0, odd)).message,
            "tools: number 1, 'f', is strict, but the JSON schema: at '/properties/n/uniqueItems': a reply can be held "
            "to different "
            "items only if their values are few (enum, const, boolean)");
  tern_turn_options options = with_tools(TERN_TOOLS_AUTO);
  options.tool_name = "weather";
  EXPECT_EQ(make(kQuestion, options).message, "tern_turn_options.tool_name is only for TERN_TOOLS_REQUIRED");
  TurnHandle turn(nullptr, tern_turn_free);
  ASSERT_EQ(make(kQuestion, with_tools(TERN_TOOLS_REQUIRED), &turn).message, "");
  tern_grammar* grammar = nullptr;
  ASSERT_EQ(tern_grammar_new(TERN_GRAMMAR_JSON_OBJECT, nullptr, 0, &grammar, nullptr), TERN_OK);
  tern_generate_options generate = greedy(10);
  generate.turn = turn.get();
  generate.grammar = grammar;
  const auto session = new_session();
  const int32_t token = 1;
  EXPECT_EQ(outcome_of([&](tern_error** error) {
              return tern_generate(session.get(), &token, 1, &generate, nullptr, nullptr, nullptr, error);
            }).message,
            "tern_generate_options.grammar: the turn holds the reply to its tools already; give one of them");
  tern_grammar_free(grammar);
  EXPECT_EQ(outcome_of([&](tern_error** error) {
              return tern_turn_read(turn.get(), "", 0, 9, nullptr, nullptr, error);
            }).message,
            "message is NULL");
  tern_turn_free(nullptr);
}

}  // namespace
}  // namespace tern::c_api
