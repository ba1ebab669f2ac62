#include "hub/store/partial_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "hub/hub_test_support.h"
#include "hub/net/fake_hub_test_support.h"
#include "hub/net/retry.h"
#include "hub/store/digest.h"

namespace tern::hub {
namespace {

namespace fs = std::filesystem;

class PartialFileTest : public testing::Test {
 protected:
  PartialFile open(uint64_t size = 25, uint64_t chunk_bytes = 10) const {
    auto file = PartialFile::open(folder_.path("blob"), size, chunk_bytes);
    if (!file) std::abort();
    return *std::move(file);
  }
  std::string state() const { return file_bytes(folder_.path("blob.state")); }

  TestFolder folder_;
};

TEST_F(PartialFileTest, TakesChunksInAnyOrder) {
  PartialFile file = open();
  ASSERT_EQ(file.n_chunks(), 3u);
  EXPECT_EQ(file.chunk_size(2), 5u);
  ASSERT_TRUE(file.append(2, as_bytes("uvwxy")));
  ASSERT_TRUE(file.append(0, as_bytes("abcdefghij")));
  ASSERT_TRUE(file.append(1, as_bytes("klmn")));
  EXPECT_FALSE(file.has_all(1));
  ASSERT_TRUE(file.append(1, as_bytes("opqrst")));
  EXPECT_EQ(file.bytes_done(), 25u);
  ASSERT_TRUE(file.finish(folder_.path("done")));
  EXPECT_EQ(file_bytes(folder_.path("done")), "abcdefghijklmnopqrstuvwxy");
  EXPECT_FALSE(fs::exists(folder_.path("blob.incomplete")));
  EXPECT_FALSE(fs::exists(folder_.path("blob.state")));
}

TEST_F(PartialFileTest, SurvivesTheEndOfTheProcess) {
  {
    PartialFile file = open();
    ASSERT_TRUE(file.append(1, as_bytes("klmnopqrst")));
    ASSERT_TRUE(file.append(0, as_bytes("abc")));  // too few bytes for a line of the state
  }
  {
    const PartialFile file = open();
    EXPECT_TRUE(file.resumed());
    EXPECT_TRUE(file.has_all(1));
    EXPECT_EQ(file.have(0), 0u);
    EXPECT_EQ(file.bytes_done(), 10u);
  }
  {
    PartialFile file = open();
    ASSERT_TRUE(file.append(0, as_bytes("abc")));
    ASSERT_TRUE(file.save());
  }
  EXPECT_EQ(open().have(0), 3u);
  EXPECT_EQ(open(25, 7).chunk_begin(1), 10u);  // the state determines the chunks
}

TEST_F(PartialFileTest, WritesItsStateNowAndThen) {
  const std::string piece = test_bytes(PartialFile::kLineBytes / 2 + 1);
  PartialFile file = open(8 << 20, 4 << 20);
  ASSERT_TRUE(file.append(1, as_bytes(piece)));
  EXPECT_EQ(state(), "tern-download 8388608 4194304\n");
  ASSERT_TRUE(file.append(1, as_bytes(piece)));
  EXPECT_EQ(state(), "tern-download 8388608 4194304\n1 1048578\n");
}

TEST_F(PartialFileTest, StartsAnewWhereTheStateDoesNotFit) {
  const std::string whole = "tern-download 25 10\n1 10\n0 3\n";
  const auto done_with = [&](const std::string& text, uint64_t size = 25) {
    folder_.write("blob.incomplete", std::string(25, '?'));
    folder_.write("blob.state", text);
    return open(size).bytes_done();
  };
  EXPECT_EQ(done_with(whole), 13u);
  EXPECT_EQ(done_with(whole + "2 "), 13u);                      // incomplete line
  EXPECT_EQ(done_with("tern-download 25 10\n0 3\n0 7\n"), 7u);  // the last one counts
  EXPECT_EQ(done_with(whole, 26), 0u);                          // another size
  EXPECT_EQ(done_with(whole + "2 6\n"), 0u);                    // more than the chunk has
  EXPECT_EQ(done_with(whole + "3 1\n"), 0u);                    // no such chunk
  EXPECT_EQ(done_with("tern-download 25 0\n"), 0u);
  EXPECT_EQ(done_with("tern-download 25\n"), 0u);
  EXPECT_EQ(done_with(""), 0u);
  EXPECT_EQ(done_with("tern-download 25 10\n18446744073709551616 1\n"), 0u);
  fs::remove(folder_.path("blob.incomplete"));
  folder_.write("blob.state", whole);
  EXPECT_EQ(open().bytes_done(), 0u);  // a state without data
}

TEST_F(PartialFileTest, NamesTheReasonWhereItCannotWrite) {
  const auto file = PartialFile::open(folder_.path("none/blob"), 25, 10);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kIo);
  EXPECT_NE(file.error().message.find("No such file"), std::string::npos) << file.error().message;
}

TEST(Digest, IsThatOfSha256sumAndGit) {
  const TestFolder folder;
  const std::string path = folder.write("x", "hello\n");
  const auto go_on = [](uint64_t) { return true; };
  // sha256sum; git hash-object
  EXPECT_EQ(digest_like(std::string(64, '0'), path, go_on).value(),
            "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03");
  EXPECT_EQ(digest_like(std::string(40, '0'), path, go_on).value(), "ce013625030ba8dba906f756967f9e9ca394464a");
  const auto stopped = digest_like(std::string(64, '0'), path, [](uint64_t) { return false; });
  EXPECT_EQ(stopped.error().code, ErrorCode::kInterrupted);
}

TEST(Retry, WaitsLongerEachTimeAndAsLongAsAsked) {
  const RetryPolicy policy;
  EXPECT_EQ(delay_after(policy, 1, {}), Milliseconds(250));
  EXPECT_EQ(delay_after(policy, 3, {}), Milliseconds(1000));
  EXPECT_EQ(delay_after(policy, 7, {}), Milliseconds(16'000));
  EXPECT_EQ(delay_after(policy, 8, {}), std::nullopt);
  EXPECT_EQ(delay_after(policy, 1, Milliseconds(30'000)), Milliseconds(30'000));
  EXPECT_EQ(delay_after(policy, 1, Milliseconds(0)), Milliseconds(250));
  EXPECT_EQ(delay_after(policy, 1, Milliseconds(3'600'000)), std::nullopt);
  EXPECT_EQ(parse_retry_after("30"), Milliseconds(30'000));
  EXPECT_EQ(parse_retry_after("99999999999999999999"), std::chrono::seconds(1'000'000'000));
  EXPECT_EQ(parse_retry_after("Fri, 31 Dec 1999 23:59:59 GMT"), Milliseconds(0));
  EXPECT_GT(parse_retry_after("Wed, 21 Oct 2099 07:28:00 GMT"), std::chrono::hours(24));
  for (const char* bad : {"", "-1", "-99999999999999999999", "soon"}) {
    EXPECT_EQ(parse_retry_after(bad), std::nullopt) << bad;
  }
  for (const long status : {408, 429, 500, 502, 503, 504}) EXPECT_TRUE(is_passing_status(status)) << status;
  for (const long status : {200, 206, 301, 400, 401, 403, 404, 416, 501})
    EXPECT_FALSE(is_passing_status(status)) << status;
}

}  // namespace
}  // namespace tern::hub
