// A server with OpenAI's API whose replies are scripted, down to the pieces in which they are sent. For tests.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tern::load {

struct FakePiece {
  double after_ms = 0;
  std::string bytes;  // sent as one chunk of HTTP
};

struct FakeReply {
  int status = 200;
  std::string content_type = "text/event-stream";
  double before_ms = 0;  // until the headers are sent
  std::vector<FakePiece> pieces = {};
  bool is_cut = false;  // the connection is closed without the end of the answer
};

// "data: JSON\n\n" of a chat's chunk with this text.
std::string chat_event(const std::string& text);

// A whole reply: `n_tokens` events with the words "w0 ", "w1 ", …, then usage and [DONE].
struct ReplyScript {
  int n_tokens = 4;
  double ttft_ms = 0, gap_ms = 0;
  bool has_usage = true;
  bool has_done = true;
  bool is_chat = true;
};
FakeReply scripted(const ReplyScript& script);

struct SeenRequest {
  std::string path, body, authorization;
  bool expects_leave = false;  // the header "Expect": the body is sent once the server allows it
};

class FakeServer {
 public:
  // GET /v1/models lists "fake-1"; `answer` gives what other requests get, from several threads at once.
  explicit FakeServer(std::function<FakeReply(const SeenRequest&)> answer);
  ~FakeServer();

  std::string url() const;  // "http://127.0.0.1:PORT"
  std::vector<SeenRequest> seen() const;
  int most_at_once() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tern::load
