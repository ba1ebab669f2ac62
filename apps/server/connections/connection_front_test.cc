// A server with nothing but its connections.
#include "server/connections/connection_front.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <latch>
#include <thread>

#include "server/http_listener.h"
#include "server/http_server.h"
#include "server/raw_client_test_support.h"

namespace tern::server::test {
namespace {

using std::chrono::milliseconds;

// Answers POST /echo with the body, and GET /held once `release` was called.
class EchoServer {
 public:
  explicit EchoServer(FrontOptions options = {}) {
    options.refusal = [this](const Peer&, int status, const std::string& why) {
      last_refusal = status;
      return FrontOptions::Refusal{"text/plain", why};
    };
    server_.emplace(HttpServer::open({}, std::move(options)).value());
    server_->routes().Post("/echo", [](const httplib::Request& request, httplib::Response& response) {
      response.set_content(request.body, "text/plain");
    });
    server_->routes().Get("/held", [this](const httplib::Request&, httplib::Response& response) {
      released_.wait();
      response.set_content("held", "text/plain");
    });
    url_ = listen_at(*server_, {.port = 0}).value();
    thread_ = std::jthread([this](const std::stop_token& stop) { (void)serve_until(*server_, url_, stop, [] {}); });
  }
  ~EchoServer() { release(); }

  int port() const { return port_of(url_); }
  void release() {
    if (!released_.try_wait()) released_.count_down();
  }
  std::atomic<int> last_refusal = 0;

