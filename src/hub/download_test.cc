#include "hub/download.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>

#include "hub/hub_test_support.h"
#include "hub/net/fake_hub_test_support.h"

namespace tern::hub {
namespace {

constexpr uint64_t kChunk = 100'000;

// One file on a hub, fetched in small chunks.
class DownloadTest : public testing::Test {
 protected:
  DownloadTest() {
    hub_.files["model.gguf"].bytes = test_bytes(950'000);
    options_.retry = {.max_failures = 5, .first_delay = Milliseconds(1), .max_delay = Milliseconds(4)};
    options_.stall_timeout = std::chrono::seconds(1);
  }

  const std::string& bytes() const { return hub_.files.at("model.gguf").bytes; }
  std::string url() const { return hub_.url() + "/owner/model/resolve/" + hub_.commit + "/model.gguf"; }

  Result<DownloadStatus> fetch(uint64_t size = 950'000) {
    auto file = PartialFile::open(folder_.path("blob"), size, kChunk);
    if (!file) return std::unexpected(file.error());
    auto status = download(options_, url(), "model.gguf", *file, [](uint64_t) {});
    done_ = file->bytes_done();
    return status;
  }
  std::string fetched() const { return file_bytes(folder_.path("blob.incomplete")); }
  size_t gets() { return hub_.server().count("GET", "model.gguf"); }

  void expect_whole(const Result<DownloadStatus>& status) {
    ASSERT_TRUE(status) << status.error().message;
    EXPECT_EQ(status->status, 0);
    EXPECT_TRUE(fetched() == bytes());
  }

  TestFolder folder_;
  FakeHub hub_;
  HttpOptions options_;
  uint64_t done_ = 0;
};

// Changes the first `n` answers with the file.
std::function<void(const TestRequest&, TestReply&)> to_first(int n, std::function<void(TestReply&)> change) {
  return [count = std::make_shared<std::atomic<int>>(0), n, change = std::move(change)](const TestRequest& request,
                                                                                        TestReply& reply) {
    if (request.path.contains("/resolve/") && count->fetch_add(1) < n) change(reply);
  };
}

TEST_F(DownloadTest, NamesTheHostThatARedirectLeadsTo) {
  hub_.before = [](const TestRequest&) -> TestReply {
    return {.status = 302, .headers = {{"Location", "http://127.0.0.1:1/x"}}};
  };
  const auto status = fetch();
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("http://127.0.0.1:1 (where " + hub_.url() + " redirects to): "),
            std::string::npos)
      << status.error().message;
}

TEST_F(DownloadTest, FetchesPartsOverSeveralConnections) {
  expect_whole(fetch());
  EXPECT_EQ(gets(), 10u);
}

TEST_F(DownloadTest, GoesOnWhereConnectionsWereDropped) {
  hub_.after = to_first(6, [](TestReply& reply) { reply.cut_after = reply.body.size() / 2; });
  expect_whole(fetch());
  size_t continued = 0;
  for (const TestRequest& request : hub_.server().requests()) {
    continued += std::stoull(request.headers.at("range").substr(6)) % kChunk != 0 ? 1u : 0u;
  }
  EXPECT_EQ(continued, 6u);
}

TEST_F(DownloadTest, ContinuesWhatAnEarlierRunLeft) {
  hub_.after = [](const TestRequest& request, TestReply& reply) {
    if (!request.headers.at("range").starts_with("bytes=0-")) reply.cut_after = 0;
  };
  EXPECT_FALSE(fetch());
  EXPECT_EQ(done_, kChunk);
  hub_.after = [](const TestRequest&, TestReply&) {};
  const size_t before = gets();
  expect_whole(fetch());
  const std::vector<TestRequest> requests = hub_.server().requests();
  for (size_t i = before; i < requests.size(); ++i) EXPECT_NE(requests[i].headers.at("range"), "bytes=0-99999");
}

TEST_F(DownloadTest, TakesOneStreamFromAHostWithoutRanges) {
  hub_.knows_ranges = false;
  expect_whole(fetch());
  EXPECT_EQ(gets(), 1u);
}

TEST_F(DownloadTest, BeginsAgainWithoutRangesAfterADrop) {
  hub_.knows_ranges = false;
  hub_.after = to_first(2, [](TestReply& reply) { reply.cut_after = 430'000; });
  expect_whole(fetch());
  EXPECT_EQ(gets(), 3u);
}

TEST_F(DownloadTest, LeavesOutAHostThatForgetsRangesNowAndThen) {
  std::atomic<int> count = 0;
  hub_.after = [&](const TestRequest&, TestReply& reply) {
    if (count.fetch_add(1) % 3 == 2) reply = {.status = 200, .headers = {}, .body = bytes()};
  };
  expect_whole(fetch());
}

TEST_F(DownloadTest, ContinuesByRangesWhatBeganAsAStream) {
  hub_.after = to_first(1, [&](TestReply& reply) { reply = {.headers = {}, .body = bytes(), .cut_after = 430'000}; });
  expect_whole(fetch());
}

TEST_F(DownloadTest, FetchesAgainWhatAStreamMadeItForget) {
  hub_.after = [](const TestRequest& request, TestReply& reply) {
    if (!request.headers.at("range").starts_with("bytes=0-")) reply.cut_after = 0;
  };
  EXPECT_FALSE(fetch());
  ASSERT_EQ(done_, kChunk);
  hub_.after = to_first(1, [&](TestReply& reply) { reply = {.headers = {}, .body = bytes(), .cut_after = 5'000}; });
  expect_whole(fetch());
}

TEST_F(DownloadTest, GivesUpAHostWithoutRangesThatAlwaysDrops) {
  hub_.knows_ranges = false;
  hub_.after = to_first(1000, [](TestReply& reply) { reply.cut_after = 430'000; });
  const auto status = fetch();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kIo);
  EXPECT_NE(status.error().message.find("model.gguf"), std::string::npos) << status.error().message;
}

TEST_F(DownloadTest, ReadsToTheEndOfAConnectionWithoutALength) {
  hub_.knows_ranges = false;
  hub_.after = to_first(1000, [](TestReply& reply) { reply.with_length = false; });
  expect_whole(fetch());
}

TEST_F(DownloadTest, RepeatsWhatTheHostPutsOff) {
  std::atomic<int> count = 0;
  hub_.before = [&](const TestRequest&) -> TestReply {
    constexpr int kStatuses[] = {429, 500, 503, 502};
    const int i = count.fetch_add(1);
    if (i >= 4) return {.status = 0};
    return {.status = kStatuses[i], .headers = {{"Retry-After", "0"}}, .body = "not now"};
  };
  expect_whole(fetch());
}

TEST_F(DownloadTest, WaitsAsLongAsTheHostAsks) {
  hub_.before = [first = std::make_shared<std::atomic<bool>>(true)](const TestRequest&) -> TestReply {
    if (!first->exchange(false)) return {.status = 0};
    return {.status = 429, .headers = {{"Retry-After", "1"}}};
  };
  const auto start = std::chrono::steady_clock::now();
  expect_whole(fetch());
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(1000));
}

TEST_F(DownloadTest, GivesUpWhereTheHostIsOutOfOrderForGood) {
  hub_.before = [](const TestRequest&) -> TestReply { return {.status = 500}; };
  const auto status = fetch();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kIo);
  EXPECT_NE(status.error().message.find("status 500"), std::string::npos) << status.error().message;
  EXPECT_EQ(gets(), 5u);
}

TEST_F(DownloadTest, TellsARefusal) {
  hub_.before = [](const TestRequest&) -> TestReply {
    return {.status = 403, .headers = {{"X-Error-Code", "GatedRepo"}}, .body = std::string(100'000, 'x')};
  };
  const auto status = fetch();
  ASSERT_TRUE(status);
  EXPECT_EQ(status->status, 403);
  EXPECT_EQ(status->error_code, "GatedRepo");
  EXPECT_EQ(done_, 0u);
}

TEST_F(DownloadTest, RefusesAnotherSizeThanAnnounced) {
  for (const bool ranges : {true, false}) {
    hub_.knows_ranges = ranges;
    const auto status = fetch(bytes().size() - 1000);
    ASSERT_FALSE(status) << ranges;
    EXPECT_EQ(status.error().code, ErrorCode::kCorruption);
    EXPECT_NE(status.error().message.find("950000 bytes"), std::string::npos) << status.error().message;
  }
}

TEST_F(DownloadTest, RefusesAnotherPartThanAskedFor) {
  hub_.after = to_first(1000, [](TestReply& reply) { reply.headers = {{"Content-Range", "bytes 7-100006/950000"}}; });
  auto status = fetch();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kCorruption);
  hub_.after = to_first(1000, [](TestReply& reply) { reply.body += "more"; });
  status = fetch();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kCorruption);
  EXPECT_NE(status.error().message.find("more than was requested"), std::string::npos) << status.error().message;
}

TEST_F(DownloadTest, RefusesAStreamThatDoesNotEnd) {
  hub_.knows_ranges = false;
  hub_.after = to_first(1000, [](TestReply& reply) {
    reply.with_length = false;
    reply.body += reply.body;
  });
  const auto status = fetch();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kCorruption);
}

TEST_F(DownloadTest, LeavesAConnectionThatStalls) {
  hub_.after = to_first(1, [](TestReply& reply) { reply.pause_ms = 2500; });
  const auto start = std::chrono::steady_clock::now();
  expect_whole(fetch());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(2400));
}

TEST_F(DownloadTest, FollowsRedirectsAndLeavesTheTokenBehind) {
  hub_.token = options_.token = "hf_secret";
  TestServer cdn([&](const TestRequest& request) {
    TestReply reply{.body = bytes()};
    if (request.headers.contains("range")) {
      size_t first = 0, last = 0;
      std::sscanf(request.headers.at("range").c_str(), "bytes=%zu-%zu", &first, &last);
      reply = {.status = 206,
               .headers = {{"Content-Range", format_text("bytes {}-{}/{}", first, last, bytes().size())}},
               .body = bytes().substr(first, last - first + 1)};
    }
    return reply;
  });
  hub_.cdn = cdn.url("localhost");
  expect_whole(fetch());
  EXPECT_EQ(cdn.requests().size(), 10u);
  for (const TestRequest& request : hub_.server().requests()) EXPECT_TRUE(request.headers.contains("authorization"));
  for (const TestRequest& request : cdn.requests()) EXPECT_FALSE(request.headers.contains("authorization"));
}

TEST_F(DownloadTest, StopsWhenToldAndKeepsWhatCame) {
  std::stop_source source;
  options_.stop = source.get_token();
  options_.connections = 1;
  hub_.after = [&](const TestRequest& request, TestReply& reply) {
    if (request.headers.at("range").starts_with("bytes=300000-")) source.request_stop();
    reply.pause_ms = 1;
  };
  const auto status = fetch();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kInterrupted);
  EXPECT_GE(done_, 3 * kChunk);
  const uint64_t kept = done_;
  auto file = PartialFile::open(folder_.path("blob"), bytes().size(), kChunk);
  EXPECT_EQ(file->bytes_done(), kept);
}

TEST_F(DownloadTest, FailsWhereNobodyListens) {
  std::string nowhere;
  {
    const TestServer gone([](const TestRequest&) { return TestReply{}; });
    nowhere = gone.url();
  }
  const auto reply = http_get(options_, nowhere + "/x");
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::kIo);
  EXPECT_NE(reply.error().message.find(nowhere), std::string::npos) << reply.error().message;
}

TEST(ChunkSize, IsWithinItsBounds) {
  constexpr uint64_t kMb = 1 << 20;
  EXPECT_EQ(chunk_bytes_for(1), 8 * kMb);
  EXPECT_EQ(chunk_bytes_for(1280 * kMb), 20 * kMb);
  EXPECT_EQ(chunk_bytes_for(uint64_t{1} << 40), 64 * kMb);
}

}  // namespace
}  // namespace tern::hub
