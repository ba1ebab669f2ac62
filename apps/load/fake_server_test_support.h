// For tests: a server with OpenAI's API whose replies are scripted, down to the pieces in which they are sent.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tern::load {

struct FakePiece {
  double after_ms = 0;
  std::string bytes;  // sent as one HTTP chunk
};

struct FakeReply {
  int status = 200;
  std::string content_type = "text/event-stream";
  double before_ms = 0;  // delay before the headers are sent
  std::vector<FakePiece> pieces = {};
  bool is_cut = false;  // close the connection before the answer's end
};

// A chat chunk with this text, as "data: JSON\n\n".
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
  bool expects_leave = false;  // has the header "Expect": the client sends the body once the server allows it
};

class FakeServer {
 public:
  // GET /v1/models lists "fake-1". All other requests are answered by `answer`, which several threads call at once.
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
