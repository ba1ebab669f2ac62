#include "hub/preview.h"

#include <gtest/gtest.h>

#include "hub/net/fake_hub_test_support.h"

namespace tern::hub {
namespace {

class PreviewTest : public testing::Test {
 protected:
  PreviewTest() {
    ::setenv("no_proxy", "*", 1);
    hub_.files["x.gguf"].bytes = test_bytes(5'000'000);
  }
  Beginning beginning(uint64_t size) {
    return Beginning(http_, hub_.url() + "/owner/model/resolve/" + hub_.commit + "/x.gguf", size);
  }
  static std::string read(Beginning& from, size_t n, ErrorCode* code = nullptr) {
    std::string bytes(n, '\0');
    const Result<void> got = from.read(std::as_writable_bytes(std::span(bytes)));
    if (!got && code) *code = got.error().code;
    return got ? bytes : "error";
  }
  std::vector<std::string> ranges() {
    std::vector<std::string> all;
    for (const TestRequest& request : hub_.server().requests()) all.push_back(request.headers.at("range"));
    return all;
  }

  FakeHub hub_;
  HttpOptions http_;
};

TEST_F(PreviewTest, FetchesAheadAndNothingTwice) {
  Beginning file = beginning(5'000'000);
  EXPECT_TRUE(read(file, 10) == test_bytes(10));
  EXPECT_TRUE(read(file, 1'000'000) == test_bytes(1'000'000));
  EXPECT_TRUE(read(file, 1'048'577) == test_bytes(1'048'577));
  EXPECT_TRUE(read(file, 5'000'000) == test_bytes(5'000'000));
  EXPECT_EQ(ranges(), (std::vector<std::string>{"bytes=0-1048575", "bytes=1048576-2097151", "bytes=2097152-4999999"}));
  EXPECT_FALSE(file.failed());
}

TEST_F(PreviewTest, ASmallFileIsOneRequest) {
  hub_.files["x.gguf"].bytes = test_bytes(300);
  Beginning file = beginning(300);
  EXPECT_TRUE(read(file, 300) == test_bytes(300));
  EXPECT_EQ(ranges(), std::vector<std::string>{"bytes=0-299"});
}

TEST_F(PreviewTest, SaysWhatTheHostDoesNotDo) {
  ErrorCode code = ErrorCode::kOutOfMemory;
  hub_.knows_ranges = false;
  Beginning whole = beginning(5'000'000);
  EXPECT_EQ(read(whole, 10, &code), "error");
  EXPECT_EQ(code, ErrorCode::kNotSupported);
  EXPECT_TRUE(whole.failed());

  hub_.knows_ranges = true;
  hub_.after = [](const TestRequest&, TestReply& reply) { reply.body.resize(reply.body.size() / 2); };
  Beginning half = beginning(5'000'000);
  EXPECT_EQ(read(half, 10, &code), "error");
  EXPECT_EQ(code, ErrorCode::kNotSupported);

  hub_.after = [](const TestRequest&, TestReply& reply) { reply = {.status = 403}; };
  Beginning closed = beginning(5'000'000);
  EXPECT_EQ(read(closed, 10, &code), "error");
  EXPECT_EQ(code, ErrorCode::kNotSupported);

  Beginning nowhere(http_, "http://127.0.0.1:1/x", 5'000'000);
  EXPECT_EQ(read(nowhere, 10, &code), "error");
  EXPECT_EQ(code, ErrorCode::kIo);
}

TEST_F(PreviewTest, StopsWhereItIsToldAndWhereAHeaderHasNoEnd) {
  ErrorCode code = ErrorCode::kOutOfMemory;
  Beginning endless = beginning(uint64_t{1} << 40);
  std::string bytes((64u << 20) + 1, '\0');
  const Result<void> got = endless.read(std::as_writable_bytes(std::span(bytes)));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, ErrorCode::kNotSupported);

  std::stop_source stop;
  stop.request_stop();
  http_.stop = stop.get_token();
  Beginning stopped = beginning(5'000'000);
  EXPECT_EQ(read(stopped, 10, &code), "error");
  EXPECT_EQ(code, ErrorCode::kInterrupted);
}

}  // namespace
}  // namespace tern::hub
