// The server's log, and what it must not contain.
#include "server/api/replies/request_log.h"

#include <algorithm>
#include <iterator>
#include <mutex>

#include "server/api/api_test_support.h"
#include "server/raw_client_test_support.h"

namespace tern::server::test {
namespace {

// The lines of a server's log. A request is logged once its answer is on its way.
class Lines {
 public:
  LogOptions options(LogFormat format, bool texts = false) {
    return {.format = format, .texts = texts, .on_line = [this](std::string_view line) {
              const std::scoped_lock lock(mutex_);
              lines_.emplace_back(line);
            }};
  }
  std::vector<std::string> wait_for(size_t n) {
    EXPECT_TRUE(soon([&] {
      const std::scoped_lock lock(mutex_);
      return lines_.size() >= n;
    }));
    const std::scoped_lock lock(mutex_);
    EXPECT_EQ(lines_.size(), n);
    return lines_;
  }

  std::vector<std::string> with(std::string_view word) {
    const std::scoped_lock lock(mutex_);
    std::vector<std::string> some;
    std::ranges::copy_if(lines_, std::back_inserter(some),
                         [&](const std::string& line) { return line.contains(word); });
    return some;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

TEST(RequestLog, ALineForEachRequest) {
  Lines lines;
  const RunningServer server({.log = lines.options(LogFormat::kJson)});
  server.get("/health");
  const auto answer = server.post(kText, completion("Once upon a time", 7));
  server.stream(kChat, chat("Once upon a time", 5));
  lines.wait_for(3);  // a stream is logged when it ends here, perhaps after its client has seen the end
  server.post(kText, Json::object());
  server.post("/v1/nothing", Json::object());
  std::vector<Json> told;
  for (const std::string& line : lines.wait_for(5)) told.push_back(Json::parse(line));
  for (const Json& one : told) {
    EXPECT_TRUE(one["remote"].get<std::string>().starts_with("127.0.0.1:")) << one;
    EXPECT_GE(one["total_ms"].get<double>(), 0);
    EXPECT_EQ(one["time"].get<std::string>().size(), std::string("2026-01-01T00:00:00.000Z").size());
  }
  EXPECT_EQ(told[0]["route"], "/health");
  EXPECT_FALSE(told[0].contains("model"));
  EXPECT_EQ(told[1]["route"], kText);
  EXPECT_EQ(told[1]["status"], 200);
  EXPECT_EQ(told[1]["model"], "stories");
  EXPECT_EQ(told[1]["prompt_tokens"], answer.json["usage"]["prompt_tokens"]);
  EXPECT_EQ(told[1]["generated_tokens"], 7);
  EXPECT_EQ(told[1]["finish"], "max_tokens");
  EXPECT_EQ(told[1]["id"], answer.headers.find("X-Request-Id")->second);
  EXPECT_LE(told[1]["queue_ms"].get<double>(), told[1]["ttft_ms"].get<double>());
  EXPECT_LE(told[1]["ttft_ms"].get<double>(), told[1]["total_ms"].get<double>());
  EXPECT_EQ(told[2]["route"], kChat);
  EXPECT_EQ(told[2]["generated_tokens"], 5);  // logged at the stream's end, not at its beginning
  EXPECT_EQ(told[3]["status"], 400);
  EXPECT_FALSE(told[3].contains("finish"));
  EXPECT_EQ(told[4]["route"], "other");
  EXPECT_EQ(told[4]["status"], 404);
}

TEST(RequestLog, WhoGoesAwayIsToldOf) {
  Lines lines;
  const RunningServer server({.log = lines.options(LogFormat::kJson), .metrics = true});
  for (const int n_asked : {1, 2}) {
    const RawClient client(server.port());
    Json body = completion("Once upon a time", 100'000);
    body["ignore_eos"] = true;
    body["stream"] = n_asked == 1;
    client.send(raw_post(kText, body.dump()));
    const std::string has_begun = "tern_time_to_first_token_seconds_count " + std::to_string(n_asked) + "\n";
    EXPECT_TRUE(soon([&] { return server.get("/metrics").text.contains(has_begun); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // the interval of the server's checks
  }
  EXPECT_TRUE(soon([&] { return lines.with("finish").size() == 2; }));
  for (const std::string& line : lines.with("finish")) {
    const Json told = Json::parse(line);
    EXPECT_EQ(told["finish"], "cancelled") << told;
    EXPECT_GT(told["generated_tokens"], 0) << told;
  }
}

// Texts, fields, addresses and headers from valid and from wrong requests.
TEST(RequestLog, NothingOfARequestIsInIt) {
  const std::string secret = "xyzzy";
  for (const LogFormat format : {LogFormat::kJson, LogFormat::kText}) {
    Lines lines;
    const RunningServer server({.log = lines.options(format)});
    std::vector<Json> bodies = {completion(secret), completion(secret), {{"prompt", {{"xyzzy", 1}}}}};
    bodies[1]["stream"] = true;
    for (const char* field : {"model", "stop", "temperature", "logit_bias", "response_format", "grammar", "echo"}) {
      bodies.push_back(completion(secret));
      bodies.back()[field] = secret;
    }
    bodies.push_back(completion("Once"));
    bodies.back()["logit_bias"] = {{secret, 1}};
    std::string answers;
    for (const Json& body : bodies) answers += server.post(kText, body).text;
    answers += server.post(kChat, chat(secret)).text;
    server.post(kChat, Json{{"messages", {{{"role", secret}, {"content", secret}}}}});
    server.post("/v1/responses", Json{{"input", secret}, {"max_output_tokens", 4}});
    server.post("/tokenize", Json{{"content", secret}});
    server.post(kText, "{\"" + secret);
    server.post("/v1/" + secret, Json::object());
    server.get("/v1/models/" + secret);
    server.get("/health?q=" + secret);
    server.client()->Get("/health", httplib::Headers{{"X-Request-Id", secret + " ("}, {"User-Agent", secret}});
    for (const char* first : {" /health HTTP/1.1", "\x01\xff", "\n2026-01-31T12:00:00.123Z forged"}) {
      const RawClient client(server.port());  // which does not speak HTTP
      client.send(secret + first + "\r\n\r\n");
      EXPECT_TRUE(client.receive().contains(" 400 "));
    }
    const auto all = lines.wait_for(bodies.size() + 12);
    EXPECT_TRUE(answers.contains(secret));  // so it could have been logged
    for (const std::string& line : all) EXPECT_FALSE(line.contains(secret)) << line;
  }
}

TEST(RequestLog, TextsWhereTheyAreAskedFor) {
  for (const LogFormat format : {LogFormat::kJson, LogFormat::kText}) {
    Lines lines;
    const RunningServer server({.log = lines.options(format, /*texts=*/true)});
    const auto answer = server.post(kText, completion("Once upon a time"));
    const std::string line = lines.wait_for(1)[0];
    EXPECT_TRUE(line.contains("Once upon a time")) << line;
    EXPECT_TRUE(line.contains(answer.json["choices"][0]["text"].get<std::string>().substr(1, 10))) << line;
    EXPECT_FALSE(line.contains('\n'));
  }
}

TEST(RequestLog, NamesOfRequests) {
  const RunningServer server;
  const auto name_of = [&](const std::string& asked) {
    return server.client()->Get("/health", httplib::Headers{{"X-Request-Id", asked}})->get_header_value("X-Request-Id");
  };
  EXPECT_EQ(name_of("a.b-c_d:7"), "a.b-c_d:7");
  EXPECT_EQ(request_id(std::string(128, 'a')), std::string(128, 'a'));
  for (const std::string& asked : {std::string(), std::string("a b"), std::string("a\"b"), std::string("a\nb"),
                                   std::string("ä"), std::string(129, 'a')}) {
    EXPECT_TRUE(request_id(asked).starts_with("req_")) << asked;
  }
  const RawClient client(server.port());
  client.send("nonsense\r\n\r\n");
  EXPECT_TRUE(client.receive().contains("X-Request-Id: req_"));
  EXPECT_NE(name_of(""), name_of(""));
}

}  // namespace
}  // namespace tern::server::test
