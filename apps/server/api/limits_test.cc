// The server's limits for clients that send too much, too slowly or nothing, and for clients that do not read.
#include <chrono>
#include <fstream>
#include <limits>

#include "server/api/api_test_support.h"
#include "server/raw_client_test_support.h"

namespace tern::server::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

// Sanitizers make a model many times slower, and keep freed memory.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

const std::string kOnce = R"({"prompt": "Once", "max_tokens": 2})";

int status_of(const std::string& answer) { return answer.starts_with("HTTP/1.1 ") ? std::atoi(answer.c_str() + 9) : 0; }

std::string headers(int n, size_t bytes) {
  std::string text;
  for (int i = 0; i < n; ++i) text += "X-" + std::to_string(i) + ": " + std::string(bytes, 'a') + "\r\n";
  return text;
}

TEST(ApiLimits, HeadsThatAreTooLarge) {
  const RunningServer server;
  struct Case {
    std::string head;
    int status;
  };
  for (const auto& [head, status] :
       {Case{"GET /health HTTP/1.1\r\n" + headers(90, 10) + "\r\n", 200},
        Case{"GET /health HTTP/1.1\r\n" + headers(101, 10) + "\r\n", 431},
        Case{"GET /health HTTP/1.1\r\n" + headers(1, 9000) + "\r\n", 431},
        Case{"GET /health HTTP/1.1\r\n" + headers(90, 1000) + "\r\n", 431},
        Case{"GET /" + std::string(9000, 'a') + " HTTP/1.1\r\n\r\n", 414},
        Case{"GET /" + std::string(100'000, 'a') + " HTTP/1.1\r\n\r\n", 414}, Case{"HELLO\r\n\r\n", 400}}) {
    const RawClient client(server.port());
    client.send(head);
    const std::string answer = client.receive();
    EXPECT_EQ(status_of(answer), status) << head.substr(0, 60) << answer;
    EXPECT_EQ(answer.contains("{\"error\":{\"message\":"), status != 200) << answer;
  }
}

TEST(ApiLimits, ConnectionsThatSpeakTooSlowly) {
  const RunningServer server({.limits = {.request = milliseconds(250)}});
  constexpr int kMost = 200;  // ten seconds
  const RawClient head(server.port()), lines(server.port()), body(server.port());
  head.send("POST /v1/completions HTTP/1.1\r\nX-Slow: ");
  EXPECT_LT(head.send_slowly('a', kMost, milliseconds(50)), kMost);
  lines.send("POST /v1/completions HTTP/1.1\r\n");  // lines that the library skips
  EXPECT_LT(lines.send_slowly('\n', kMost, milliseconds(50)), kMost);
  body.send(post_head(kText, "Content-Length: 100000\r\n"));
  EXPECT_LT(body.send_slowly(' ', kMost, milliseconds(50)), kMost);
  // A request that arrives in time may take longer to answer.
  const RawClient client(server.port());
  Json long_answer = completion("Once", 400);
  long_answer["ignore_eos"] = true;
  long_answer["n"] = kSanitized ? 1 : 8;
  client.send(raw_post(kText, long_answer.dump()));
  const auto start = Clock::now();
  EXPECT_EQ(status_of(client.receive()), 200);
  EXPECT_GT(Clock::now() - start, milliseconds(300)) << "the model is too fast for this test";
}

// Answers larger than the system's buffers for a connection.
Json large_stream() {
  return {{"prompt", "Once"}, {"max_tokens", 400}, {"ignore_eos", true}, {"n", 32}, {"logprobs", 20}, {"stream", true}};
}

TEST(ApiLimits, StreamsThatAreNotRead) {
  if (kSanitized) GTEST_SKIP() << "it takes minutes until a connection is full";
  std::atomic<int> n_cancelled = 0;
  const auto count = [&](std::string_view line) { n_cancelled += line.contains(", cancelled") ? 1 : 0; };
  const RunningServer server(
      {.limits = {.silence = seconds(1), .lag = milliseconds(1000)}, .log = {.on_line = count}, .slots = true});
  const RawClient never(server.port(), 4096), slowly(server.port(), 4096);
  never.send(raw_post(kText, large_stream().dump()));
  slowly.send(raw_post(kText, large_stream().dump()));
  for (int i = 0; i < 2000 && n_cancelled < 2; ++i) {  // 20 seconds; `slowly` never pauses for long
    slowly.receive(2000);
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_EQ(n_cancelled, 2);
  EXPECT_TRUE(soon([&] { return n_running(server) == 0; }));
  EXPECT_EQ(server.post(kText, kOnce).status, 200);
}

TEST(ApiLimits, BodiesThatAreTooLarge) {
  const RunningServer server({.limits = {.body_bytes = 1 << 20}});
  const RawClient told(server.port());
  told.send(post_head(kText, "Content-Length: 104857600\r\n"));  // and nothing of the body
  const std::string answer = told.receive();
  EXPECT_EQ(status_of(answer), 413) << answer;
  EXPECT_TRUE(answer.contains("1048576 bytes")) << answer;
  const RawClient untold(server.port());
  untold.send(post_head(kText, "Transfer-Encoding: chunked\r\n"));
  std::string chunk = "4000\r\n" + std::string(0x4000, ' ') + "\r\n";
  for (int i = 0; i < 80 && untold.send(chunk); ++i) {
  }
  EXPECT_EQ(status_of(untold.receive()), 413);
  const auto packed = server.client();
  packed->set_compress(true);
  const auto bomb = packed->Post(kText, std::string(8 << 20, ' '), "application/json");
  ASSERT_TRUE(bomb);
  EXPECT_EQ(bomb->status, 413) << bomb->body;
  const auto form = server.client()->Post(kText, kOnce, "multipart/form-data; boundary=x");
  ASSERT_TRUE(form);
  EXPECT_EQ(form->status, 415) << form->body;
  const auto nowhere = server.client()->Post("/v1/nothing", kOnce, "multipart/form-data; boundary=x");
  ASSERT_TRUE(nowhere);
  EXPECT_EQ(nowhere->status, 404) << nowhere->body;
}

TEST(ApiLimits, MoreRepliesThanThereIsEverRoomFor) {
  const RunningServer server({.scheduler = {.max_replies = 2}, .max_waiting = 3});
  Json body = completion("Once", 1);
  body["n"] = 6;
  const auto refused = server.post(kText, body);
  EXPECT_EQ(refused.status, 400);
  EXPECT_TRUE(refused.text.contains("6 replies at once, and this server takes at most 5")) << refused.text;
  body["n"] = 5;
  EXPECT_EQ(server.post(kText, body).status, 200);
}

// Most clients look for an answer only after they have sent everything.
TEST(ApiLimits, TheAnswerReachesThoseWhoAreStillSending) {
  const RunningServer server({.limits = {.body_bytes = 1 << 20},
                              .files_folder = testing::TempDir() + "/last_words",
                              .max_file_bytes = 1 << 20});
  const std::string chunk = "10000\r\n" + std::string(0x10000, ' ') + "\r\n";
  std::string chunks;
  for (int i = 0; i < 64; ++i) chunks += chunk;  // 4 MiB
  const std::string body(size_t{5} << 20, ' ');
  const std::string file = form({{"purpose", "batch"}, {"file", body, "in"}});
  const std::string length = "Content-Length: ", many = "Transfer-Encoding: chunked\r\n";
  struct Case {
    std::string text;
    int status = 413;
  };
  for (const auto& [text, status] :
       {Case{post_head(kText, length + std::to_string(body.size()) + "\r\n") + body},
        Case{post_head(kText, many) + chunks},
        Case{"POST /v1/files HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=" + kBoundary + "\r\n" + length +
             std::to_string(file.size()) + "\r\n\r\n" + file},
        Case{"GET /health HTTP/1.1\r\n" + headers(400, 8000) + "\r\n", 431}}) {
    const RawClient client(server.port());
    client.send_without_room();
    EXPECT_TRUE(client.send(text)) << text.substr(0, 100);
    const std::string answer = client.receive_all();
    EXPECT_EQ(status_of(answer), status) << answer;
    EXPECT_TRUE(answer.ends_with("}}")) << answer;
  }
}

// curl -d labels every body as a form.
TEST(ApiLimits, ALongBodyMayCallItselfAForm) {
  const RunningServer server;
  Json body = Json::parse(kOnce);
  body["user"] = std::string(100'000, 'a');
  const auto answer = server.client()->Post(kText, body.dump(), "application/x-www-form-urlencoded");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200) << answer->body;
}

TEST(ApiLimits, BodiesThatAreNotJson) {
  const RunningServer server;
  std::string objects;
  for (int i = 0; i < 10'000; ++i) objects += "{\"a\":";
  const std::string lists = R"({"prompt": "a", "x": )" + std::string(10'000, '[') + std::string(10'000, ']') + "}";
  for (const std::string& body :
       {objects, lists, std::string(R"({"prompt": "\ud800"})"), std::string("{\"prompt\": \"\xc3\x28\"}"),
        std::string("{\"prompt\": \"\xed\xa0\x80\"}"), std::string(R"({"prompt": "a", "temperature": 1e400})"),
        std::string(R"({"prompt": "a", "temperature": -1e308})"), std::string(R"({"prompt": "a", "max_tokens": -2})"),
        std::string(R"({"prompt": "a", "top_k": 18446744073709551615})"),
        std::string(R"({"prompt": "a", "top_k": -9223372036854775808})"),
        std::string(R"({"prompt": "a", "seed": 1e300})"), std::string(R"({"prompt": "a", "temperature": NaN})"),
        std::string(R"({"prompt": [1e18]})"), std::string(R"({"prompt": "a"} {})"),
        std::string("{\"prompt\": \"a\0\"}", 15)}) {
    const auto answer = server.post(kText, body);
    EXPECT_EQ(answer.status, 400) << body.substr(0, 80) << answer.text;
  }
  EXPECT_EQ(server.post(kText, kOnce).status, 200);
}

long resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::atol(line.c_str() + 6);
  }
  return 0;
}

// TERN_TEST_CONNECTIONS sets the number, to try out more.
int n_connections() {
  const char* text = std::getenv("TERN_TEST_CONNECTIONS");
  return text ? std::atoi(text) : kSanitized ? 20 : 60;
}

TEST(ApiLimits, IdleConnectionsAndClientsThatVanish) {
  const RunningServer server({.scheduler = {.n_ctx = 256, .max_replies = 16}, .max_waiting = 4096, .slots = true});
  const int n = n_connections();
  // All requests have the same text, so that the prefix cache keeps it once.
  Json body = {{"prompt", "Once"}, {"max_tokens", 100'000}, {"ignore_eos", true}, {"stream", true}, {"temperature", 0}};
  const auto round = [&] {
    std::vector<std::unique_ptr<RawClient>> idle, vanishing;
    for (int i = 0; i < n; ++i) {
      idle.push_back(std::make_unique<RawClient>(server.port()));
      vanishing.push_back(std::make_unique<RawClient>(server.port()));
      vanishing.back()->send(raw_post(kText, body.dump()));
    }
    for (int i = 0; i < std::min(n, 16); ++i) EXPECT_TRUE(vanishing[static_cast<size_t>(i)]->receive().contains("200"));
    vanishing.clear();
    for (int look = 0; look < 3000 && n_running(server) > 0; ++look) std::this_thread::sleep_for(milliseconds(10));
    EXPECT_EQ(n_running(server), 0);
    EXPECT_EQ(server.post(kText, kOnce).status, 200);  // with all idle connections open
  };
  for (int i = 0; i < (kSanitized ? 1 : 3); ++i) round();  // until all caches are filled
  const long before = resident_kib();
  for (int i = 0; i < (kSanitized ? 1 : 3); ++i) round();
  std::cout << "resident: " << before << " KiB, then " << resident_kib() << "\n";  // for runs with more connections
  const long bound = kSanitized ? std::numeric_limits<long>::max() : 32 * 1024 + 8 * n;
  EXPECT_LT(resident_kib() - before, bound);
}

}  // namespace
}  // namespace tern::server::test