 private:
  std::optional<HttpServer> server_;
  std::string url_;
  std::latch released_{1};
  std::jthread thread_;  // the last member: it uses the others
};

std::string echo(const std::string& body, const std::string& more = "") {
  return "POST /echo HTTP/1.1\r\n" + more + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

// Receives until `text` has arrived or the server closes.
bool receives(const RawClient& client, const std::string& text) {
  std::string all;
  for (std::string piece = client.receive(); !piece.empty(); piece = client.receive()) {
    if ((all += piece).contains(text)) return true;
  }
  return false;
}

int n_threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<int>(std::distance(begin(tasks), end(tasks)));
}

// RFC 9110, 14.2: what has no ranges, or none of this unit, answers as without the header.
TEST(ConnectionFront, RangesAreOnlyForFiles) {
  const EchoServer server;
  const RawClient client(server.port());
  for (const char* range : {"items=0-1", "bytes=9999-", "bytes=x", "bytes=0-0", ""}) {
    EXPECT_TRUE(client.send(echo("whole", "rAnGe: " + std::string(range) + "\r\nRange: lines=1-\r\n")));
    EXPECT_TRUE(receives(client, "\r\n\r\nwhole")) << range;
  }
}

TEST(ConnectionFront, RequestsFollowEachOther) {
  const EchoServer server;
  const RawClient client(server.port());
  for (const std::string body : {"one", "two"}) {
    EXPECT_TRUE(client.send(echo(body)));
    EXPECT_TRUE(receives(client, "\r\n\r\n" + body));
  }
  // Sent at once; the last is in two pieces. Line ends between requests mean nothing.
  const std::string all = echo("three") + "\r\n\r\n" + echo("four") + echo("") + echo("five");
  EXPECT_TRUE(client.send(all.substr(0, all.size() - 10)));
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_TRUE(client.send(all.substr(all.size() - 10)));
  std::string answers;
  while (!answers.ends_with("five")) {
    const std::string piece = client.receive();
    ASSERT_FALSE(piece.empty()) << answers;
    answers += piece;
  }
  const size_t three = answers.find("\r\n\r\nthree"), four = answers.find("\r\n\r\nfour"), five = answers.find("five");
  EXPECT_LT(three, four);
  EXPECT_LT(four, five);
  EXPECT_TRUE(client.send(echo("six", "Connection: close\r\n")));
  EXPECT_TRUE(client.receive_all().ends_with("six"));
}

// A body's rest is no request, whatever the route did with it.
TEST(ConnectionFront, ABodyIsNotTheNextRequest) {
  const EchoServer server;
  const RawClient client(server.port());
  const std::string hidden = echo("hidden");
  EXPECT_TRUE(client.send("GET /nothing HTTP/1.1\r\nContent-Length: " + std::to_string(hidden.size()) + "\r\n\r\n" +
                          hidden + echo("next", "Connection: close\r\n")));
  const std::string answers = client.receive_all();
  EXPECT_TRUE(answers.starts_with("HTTP/1.1 404")) << answers;
  EXPECT_TRUE(answers.ends_with("next")) << answers;
  EXPECT_FALSE(answers.contains("hidden")) << answers;
}

TEST(ConnectionFront, WithoutALengthThereIsNoBody) {
  const EchoServer server;
  const RawClient client(server.port());
  EXPECT_TRUE(client.send("POST /echo HTTP/1.1\r\n\r\n" + echo("next", "Connection: close\r\n")));
  const std::string answers = client.receive_all();
  EXPECT_TRUE(answers.starts_with("HTTP/1.1 200")) << answers;
  EXPECT_TRUE(answers.ends_with("next")) << answers;
}

TEST(ConnectionFront, OnlyRequestsTakeThreads) {
  EchoServer server;
  const int before = n_threads();
  std::vector<std::unique_ptr<RawClient>> idle, slow, held;
  for (int i = 0; i < 50; ++i) {
    idle.push_back(std::make_unique<RawClient>(server.port()));
    slow.push_back(std::make_unique<RawClient>(server.port()));
    slow.back()->send(i % 2 ? "GET /held HTT" : "POST /echo HTTP/1.1\r\nContent-Length: 5\r\n\r\n1");
  }
  for (int i = 0; i < 5; ++i) {
    held.push_back(std::make_unique<RawClient>(server.port()));
    held.back()->send("GET /held HTTP/1.1\r\n\r\n");
  }
  const RawClient client(server.port());
  EXPECT_TRUE(client.send(echo("at once")));
  EXPECT_TRUE(receives(client, "at once"));
  EXPECT_LE(n_threads() - before, 5 + 1 + 2) << "those held, the last one's, and the server's own";
  server.release();
  for (const auto& one : held) EXPECT_TRUE(receives(*one, "held"));
  for (size_t i = 0; i < slow.size(); i += 2) {
    slow[i]->send("2345");
    EXPECT_TRUE(receives(*slow[i], "12345"));
  }
}

TEST(ConnectionFront, TheLongestIdleMakesRoom) {
  const EchoServer server({.most_connections = 3});
  const RawClient first(server.port());
  EXPECT_TRUE(first.send(echo("first")));
  EXPECT_TRUE(receives(first, "first"));
  std::vector<std::unique_ptr<RawClient>> begun;
  for (int i = 0; i < 2; ++i) {
    begun.push_back(std::make_unique<RawClient>(server.port()));
    begun.back()->send("POST");
  }
  std::this_thread::sleep_for(milliseconds(50));
  const RawClient next(server.port());
  EXPECT_TRUE(next.send(echo("next")));
  EXPECT_TRUE(receives(next, "next"));
  EXPECT_EQ(first.receive(), "") << "it was closed";
  next.send("POST");
  std::this_thread::sleep_for(milliseconds(50));
  const RawClient none(server.port());
  EXPECT_TRUE(none.receive_all().starts_with("HTTP/1.1 503"));
}

TEST(ConnectionFront, LongBodiesTakeTurns) {
  const EchoServer server({.scan = {.body_bytes = 100}, .most_long_bodies = 1});
  const RawClient first(server.port()), second(server.port());
  const std::string long_body(1000, 'x');
  first.send(echo(long_body + "first").substr(0, 200));
  std::this_thread::sleep_for(milliseconds(20));
  second.send(echo(long_body + "second"));
  const RawClient third(server.port());
  third.send(echo("short"));
  EXPECT_TRUE(receives(third, "short"));
  first.send(echo(long_body + "first").substr(200));
  EXPECT_TRUE(receives(first, "xfirst"));
  EXPECT_TRUE(receives(second, "xsecond"));
}

TEST(ConnectionFront, AReadBodyHoldsUpNoOther) {
  EchoServer server({.scan = {.body_bytes = 100}, .most_long_bodies = 1});
  const RawClient held(server.port()), next(server.port());
  const std::string long_body(1000, 'x');
  held.send("GET /held HTTP/1.1\r\nContent-Length: 1000\r\n\r\n" + long_body);
  std::this_thread::sleep_for(milliseconds(20));
  next.send(echo(long_body + "next"));
  EXPECT_TRUE(receives(next, "xnext"));
  server.release();
  EXPECT_TRUE(receives(held, "held"));
}

TEST(ConnectionFront, WhatIsHeldIsBounded) {
  const EchoServer server({.scan = {.head_bytes = 1000}, .most_held_bytes = 20'000});
  std::vector<std::unique_ptr<RawClient>> begun;
  for (int i = 0; i < 4; ++i) {
    begun.push_back(std::make_unique<RawClient>(server.port()));
    begun.back()->send(echo(std::string(10'000, 'x')).substr(0, 7000));
    std::this_thread::sleep_for(milliseconds(20));
  }
  EXPECT_TRUE(begun[2]->receive_all().starts_with("HTTP/1.1 503"));
  begun[0]->send(std::string(7000, 'x'));
  EXPECT_TRUE(receives(*begun[0], "xxxx"));
  const RawClient small(server.port());
  small.send(echo("small"));
  EXPECT_TRUE(receives(small, "small"));
}

TEST(ConnectionFront, WhoIsTooSlowIsTold) {
  EchoServer server(
      {.stream = {.silence = milliseconds(100), .request = milliseconds(300)}, .idle = milliseconds(200)});
  const RawClient idle(server.port()), silent(server.port()), slow(server.port());
  silent.send("GET / HT");
  slow.send("GET / HTTP/1.1\r\nX: ");
  slow.send_slowly('a', 10, milliseconds(40));
  EXPECT_TRUE(slow.receive_all().starts_with("HTTP/1.1 408"));
  EXPECT_TRUE(silent.receive_all().starts_with("HTTP/1.1 408"));
  EXPECT_EQ(idle.receive_all(), "");
  EXPECT_EQ(server.last_refusal, 408);
}

// What is left of a request that was refused must not stand before its answer, nor reset the connection.
TEST(ConnectionFront, ARefusalReachesWhoIsStillSending) {
  const EchoServer server;
  const RawClient client(server.port());
  client.send_without_room();
  EXPECT_TRUE(
      client.send("POST /echo HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n" + std::string(size_t{3} << 20, 'x')));
  EXPECT_TRUE(client.receive_all().starts_with("HTTP/1.1 501"));
}

// The front's own thread ends before the requests in progress.
TEST(ConnectionFront, WhatItsEndWaitsForCanBeCut) {
  const auto front = ConnectionFront::open({}).value();
  std::latch is_answering(1);
  front->set_answer([&](RequestStream& stream, const Connection&, bool) {
    is_answering.count_down();
    const std::string more_than_buffers(size_t{8} << 20, 'x');
    return stream.write(more_than_buffers.data(), more_than_buffers.size()) >= 0;
  });
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  front->add(ends[0], nullptr);
  const std::string request = "GET / HTTP/1.1\r\n\r\n";
  ASSERT_EQ(::send(ends[1], request.data(), request.size(), 0), std::ssize(request));
  is_answering.wait();
  const auto start = std::chrono::steady_clock::now();
  {
    const std::jthread stopping([&] { front->stop(); });
    std::this_thread::sleep_for(milliseconds(100));
    front->cut();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  ::close(ends[1]);
}

TEST(ConnectionFront, AServerEndsWithItsConnections) {
  auto server = std::make_unique<EchoServer>();
  const RawClient idle(server->port()), begun(server->port()), held(server->port());
  begun.send("POST /echo HTTP/1.1\r\nContent-Le");
  held.send("GET /held HTTP/1.1\r\n\r\n");
  std::this_thread::sleep_for(milliseconds(20));
  server.reset();
  EXPECT_EQ(idle.receive(), "");
  EXPECT_EQ(begun.receive(), "");
}

}  // namespace
}  // namespace tern::server::test
