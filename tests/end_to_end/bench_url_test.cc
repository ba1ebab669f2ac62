// `tern bench --url` against a scripted server.
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "end_to_end/run_program.h"
#include "load/fake_server_test_support.h"

namespace tern::test {
namespace {

using load::FakeReply;
using load::FakeServer;
using load::scripted;
using load::SeenRequest;
using nlohmann::json;
using Words = std::vector<std::string>;

RunResult bench_url(const FakeServer& server, Words options, const RunOptions& run = {}) {
  options.insert(options.begin(), {"bench", "--url", server.url()});
  return run_tern(options, run);
}

void expect_parts(const std::string& text, const Words& parts) {
  for (const std::string& part : parts) EXPECT_TRUE(text.contains(part)) << part << " is missing from\n" << text;
}

std::function<FakeReply(const SeenRequest&)> steady() {
  return [](const SeenRequest&) { return scripted({.n_tokens = 5, .ttft_ms = 20, .gap_ms = 5}); };
}

TEST(BenchUrl, TableSaysWhatItMeans) {
  const FakeServer server(steady());
  const RunResult result = bench_url(server, {"--clients", "2", "--requests", "30", "--deadline-ttft", "10000",
                                              "--deadline-itl", "10000", "--max-tokens", "9"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  expect_parts(result.out, {"fake-1 at " + server.url(), "closed loop, 2 clients", "30 requests in", "first token",
                            "between tokens", "p99", "30 complete, 0 failed, at most 2 at a time", "150 in all",
                            "goodput", "30 of 30 in time: first token within 10000 ms, no gap over 10000 ms",
                            "from when a request was due (its client was free) to its first text",
                            "counted by the server (usage)", "rates are over the steady"});
  for (size_t at = 0; at < result.out.size();) {
    const size_t end = result.out.find('\n', at);
    const std::string line = result.out.substr(at, end - at);
    EXPECT_LE(line.size(), 125u) << line;
    EXPECT_FALSE(line.ends_with(' ')) << line;
    at = end + 1;
  }
  EXPECT_EQ(json::parse(server.seen().at(0).body)["max_tokens"], 9);
}

TEST(BenchUrl, JsonHasAllNumbersAndRows) {
  const FakeServer server(steady());
  const RunResult result = bench_url(server, {"--clients", "3", "--requests", "20", "--json", "--rows",
                                              "--deadline-ttft", "10000", "--prompt-tokens", "16"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const json report = json::parse(result.out);
  EXPECT_EQ(report.at("model"), "fake-1");
  EXPECT_EQ(report.at("load").at("loop"), "closed");
  EXPECT_EQ(report.at("load").at("clients"), 3);
  EXPECT_EQ(report.at("load").at("rate_per_s"), nullptr);
  EXPECT_EQ(report.at("requests").at("complete"), 20);
  EXPECT_EQ(report.at("requests").at("most_at_a_time"), 3);
  EXPECT_EQ(report.at("tokens"), 100);
  EXPECT_EQ(report.at("met_deadlines"), 20);
  EXPECT_EQ(report.at("deadlines").at("itl_ms"), nullptr);
  EXPECT_EQ(report.at("prompt_tokens"), 140);
  EXPECT_EQ(report.at("cached_tokens"), nullptr);
  EXPECT_EQ(report.at("same_replies"), nullptr);
  for (const char* what : {"ttft_ms", "between_tokens_ms", "request_ms", "reply_tokens_per_s"}) {
    const json& d = report.at(what);
    EXPECT_GT(d.at("min"), 0) << what;
    EXPECT_LE(d.at("min"), d.at("p50"));
    EXPECT_LE(d.at("p50"), d.at("p99"));
    EXPECT_LE(d.at("p99"), d.at("max"));
    EXPECT_LE(d.at("min"), d.at("mean"));
  }
  EXPECT_GE(report.at("ttft_ms").at("min"), 20);
  EXPECT_EQ(report.at("between_tokens_ms").at("n"), 80);
  ASSERT_EQ(report.at("rows").size(), 20u);
  const json& row = report.at("rows").at(7);
  EXPECT_EQ(row.at("index"), 7);
  EXPECT_EQ(row.at("outcome"), "complete");
  EXPECT_EQ(row.at("gaps_ms").size(), 4u);
  EXPECT_EQ(row.at("tokens"), 5);
  EXPECT_EQ(row.at("counted_by"), "usage");
  EXPECT_EQ(row.at("finish_reason"), "length");
  const json without = json::parse(bench_url(server, {"--requests", "2", "-o", "json"}).out);
  EXPECT_FALSE(without.contains("rows"));
  EXPECT_EQ(without.at("goodput_per_s"), nullptr);
}

TEST(BenchUrl, OpenLoopAndAPicture) {
  const FakeServer server(steady());
  const ScratchFolder folder;
  const std::string path = folder.path("load.svg");
  const RunResult result = bench_url(server, {"--rate", "60", "--seconds", "0.5", "--svg", path, "-m", "named"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  expect_parts(result.out, {"named at ", "open loop, 60 arrivals a second", "sent late", "its arrival"});
  const std::string svg = read_file(path);
  EXPECT_TRUE(svg.starts_with("<svg ")) << svg;
  expect_parts(svg, {"named at ", "open loop", "Time to the first token", "</svg>"});
  EXPECT_EQ(json::parse(server.seen().at(0).body)["model"], "named");
}

TEST(BenchUrl, WithoutUsageItCountsPiecesAndSaysSo) {
  const FakeServer server([](const SeenRequest&) { return scripted({.n_tokens = 3, .has_usage = false}); });
  const RunResult result = bench_url(server, {"--requests", "4"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  expect_parts(result.out, {"12 in all", "tokens are pieces of text, because the server sends no usage"});
  EXPECT_FALSE(result.out.contains("as the server counts"));
}

TEST(BenchUrl, FailuresHaveTheirLines) {
  std::atomic<int> n = 0;
  const FakeServer server([&](const SeenRequest&) {
    switch (n++) {
      case 1:
        return FakeReply{.status = 503, .pieces = {{.bytes = R"({"error": {"message": "too \u001b[31mbusy"}})"}}};
      case 2:
        return FakeReply{.pieces = {{.bytes = load::chat_event("x")}}, .is_cut = true};
      case 3:
        return scripted({.has_done = false});
      default:
        return scripted({});
    }
  });
  const RunResult result = bench_url(server, {"--requests", "8"});
  EXPECT_EQ(result.exit_code, 0) << "most were complete: " << result.err;
  expect_parts(result.out,
               {"5 complete, 3 failed", "failed: 1 × answered with an error (HTTP 503: too  [31mbusy)",
                "failed: 1 × the connection ended within the reply", "failed: 1 × the reply ended without [DONE]"});
  EXPECT_FALSE(result.out.contains('\x1b'));
}

TEST(BenchUrl, FailsWhereNothingCame) {
  const FakeServer server([](const SeenRequest&) {
    return FakeReply{.status = 404, .pieces = {{.bytes = R"({"error": {"message": "no such model"}})"}}};
  });
  const RunResult result = bench_url(server, {"--requests", "3"});
  EXPECT_EQ(result.exit_code, 1);
  expect_parts(result.out, {"0 complete, 3 failed"});
  expect_parts(result.err, {"no request was complete", "HTTP 404: no such model"});
}

TEST(BenchUrl, RepliesThatDiffer) {
  const auto answer_with = [](bool may_differ) {
    return [may_differ, n = std::make_shared<std::atomic<int>>(0)](const SeenRequest&) {
      const bool differs = may_differ && (*n)++ == 5;
      FakeReply reply = scripted({.n_tokens = 3});
      if (differs) reply.pieces[2].bytes = load::chat_event("other ");
      return reply;
    };
  };
  const FakeServer same(answer_with(false)), differing(answer_with(true));
  const Words options = {"--requests", "8", "--check-same"};
  const RunResult good = bench_url(same, options);
  EXPECT_EQ(good.exit_code, 0) << good.err;
  expect_parts(good.out, {"same replies: 4 of 4 prompts had one reply each (8 replies compared)"});
  const RunResult bad = bench_url(differing, options);
  EXPECT_EQ(bad.exit_code, 1);
  expect_parts(bad.out,
               {"same replies: 3 of 4 prompts", "requests 1 and 5 differ from byte 3 on", "w0 w1 w2", "w0 other w2"});
  expect_parts(bad.err, {"1 of 4 prompts", "different replies"});
  EXPECT_TRUE(bench_url(same, {"--requests", "2", "--check-same"}).out.contains("not known"));
}

TEST(BenchUrl, PromptsFromAFile) {
  const FakeServer server([](const SeenRequest&) { return scripted({.is_chat = false}); });
  const ScratchFolder folder;
  const std::string file = folder.write("p.jsonl", "{\"prompt\": \"one\"}\n{\"prompt\": \"two\", \"max_tokens\": 3}\n");
  const RunResult result = bench_url(
      server, {"--api", "completions", "--prompt-file", file, "--requests", "4", "--body", R"({"ignore_eos": true})"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  expect_parts(result.out, {"completions", "2 prompts from " + file});
  const auto seen = server.seen();
  ASSERT_EQ(seen.size(), 4u);
  EXPECT_EQ(json::parse(seen[1].body)["prompt"], "two");
  EXPECT_EQ(json::parse(seen[1].body)["max_tokens"], 3);
  EXPECT_EQ(json::parse(seen[2].body)["prompt"], "one");
  EXPECT_EQ(json::parse(seen[2].body)["ignore_eos"], true);
}

TEST(BenchUrl, CtrlCReportsWhatWasMeasured) {
  std::atomic<int> n = 0;
  const FakeServer server(
      [&](const SeenRequest&) { return n++ < 3 ? scripted({.n_tokens = 2}) : FakeReply{.before_ms = 3000}; });
  bool pressed = false;
  const RunResult result = bench_url(server, {"--requests", "50"}, {.on_tick = [&](pid_t process) {
                                       if (n < 4 || pressed) return;
                                       pressed = true;
                                       ::kill(process, SIGINT);
                                     }});
  EXPECT_EQ(result.exit_code, 130) << result.err;
  expect_parts(result.out, {"3 complete, 0 failed", "stopped by Ctrl-C: 1 requests"});
}

TEST(BenchUrl, WhatIsRefused) {
  const FakeServer server(steady());
  const auto refused = [&](Words options, const Words& words) {
    EXPECT_TRUE(failed_with(bench_url(server, options), 2, words)) << testing::PrintToString(options);
  };
  refused({"--rate", "1", "--clients", "2"}, {"--rate", "--clients"});
  refused({"--seconds", "1", "--requests", "2"}, {"--seconds", "--requests"});
  refused({"--rows"}, {"--rows", "--json"});
  refused({"--clients", "257"}, {"--clients", "256"});
  refused({"--rate", "0"}, {"--rate"});
  refused({"--shared-prefix", "200"}, {"--shared-prefix", "128"});
  refused({"--prompt-file", "x", "--prompt-tokens", "5"}, {"--prompt-tokens", "--prompt-file"});
  refused({"--prompt-file", "x", "--turns", "2"}, {"--turns", "--prompt-file"});
  refused({"--body", "[1]"}, {"[1]", "ignore_eos"});
  refused({"--body", R"({"stream": false})"}, {"stream"});
  refused({"--body", R"({"temperature": 1})", "--check-same"}, {"--check-same", "temperature"});
  refused({"--api-key", "a\r\nX: y"}, {"--api-key"});
  refused({"-b", "cpu"}, {"--backend", "no model"});
  refused({"-p", "5"}, {"--prompt", "does not use"});
  refused({"--api", "responses"}, {"responses", "completions"});
  EXPECT_TRUE(server.seen().empty());
  EXPECT_TRUE(failed_with(run_tern({"bench", "--clients", "2"}), 2, {"--clients", "--url"}));
  EXPECT_TRUE(failed_with(run_tern({"bench", "kernels", "--rate", "2"}), 2, {"--rate", "--url"}));
  EXPECT_TRUE(failed_with(run_tern({"bench", "--url", "localhost:8080"}), 2, {"localhost:8080", "http://"}));
  EXPECT_TRUE(failed_with(run_tern({"bench", "--url", "http://127.0.0.1:1"}), 1, {"127.0.0.1:1", "server running"}));
  EXPECT_TRUE(failed_with(bench_url(server, {"--svg", "/nowhere/x.svg"}), 1, {"/nowhere/x.svg", "--svg"}));
  EXPECT_TRUE(failed_with(bench_url(server, {"--prompt-file", "/nowhere"}), 1, {"/nowhere"}));
}

}  // namespace
}  // namespace tern::test
