#include "load/fake_server_test_support.h"

#include <httplib.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

namespace tern::load {
namespace {

constexpr size_t kFakeThreads = 300;  // more than the requests that run at a time

void sleep_ms(double ms) { std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms)); }

std::string event(const nlohmann::json& json) { return "data: " + json.dump() + "\n\n"; }

nlohmann::json choices(nlohmann::json choice) {
  nlohmann::json json;
  json["choices"] = nlohmann::json::array();
  json["choices"].push_back(std::move(choice));
  return json;
}

}  // namespace

std::string chat_event(const std::string& text) {
  return event(choices({{"index", 0}, {"delta", {{"content", text}}}}));
}

FakeReply scripted(const ReplyScript& script) {
  FakeReply reply;
  if (script.is_chat) {  // servers begin with an event without text
    reply.pieces.push_back({.bytes = event(choices({{"delta", {{"role", "assistant"}, {"content", nullptr}}}}))});
  }
  for (int i = 0; i < script.n_tokens; ++i) {
    const std::string word = "w" + std::to_string(i) + " ";
    reply.pieces.push_back({.after_ms = i == 0 ? script.ttft_ms : script.gap_ms,
                            .bytes = script.is_chat ? chat_event(word) : event(choices({{"text", word}}))});
  }
  nlohmann::json end = choices({{"finish_reason", "length"}});
  end["choices"][0][script.is_chat ? "delta" : "text"] = script.is_chat ? nlohmann::json::object() : nlohmann::json("");
  reply.pieces.push_back({.bytes = event(end)});
  if (script.has_usage) {
    nlohmann::json usage;
    usage["choices"] = nlohmann::json::array();
    usage["usage"] = {{"completion_tokens", script.n_tokens}, {"prompt_tokens", 7}};
    reply.pieces.push_back({.bytes = event(usage)});
  }
  if (script.has_done) reply.pieces.push_back({.bytes = "data: [DONE]\n\n"});
  return reply;
}

struct FakeServer::Impl {
  httplib::Server http;
  std::function<FakeReply(const SeenRequest&)> answer;
  int port = 0;
  mutable std::mutex mutex;
  std::vector<SeenRequest> seen;
  int running = 0;
  int most = 0;
  std::thread listener;

  void post(const httplib::Request& request, httplib::Response& response) {
    SeenRequest about = {.path = request.path,
                         .body = request.body,
                         .authorization = request.get_header_value("Authorization"),
                         .expects_leave = request.has_header("Expect")};
    {
      const std::scoped_lock lock(mutex);
      seen.push_back(about);
      most = std::max(most, ++running);
    }
    const auto reply = std::make_shared<FakeReply>(answer(about));
    // The client can send its next request before this server has cleaned up, so a request counts as over before its
    // end is sent.
    const auto once = std::make_shared<std::once_flag>();
    const auto is_over = [this, once] {
      std::call_once(*once, [this] {
        const std::scoped_lock lock(mutex);
        --running;
      });
    };
    sleep_ms(reply->before_ms);
    response.status = reply->status;
    response.set_chunked_content_provider(
        reply->content_type,
        [reply, is_over](size_t, httplib::DataSink& sink) {
          for (const FakePiece& piece : reply->pieces) {
            sleep_ms(piece.after_ms);
            if (&piece == &reply->pieces.back()) is_over();
            if (!sink.write(piece.bytes.data(), piece.bytes.size())) return false;
          }
          if (reply->is_cut) return false;
          sink.done();
          return true;
        },
        [is_over](bool) { is_over(); });
  }
};

FakeServer::FakeServer(std::function<FakeReply(const SeenRequest&)> answer) : impl_(std::make_unique<Impl>()) {
  impl_->answer = std::move(answer);
  httplib::Server& http = impl_->http;
  http.new_task_queue = [] { return new httplib::ThreadPool(kFakeThreads); };
  http.set_tcp_nodelay(true);
  http.Get("/v1/models", [](const httplib::Request&, httplib::Response& response) {
    response.set_content(R"({"object": "list", "data": [{"id": "fake-1"}, {"id": "fake-2"}]})", "application/json");
  });
  http.Post(".*",
            [this](const httplib::Request& request, httplib::Response& response) { impl_->post(request, response); });
  socket_t listening = -1;
  http.set_socket_options([&](socket_t socket) { listening = socket; });
  impl_->port = http.bind_to_any_port("127.0.0.1");
  ::listen(listening, kFakeThreads);  // by default, the library queues only five clients and the others fail
  impl_->listener = std::thread([this] { impl_->http.listen_after_bind(); });
  http.wait_until_ready();
}

FakeServer::~FakeServer() {
  impl_->http.stop();
  impl_->listener.join();
}

std::string FakeServer::url() const { return "http://127.0.0.1:" + std::to_string(impl_->port); }

std::vector<SeenRequest> FakeServer::seen() const {
  const std::scoped_lock lock(impl_->mutex);
  return impl_->seen;
}

int FakeServer::most_at_once() const {
  const std::scoped_lock lock(impl_->mutex);
  return impl_->most;
}

}  // namespace tern::load
