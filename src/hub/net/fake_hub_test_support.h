// A hub for tests: a local HTTP server that speaks the part of Hugging Face's protocol that Tern uses, and misbehaves
// if a test wants it to.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tern::hub {

struct TestRequest {
  std::string method;
  std::string path;                            // with the query
  std::map<std::string, std::string> headers;  // names in lower case
};

struct TestReply {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
  size_t cut_after = SIZE_MAX;  // bytes of the body after which the connection is dropped
  int pause_ms = 0;             // before each 64 KiB of the body
  bool with_length = true;      // false: no Content-Length; the end of the connection ends the body
};

// Answers with what `handler` returns; each connection has its own thread.
class TestServer {
 public:
  using Handler = std::function<TestReply(const TestRequest&)>;
  explicit TestServer(Handler handler);
  ~TestServer();
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  // "http://127.0.0.1:PORT", or with another name of the same machine.
  std::string url(const std::string& host = "127.0.0.1") const;
  std::vector<TestRequest> requests() const;
  size_t count(const std::string& method, const std::string& part_of_path) const;

 private:
  void accept_connections();
  void serve(int connection);
  bool answer(int connection, const TestRequest& request, const TestReply& reply);

  Handler handler_;
  int listener_ = -1;
  uint16_t port_ = 0;
  std::atomic<bool> closing_ = false;
  mutable std::mutex mutex_;  // guards what follows
  std::vector<TestRequest> requests_;
  std::vector<int> connections_;
  std::vector<std::thread> workers_;
  std::thread acceptor_;
};

// The hub may announce another digest or size than it sends.
struct FakeFile {
  std::string bytes;
  bool is_large = true;               // in large file storage: identified by its SHA-256
  std::string announced_digest = {};  // empty: the right one
  int64_t announced_size = -1;        // −1: the right one
};

class FakeHub {
 public:
  FakeHub();

  std::string url() const { return server_.url(); }
  TestServer& server() { return server_; }

  // Change these only before the first request, or from `before`.
  std::string repo = "owner/model";
  std::string commit = "0123456789abcdef0123456789abcdef01234567";
  std::map<std::string, FakeFile> files;
  bool knows_ranges = true;
  bool tells_blobs = true;  // false: the listing has only names; the headers of HEAD have the rest
  std::string cdn = {};     // files are redirected to this host
  std::string token = {};   // required for all requests
  // Sees each request first, and may answer it (status 0: the hub answers).
  std::function<TestReply(const TestRequest&)> before = [](const TestRequest&) { return TestReply{.status = 0}; };
  // May change the hub's answer before it is sent.
  std::function<void(const TestRequest&, TestReply&)> after = [](const TestRequest&, TestReply&) {};

  std::string digest(const std::string& path) const;  // as announced

 private:
  TestReply reply(const TestRequest& request);
  TestReply listing() const;
  TestReply file(const TestRequest& request, const std::string& path) const;

  TestServer server_;  // last: it uses all of the above
};

// Bytes that differ by position, so that a misplaced part is noticed.
std::string test_bytes(size_t n, uint32_t seed = 1);

}  // namespace tern::hub
