// The load generator against a scripted server.
#include "load/load_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "load/fake_server_test_support.h"
#include "load/metrics.h"
#include "load/random.h"

namespace tern::load {
namespace {

using Answer = std::function<FakeReply(const SeenRequest&)>;

Answer always(FakeReply reply) {
  return [reply = std::move(reply)](const SeenRequest&) { return reply; };
}

LoadResult run_on(const FakeServer& server, LoadOptions options, const Prompts& prompts = Prompts::made({.tokens = 4}),
                  const std::stop_token& stop = {}) {
  options.url = server.url();
  Result<LoadResult> result = run_load(options, prompts, stop);
  EXPECT_TRUE(result) << result.error().message;
  return result ? *std::move(result) : LoadResult{};
}

// Sends one request and returns its record.
RequestRecord ask_once(const FakeReply& reply, LoadOptions options = {}) {
  const FakeServer server(always(reply));
  options.requests = 1;
  const LoadResult result = run_on(server, options);
  EXPECT_EQ(result.records.size(), 1u);
  return result.records.empty() ? RequestRecord{} : result.records.front();
}

TEST(LoadRun, NotesWhenWhatCame) {
  const RequestRecord record = ask_once(scripted({.n_tokens = 5, .ttft_ms = 80, .gap_ms = 30}));
  EXPECT_EQ(record.outcome, Outcome::kComplete) << record.message;
  EXPECT_EQ(record.status, 200);
  ASSERT_EQ(record.text_times.size(), 5u) << "the first event has no text, nor has the last";
  // A sleep never ends early, but may last longer, depending on the machine.
  EXPECT_GE(ttft_ms(record), 80);
  for (const double gap : gaps_ms(record)) EXPECT_GT(gap, 10);
  EXPECT_GE(record.ended, record.text_times.back());
  EXPECT_GE((record.text_times.back() - record.text_times.front()) * 1000, 4 * 30 - 20);
  EXPECT_EQ(record.counted_tokens, 5);
  EXPECT_EQ(record.prompt_tokens, 7);
  EXPECT_EQ(record.cached_tokens, std::nullopt);
  EXPECT_EQ(record.finish_reason, "length");
  EXPECT_GE(record.sent, record.due);
}

TEST(LoadRun, CountsPiecesWithoutUsage) {
  const RequestRecord record = ask_once(scripted({.n_tokens = 6, .has_usage = false}));
  EXPECT_TRUE(record.is_complete());
  EXPECT_EQ(record.counted_tokens, std::nullopt);
  EXPECT_EQ(record.tokens(), 6);
}

TEST(LoadRun, CompletionsToo) {
  const FakeServer server(always(scripted({.n_tokens = 3, .is_chat = false})));
  const LoadResult result = run_on(server, {.request = {.api = Api::kCompletions}, .requests = 1});
  ASSERT_EQ(result.records.size(), 1u);
  EXPECT_TRUE(result.records[0].is_complete()) << result.records[0].message;
  EXPECT_EQ(result.records[0].text_times.size(), 3u);
  EXPECT_EQ(server.seen().at(0).path, "/v1/completions");
}

// The stream is sent as two HTTP chunks, cut at every possible position.
TEST(LoadRun, ChunksCutAnywhere) {
  std::string stream = ": hello\r\n\r\n";
  for (const FakePiece& piece : scripted({.n_tokens = 2}).pieces) stream += piece.bytes;
  std::atomic<size_t> next = 1;
  const FakeServer server([&](const SeenRequest&) {
    const size_t cut = next++;
    return FakeReply{.pieces = {{.bytes = stream.substr(0, cut)}, {.bytes = stream.substr(cut)}}};
  });
  const auto n = static_cast<int64_t>(stream.size() - 1);
  const LoadResult result = run_on(server, {.clients = 4, .requests = n, .keep_texts = true});
  ASSERT_EQ(result.records.size(), static_cast<size_t>(n));
  for (const RequestRecord& record : result.records) {
    ASSERT_TRUE(record.is_complete()) << record.message;
    ASSERT_EQ(record.text, "w0 w1 ");
    ASSERT_EQ(record.counted_tokens, 2);
  }
}

TEST(LoadRun, FailuresByKind) {
  const auto expect = [](const FakeReply& reply, Outcome outcome, const char* message) {
    const RequestRecord record = ask_once(reply, {.timeout_seconds = 1});
    EXPECT_EQ(outcome_name(record.outcome), outcome_name(outcome));
    EXPECT_TRUE(record.message.contains(message)) << record.message;
  };
  expect(
      {.status = 503, .content_type = "application/json", .pieces = {{.bytes = R"({"error": {"message": "busy"}})"}}},
      Outcome::kHttpStatus, "busy");
  expect({.status = 301, .pieces = {{.bytes = "elsewhere"}}}, Outcome::kHttpStatus, "elsewhere");
  expect({.content_type = "application/json", .pieces = {{.bytes = R"({"choices": []})"}}}, Outcome::kNotAStream,
         "application/json");
  expect({.pieces = {{.bytes = "data: {nonsense\n\n"}}}, Outcome::kNotAStream, "{nonsense");
  expect({.pieces = {{.bytes = chat_event("a")}, {.bytes = "data: {\"error\": {\"message\": \"oops\"}}\n\n"}}},
         Outcome::kServerError, "oops");
  expect({.pieces = {{.bytes = chat_event("a")}, {.bytes = "event: error\ndata: {\"message\": \"oops\"}\n\n"}}},
         Outcome::kServerError, "oops");
  expect({.pieces = {{.bytes = chat_event("a")}, {.bytes = chat_event("b")}}, .is_cut = true}, Outcome::kCut, "");
  expect({.pieces = {{.bytes = chat_event("a")}}}, Outcome::kNoDone, "[DONE]");
  expect({.pieces = {{.bytes = chat_event("a")}, {.bytes = "data: [DONE]\n"}}}, Outcome::kNoDone, "[DONE]");
  expect({.pieces = {{.bytes = "data: [DONE]\n\n"}}}, Outcome::kNoText, "no text");
  expect({.before_ms = 2500}, Outcome::kTimeout, "");
  expect({.pieces = {{.bytes = chat_event("a")}, {.after_ms = 2500, .bytes = chat_event("b")}}}, Outcome::kTimeout, "");
}

TEST(LoadRun, WhatComesAfterDoneIsNoFailure) {
  FakeReply reply = scripted({.n_tokens = 2});
  reply.is_cut = true;
  EXPECT_TRUE(ask_once(reply).is_complete());
}

TEST(LoadRun, ConnectionsThatAreClosed) {
  const FakeServer server([](const SeenRequest&) -> FakeReply { return {.status = 200, .is_cut = true}; });
  const LoadResult result = run_on(server, {.requests = 1});
  EXPECT_EQ(result.records.at(0).outcome, Outcome::kCut);
  std::string url;
  {
    url = FakeServer(always({})).url();
  }
  const Result<LoadResult> nobody = run_load({.url = url, .requests = 1}, Prompts::made({}), {});
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code, ErrorCode::kIo);
  EXPECT_TRUE(nobody.error().message.contains(url)) << nobody.error().message;
}

TEST(LoadRun, SendsWhatItShould) {
  const FakeServer server(always(scripted({})));
  const Prompts prompts = Prompts::made({.tokens = 2000});
  const LoadResult result = run_on(server, {.api_key = "secret", .request = {.model = "m"}, .requests = 3}, prompts);
  const SeenRequest seen = server.seen().at(0);
  EXPECT_EQ(seen.path, "/v1/chat/completions");
  EXPECT_EQ(seen.authorization, "Bearer secret");
  EXPECT_FALSE(seen.expects_leave);
  // The client must not wait for a permission that it has not asked for: the library would, for a second.
  EXPECT_LT(*measure(result, {}).ttft_ms.at(0.01), 900);
  const nlohmann::json body = nlohmann::json::parse(seen.body);
  EXPECT_EQ(body["model"], "m");
  EXPECT_EQ(body["stream"], true);
  EXPECT_GT(seen.body.size(), 8000u);
}

TEST(LoadRun, ListsTheModel) {
  const FakeServer server(always({}));
  const Result<std::string> model = listed_model({.url = server.url()});
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(*model, "fake-1");
  const Result<std::string> none = listed_model({.url = server.url() + "/elsewhere"});
  ASSERT_FALSE(none);
  EXPECT_TRUE(none.error().message.contains("404")) << none.error().message;
}

TEST(LoadRun, ClosedLoopKeepsEveryClientBusy) {
  const FakeServer server(always(scripted({.n_tokens = 2, .ttft_ms = 20, .gap_ms = 5})));
  const LoadResult result = run_on(server, {.clients = 4, .requests = 30});
  EXPECT_EQ(result.records.size(), 30u);
  EXPECT_EQ(server.most_at_once(), 4);
  EXPECT_EQ(result.most_running, 4);
  std::set<int64_t> conversations;
  for (const RequestRecord& record : result.records) conversations.insert(record.conversation);
  EXPECT_EQ(conversations.size(), 30u);
  EXPECT_LE(result.offered_until, result.ended);
  const auto later =
      std::ranges::count_if(result.records, [&](const auto& r) { return r.ended > result.offered_until; });
  EXPECT_LE(later, 3) << "the other clients' last requests";
}

TEST(LoadRun, EveryRequestIsDifferentUnlessPromptsAreFew) {
  const FakeServer server(always(scripted({})));
  const auto bodies = [&](int64_t n_distinct, uint64_t seed) {
    const LoadResult result = run_on(server, {.clients = 3, .requests = 12, .keep_texts = true},
                                     Prompts::made({.tokens = 9, .n_distinct = n_distinct, .seed = seed}));
    std::set<std::string> distinct;
    for (const RequestRecord& record : result.records) distinct.insert(record.body);
    return distinct;
  };
  EXPECT_EQ(bodies(0, 1).size(), 12u);
  EXPECT_EQ(bodies(4, 1).size(), 4u);
  EXPECT_EQ(bodies(0, 1), bodies(0, 1)) << "whichever client sends them";
  EXPECT_NE(bodies(0, 1), bodies(0, 2));
}

// Requests arrive every 10 ms while the server takes 300 ms: an open loop does not wait for it.
TEST(LoadRun, OpenLoopSendsWhetherTheServerKeepsUpOrNot) {
  const FakeServer server(always(scripted({.n_tokens = 1, .ttft_ms = 300})));
  const LoadOptions options = {.rate = 100, .requests = 20, .seed = 5};
  const LoadResult result = run_on(server, options);
  ASSERT_EQ(result.records.size(), 20u);
  EXPECT_GE(server.most_at_once(), 5);
  std::vector<double> due;
  for (const RequestRecord& record : result.records) {
    due.push_back(record.due);
    EXPECT_GE(record.sent, record.due);
    EXPECT_GE(ttft_ms(record), 300);
  }
  std::ranges::sort(due);
  Random random(5, uint64_t{1} << 63);
  double expected = 0;
  for (const double time : due) EXPECT_DOUBLE_EQ(time, expected += random.seconds_to_next(100)) << "the same each time";
  EXPECT_DOUBLE_EQ(result.offered_until, due.back());
}

// One slow reply at a time: later arrivals wait on the server, and that time counts.
TEST(LoadRun, WaitingCountsFromTheArrival) {
  std::mutex one_at_a_time;
  const FakeServer server([&](const SeenRequest&) {
    const std::scoped_lock lock(one_at_a_time);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return scripted({.n_tokens = 1});
  });
  const LoadResult result = run_on(server, {.rate = 200, .requests = 10});
  const Metrics metrics = measure(result, {});
  EXPECT_EQ(metrics.complete, 10);
  // All arrive within about 50 ms, and the last is answered after 500 ms.
  EXPECT_GE(*metrics.ttft_ms.at(1), 10 * 50 - result.offered_until * 1000);
}

TEST(LoadRun, SecondsInsteadOfANumber) {
  const FakeServer server(always(scripted({.n_tokens = 2, .ttft_ms = 10, .gap_ms = 10})));
  // Enough time for a second request of each client, even under a sanitizer on a busy machine.
  const LoadResult closed = run_on(server, {.clients = 2, .seconds = 2});
  EXPECT_GE(closed.records.size(), 4u);
  for (const RequestRecord& record : closed.records) EXPECT_LT(record.due, 2);
  EXPECT_GE(closed.ended, 1.6);
  const LoadResult open = run_on(server, {.rate = 50, .seconds = 0.5});
  EXPECT_GE(open.records.size(), 5u);
  for (const RequestRecord& record : open.records) EXPECT_LT(record.due, 0.5);
  EXPECT_EQ(open.offered_until, 0.5);
}

TEST(LoadRun, ConversationsGrowAndClientsThink) {
  const FakeServer server(always(scripted({.n_tokens = 2})));
  const LoadResult result =
      run_on(server, {.clients = 2, .requests = 7, .turns = 3, .think_seconds = 0.05, .keep_texts = true});
  ASSERT_EQ(result.records.size(), 7u) << "two whole conversations and a request";
  std::map<int64_t, std::vector<const RequestRecord*>> conversations;
  for (const RequestRecord& record : result.records) conversations[record.conversation].push_back(&record);
  ASSERT_EQ(conversations.size(), 3u);
  EXPECT_EQ(conversations[2].size(), 1u);
  for (int64_t c = 0; c < 2; ++c) {
    ASSERT_EQ(conversations[c].size(), 3u);
    for (size_t turn = 0; turn < 3; ++turn) {
      const RequestRecord& record = *conversations[c][turn];
      EXPECT_EQ(record.turn, static_cast<int>(turn));
      const nlohmann::json messages = nlohmann::json::parse(record.body)["messages"];
      ASSERT_EQ(messages.size(), 2 * turn + 1);
      if (turn == 0) continue;
      EXPECT_EQ(messages[2 * turn - 1]["content"], "w0 w1 ");
      EXPECT_DOUBLE_EQ(record.due, conversations[c][turn - 1]->ended + 0.05);
    }
  }
}

TEST(LoadRun, AFailureEndsItsConversation) {
  std::atomic<int> n = 0;
  const FakeServer server([&](const SeenRequest&) {
    return n++ == 1 ? FakeReply{.status = 500, .pieces = {{.bytes = "x"}}} : scripted({});
  });
  const LoadResult result = run_on(server, {.requests = 8, .turns = 4});
  EXPECT_EQ(result.records.size(), 6u) << "2 of the first conversation, 4 of the second";
  EXPECT_EQ(result.skipped, 2);
}

TEST(LoadRun, AStopEndsWhatRuns) {
  const FakeServer server(always({.before_ms = 3000}));
  for (const bool open : {false, true}) {
    std::stop_source stop;
    std::jthread stopper([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      stop.request_stop();
    });
    LoadOptions options = {.clients = 3, .requests = 100};
    if (open) options.rate = 50;
    const LoadResult result = run_on(server, options, Prompts::made({.tokens = 4}), stop.get_token());
    EXPECT_TRUE(result.interrupted);
    EXPECT_GE(result.records.size(), 1u);
    EXPECT_LT(result.ended, 2.5) << "long before the server would have answered";
    for (const RequestRecord& record : result.records) EXPECT_EQ(record.outcome, Outcome::kStopped);
  }
}

TEST(LoadRun, AsManyClientsAsThereMayBe) {
  const FakeServer server(always(scripted({.n_tokens = 1, .ttft_ms = 500})));
  const LoadResult result = run_on(server, {.clients = kMaxClients, .requests = kMaxClients});
  const Metrics metrics = measure(result, {});
  EXPECT_EQ(metrics.complete, kMaxClients);
  for (const Failures& f : metrics.failures)
    ADD_FAILURE() << outcome_name(f.outcome) << " " << f.count << " " << f.example;
  EXPECT_GT(server.most_at_once(), kMaxClients / 2);
}

}  // namespace
}  // namespace tern::load
