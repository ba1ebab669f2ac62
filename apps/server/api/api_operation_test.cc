// Server operation: clients that disconnect, shutdown, memory, energy and metrics.
#include <chrono>
#include <fstream>
#include <set>
#include <sstream>

#include "server/api/api_test_support.h"
#include "support/checkout.h"

namespace tern::server::test {
namespace {

TEST(ApiServer, WhatIsKeptOfPromptsHasABound) {
  const auto n_cached_with = [](int64_t bytes) {
    const Engine engine = load_stories();
    const RunningServer server({.scheduler = {.max_kept_bytes = bytes}}, engine);
    std::string prompt = "Once upon a time";
    for (int i = 0; i < 60; ++i) prompt += " there was a big red dog";
    server.post(kText, completion(prompt, 2));
    return server.post(kText, completion(prompt, 2)).json["usage"]["prompt_tokens_details"]["cached_tokens"].get<int>();
  };
  EXPECT_EQ(n_cached_with(0), 0);
  EXPECT_GT(n_cached_with(int64_t{64} << 20), 200);
  EXPECT_GT(n_cached_with(-1), 200);
}

TEST(ApiServer, WhoGoesAwayCostsNothingMore) {
  const RunningServer server({.scheduler = {.max_replies = 4}, .metrics = true, .slots = true});
  for (const bool stream : {true, false}) {
    Json body = completion("Once upon a time", 100'000);
    body["ignore_eos"] = true;
    body["stream"] = stream;
    std::vector<std::unique_ptr<httplib::Client>> clients;
    std::vector<std::jthread> askers;
    for (int i = 0; i < 3; ++i) {
      clients.push_back(server.client());
      askers.emplace_back([&, client = clients.back().get()] { client->Post(kText, body.dump(), "application/json"); });
    }
    EXPECT_TRUE(soon([&] { return n_running(server) > 0; }));
    for (const auto& client : clients) client->stop();
    askers.clear();
    EXPECT_TRUE(soon([&] { return n_running(server) == 0; })) << stream;
  }
  EXPECT_EQ(server.post(kText, completion("Once")).status, 200);
  EXPECT_TRUE(server.get("/metrics").text.contains("tern_replies_ended_total{reason=\"cancelled\"}"));
}

TEST(ApiServer, TooMuchTime) {
  const RunningServer server({.most_time = std::chrono::seconds(1)});
  Json body = completion("Once upon a time", 100'000);
  body["ignore_eos"] = true;
  body["n"] = 64;  // takes more than a second on any machine
  const auto answer = server.post(kText, body);
  EXPECT_EQ(answer.status, 504);
  EXPECT_EQ(answer.json["error"]["code"], "timeout");
}

TEST(ApiServer, WhatRunsEndsBeforeTheServerDoes) {
  RunningServer server({.slots = true});
  Json body = completion("Once upon a time", 300);
  body["ignore_eos"] = true;
  RunningServer::Answer answer;
  std::jthread asker([&] { answer = server.post(kText, body); });
  ASSERT_TRUE(soon([&] { return n_running(server) > 0; }));
  server.request_stop();
  EXPECT_TRUE(soon([&] { return server.get("/ready").status == 503 || server.get("/ready").status == 0; }));
  asker.join();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.json["usage"]["completion_tokens"], 300);
}

// Counts one joule per reading.
class Counter final : public EnergyReader {
 public:
  Result<double> joules() override { return ++n_; }
  std::string source() const override { return "a test"; }

 private:
  double n_ = 0;
};

TEST(ApiServer, AStepsEnergyIsSharedByItsReplies) {
  Counter counter;
  EnergyMeter meter(counter);
  const RunningServer server({.energy = &meter, .metrics = true});
  Json body = completion("Once upon a time", 12);
  body["ignore_eos"] = true;
  const double alone = server.post(kText, body).json["usage"]["joules"];
  EXPECT_GE(alone, 12);
  EXPECT_LE(alone, 15);
  body["n"] = 4;
  body["stream"] = true;
  body["stream_options"] = {{"include_usage", true}};
  const double of_four = server.stream(kText, body).back()["usage"]["joules"];
  EXPECT_GE(of_four, 12);
  EXPECT_LE(of_four, 20);  // not four times as much
  const double response =
      server.post("/v1/responses", Json{{"input", "Once"}, {"max_output_tokens", 3}}).json["usage"]["joules"];
  const std::string metrics = server.get("/metrics").text;
  const std::string name = "\ntern_energy_joules_total ";
  ASSERT_TRUE(metrics.contains(name)) << metrics;
  EXPECT_NEAR(std::stod(metrics.substr(metrics.find(name) + name.size())), alone + of_four + response, 2);
  const RunningServer other({.metrics = true});
  EXPECT_FALSE(other.get("/metrics").text.contains("joules"));
  body = completion("Once", 2);
  EXPECT_FALSE(other.post(kText, body).json["usage"].contains("joules"));
}

TEST(ApiServer, ModelsThatComputeAtOnceShareTheEnergy) {
  double now = 0;
  class Clock final : public EnergyReader {
   public:
    explicit Clock(double& now) : now_(now) {}
    Result<double> joules() override { return now_; }
    std::string source() const override { return "a test"; }

   private:
    double& now_;
  } clock(now);
  EnergyMeter meter(clock);
  EnergyShare one(&meter), other(&meter), none(nullptr);
  now = 100;  // while no model computes
  one.begin();
  now += 4;
  EXPECT_EQ(one.take(/*goes_on=*/true), 4);
  {
    EnergyShare third(&meter);
    other.begin();
    third.begin();
    now += 6;
    EXPECT_EQ(one.take(true), 2);
    EXPECT_EQ(third.take(true), 2);
    now += 3;
  }  // it ends without a last take()
  now += 4;
  EXPECT_EQ(other.take(false), 2 + 1 + 2);
  now += 5;
  EXPECT_EQ(one.take(false), 1 + 2 + 5);
  now += 7;
  EXPECT_EQ(one.take(false), 0);
  none.begin();
  EXPECT_EQ(none.take(false), 0);
}

// The dashboard's queries (packaging/grafana.json) use only metrics that exist.
TEST(ApiServer, TheDashboardAsksForWhatIsPrinted) {
  Counter counter;
  EnergyMeter meter(counter);
  const RunningServer server({.energy = &meter, .metrics = true});
  server.post(kText, completion("Once", 2));
  std::set<std::string> printed;
  std::istringstream lines(server.get("/metrics").text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('#')) printed.insert(line.substr(0, line.find_first_of("{ ")));
  }
  std::ifstream file(source_path("packaging/grafana.json"));
  const Json dashboard = Json::parse(file);
  std::string queries = dashboard["templating"]["list"][1]["query"].get<std::string>() + " ";
  for (const Json& panel : dashboard["panels"]) {
    for (const Json& target : panel["targets"]) queries += target["expr"].get<std::string>() + " ";
  }
  std::set<std::string> asked;
  for (size_t at = queries.find("tern_"); at != queries.npos; at = queries.find("tern_", at)) {
    const size_t end = queries.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", at);
    asked.insert(queries.substr(at, end - at));
    at = end;
  }
  EXPECT_GT(asked.size(), 15u);
  for (const std::string& name : asked) EXPECT_TRUE(printed.contains(name)) << name;
}

TEST(ApiServer, ManyConnectionsThatSayNothing) {
  RunningServer server;
  std::vector<std::unique_ptr<httplib::Client>> idle;
  for (int i = 0; i < 200; ++i) {
    idle.push_back(server.client());
    idle.back()->set_keep_alive(true);
    ASSERT_TRUE(idle.back()->Get("/health"));
  }
  EXPECT_EQ(server.post(kText, completion("Once")).status, 200);
  const auto start = std::chrono::steady_clock::now();
  server.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(ApiServer, TokensAndWhatTheServerIs) {
  const RunningServer server({.metrics = true, .slots = true});
  const Json tokens = server.post("/tokenize", Json{{"content", "Once upon a time"}}).json["tokens"];
  EXPECT_EQ(tokens, Json(stories().tokenizer().encode("Once upon a time", {.add_bos = false})));
  EXPECT_EQ(server.post("/detokenize", Json{{"tokens", tokens}}).json["content"], "Once upon a time");
  // vLLM's forms of the same.
  const Json asked = server.post("/tokenize", Json{{"prompt", "Once upon a time"}, {"return_token_strs", true}}).json;
  EXPECT_EQ(asked["tokens"], Json(stories().tokenizer().encode("Once upon a time", {.add_bos = true})));
  EXPECT_EQ(asked["count"], asked["tokens"].size());
  EXPECT_EQ(asked["max_model_len"], 1024);
  EXPECT_EQ(asked["token_strs"].back(), " time");
  EXPECT_EQ(
      server.post("/tokenize", Json{{"prompt", "Once upon a time"}, {"add_special_tokens", false}}).json["tokens"],
      tokens);
  const Json turns = {{"messages", Json::array({{{"role", "user"}, {"content", "Hi"}}})}};
  EXPECT_EQ(server.post("/tokenize", turns).status, 400);  // this engine has no template
  EXPECT_EQ(server.post("/tokenize", Json{{"prompt", "a"}, {"add_special_tokens", "no"}}).status, 400);
  EXPECT_EQ(server.post("/detokenize", Json{{"tokens", tokens}}).json["prompt"], "Once upon a time");
  const Json about = server.get("/tokenizer_info").json;
  const auto eos = stories().tokenizer().find(about["eos_token"].get<std::string>());
  ASSERT_TRUE(eos);
  EXPECT_EQ(*eos, stories().tokenizer().stop_tokens().front());
  EXPECT_TRUE(about["chat_template"].is_null());
  const Json models = server.get("/v1/models").json;
  EXPECT_EQ(models["data"][0]["id"], "stories");
  EXPECT_EQ(server.get("/v1/models/Tern%20Stories").json["id"], "stories");
  EXPECT_EQ(server.get("/props").json["default_generation_settings"]["n_ctx"], 1024);
  EXPECT_EQ(server.get("/slots").json.size(), 64u);
  EXPECT_EQ(server.get("/ready").json["status"], "ready");
  server.post(kText, completion("Once", 5));
  // An answer may arrive a moment before the server has finished its step.
  std::string metrics = server.get("/metrics").text;
  for (int look = 0; look < 100 && !metrics.contains("tern_replies_running 0\n"); ++look) {
    metrics = server.get("/metrics").text;
  }
  for (const char* line : {"tern_generated_tokens_total 5\n", "tern_time_to_first_token_seconds_count 1\n",
                           "tern_time_between_tokens_seconds_count 4\n", "tern_replies_running 0\n",
                           "tern_states_used 0\n", "tern_state_snapshots 0\n", "tern_state_bytes 0\n",
                           "tern_draft_tokens_total 0\n", "tern_draft_tokens_right_total 0\n",
                           "tern_state_snapshot_hits_total 0\n", "tern_replies_ended_total{reason=\"max_tokens\"} 1\n",
                           "tern_http_answers_total{route=\"/v1/completions\",status=\"200\"} 1\n"}) {
    EXPECT_TRUE(metrics.contains(line)) << line << metrics;
  }
}

}  // namespace
}  // namespace tern::server::test
