#include "server/connections/request_scan.h"

#include <gtest/gtest.h>

#include <string>

namespace tern::server {
namespace {

using State = RequestScan::State;
constexpr ScanLimits kLimits = {.head_bytes = size_t{64} << 10, .body_bytes = 1000};

struct Seen {
  State state;
  std::optional<uint64_t> n_bytes;
  int status;
  bool operator==(const Seen&) const = default;
};

Seen seen(const RequestScan& scan, State state) { return {state, scan.n_bytes(), scan.status()}; }

Seen at_once(const std::string& text) {
  RequestScan scan;
  const State state = scan.look(text, kLimits);
  return seen(scan, state);
}

// Each byte arrives alone, until something is known.
Seen slowly(const std::string& text) {
  RequestScan scan;
  State state = State::kPartial;
  for (size_t n = 1; n <= text.size() && state == State::kPartial; ++n) state = scan.look(text.substr(0, n), kLimits);
  return seen(scan, state);
}

Seen whole(size_t n) { return {State::kWhole, n, 0}; }
State state_of(const std::string& text) {
  EXPECT_EQ(at_once(text).state, slowly(text).state) << text.substr(0, 200);
  return at_once(text).state;
}
int status_of(const std::string& text) {
  EXPECT_EQ(at_once(text).status, slowly(text).status) << text.substr(0, 200);
  return at_once(text).status;
}

const std::string kPost = "POST / HTTP/1.1\r\n";

TEST(RequestScan, TheEndOfARequest) {
  const std::string next = "GET /next HTTP/1.1\r\n\r\n";
  for (const std::string& text :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string("nonsense\r\n\r\n"), kPost + "\r\n",
        kPost + "Content-Length: 0\r\n\r\n", kPost + "A: b\r\ncontent-LENGTH:5  \r\n\r\n12345",
        kPost + "Content-Length: 5\r\nContent-Length: 5\r\n\r\n12345",
        kPost + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        kPost + "Transfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n0A;x=\"y\"\r\n0123456789\r\n0\r\nT: t\r\n\r\n",
        kPost + "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n2\r\n\r\n\r\n0\r\n\r\n",
        kPost + "Expect: 100-continue\r\nContent-Length: 0\r\n\r\n"}) {
    EXPECT_EQ(at_once(text), whole(text.size())) << text;
    EXPECT_EQ(at_once(text + next), whole(text.size())) << text;
    EXPECT_EQ(slowly(text + next), whole(text.size())) << text;
    for (size_t n = 0; n < text.size(); ++n) {
      EXPECT_EQ(at_once(text.substr(0, n)).state, State::kPartial) << text.substr(0, n);
    }
  }
}

TEST(RequestScan, BodiesThatAreNotWaitedFor) {
  for (const std::string& text :
       {kPost + "Content-Length: 1001\r\n\r\n", kPost + "Content-Length: 5\r\nExpect: 100-continue\r\n\r\n",
        kPost + "Transfer-Encoding: chunked\r\n\r\n400\r\n",
        kPost + "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"}) {
    EXPECT_EQ(state_of(text), State::kLong) << text;
  }
  EXPECT_EQ(at_once(kPost + "Content-Length: 1001\r\n\r\n").n_bytes, kPost.size() + 24 + 1001);
  std::string many = kPost + "Transfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 300; ++i) many += "1\r\na\r\n";
  EXPECT_EQ(state_of(many), State::kLong);
  EXPECT_EQ(at_once(many).n_bytes, std::nullopt);
}

// If the library took a body's end from elsewhere, the rest of the body could be another request.
TEST(RequestScan, HeadsWhoseBodyHasNoClearEnd) {
  for (const std::string head :
       {"Content-Length: 5\r\nContent-Length: 6", "Content-Length: +5", "Content-Length: 5, 5", "Content-Length: 0x5",
        "Content-Length: -1", "Content-Length:", "Content-Length : 5", "Content-Length", " Content-Length: 5", "\tx: y",
        "Content-Length: 99999999999999999999", "Transfer-Encoding : chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 5"}) {
    EXPECT_EQ(status_of(kPost + head + "\r\n\r\n12345"), 400) << head;
  }
  for (const std::string coding : {"gzip", "gzip, chunked", "chunked, chunked", "xchunked", "identity"}) {
    EXPECT_EQ(status_of(kPost + "Transfer-Encoding: " + coding + "\r\n\r\n"), 501) << coding;
  }
  for (const std::string chunks : {"x\r\n", "\r\n", "5\r\n123456\r\n", "-1\r\n", "1 2\r\n", "fffffffffffffffff\r\n"}) {
    EXPECT_EQ(status_of(kPost + "Transfer-Encoding: chunked\r\n\r\n" + chunks + "0\r\n\r\n"), 400) << chunks;
  }
}

TEST(RequestScan, HeadsThatAreTooLarge) {
  const auto lines = [](int n, size_t bytes) {
    std::string text = "GET / HTTP/1.1\r\n";
    for (int i = 0; i < n; ++i) text += "X: " + std::string(bytes, 'a') + "\r\n";
    return text + "\r\n";
  };
  EXPECT_EQ(state_of(lines(100, 10)), State::kWhole);
  EXPECT_EQ(status_of(lines(101, 10)), 431);
  EXPECT_EQ(state_of(lines(1, 8000)), State::kWhole);
  EXPECT_EQ(status_of(lines(1, 9000)), 431);
  EXPECT_EQ(status_of(lines(9, 8000)), 431);
  EXPECT_EQ(status_of("GET /" + std::string(100'000, 'a')), 414);
  EXPECT_EQ(status_of(std::string(100'000, '\n')), 414);
}

}  // namespace
}  // namespace tern::server
