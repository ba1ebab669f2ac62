// For tests: a server with the default model, without its chat template, and helpers.
#pragma once

#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "server/api/api_error.h"
#include "server/api/routes/api_server.h"
#include "support/checkout.h"
#include "support/plain_model.h"

namespace tern::server::test {

// A template that makes roles and their ends visible.
inline constexpr const char* kTemplate =
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}\n{% endfor %}{% if add_generation_prompt %}<assistant>{% "
    "endif %}";

// A template that lists tools, and writes calls and their results as Hermes models do.
inline constexpr const char* kToolTemplate =
    "{% if tools %}<tools>{% for t in tools %}{{ t | tojson }}\n{% endfor %}</tools>\n"
    "<tool_call>\n{\"name\": name, \"arguments\": arguments}\n</tool_call>\n{% endif %}"
    "{% for m in messages %}<{{ m.role }}>{{ m.content or '' }}"
    "{% if m.tool_calls %}{% for c in m.tool_calls %}<tool_call>\n"
    "{\"name\": {{ c.function.name | tojson }}, \"arguments\": {{ c.function.arguments | tojson }}}\n</tool_call>"
    "{% endfor %}{% endif %}\n{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}";

inline Engine load_stories() {
  return Engine::load({.model_path = tern::test::plain_model(), .backend = BackendKind::kCpu, .n_threads = 2}).value();
}

inline const Engine& stories() {
  static const Engine engine = load_stories();
  return engine;
}

// A template whose marker for calls is text that the stories model writes anyway after "Once upon a time".
inline constexpr const char* kStoryTemplate =
    "{% for t in tools or [] %}{{ t.function.name[:0] if t.function.name != 'tern_tool' else 'tern_tool' }}{% endfor %}"
    "{{ bos_token }}{% for m in messages %}{{ m.content or '' }}{% for c in m.tool_calls or [] %}there was"
    "{\"name\": {{ c.function.name | tojson }}, \"arguments\": {{ c.function.arguments | tojson }}}"
    "{% endfor %}{% endfor %}";

inline const Engine& storyteller() {
  static const Engine engine = Engine::load({.model_path = source_path("models/tern-stories.gguf"),
                                             .backend = BackendKind::kCpu,
                                             .chat_template = kStoryTemplate})
                                   .value();
  return engine;
}

inline const std::string kChat = "/v1/chat/completions", kText = "/v1/completions";

inline Json chat(const std::string& text, int max_tokens = 16) {
  return {{"messages", {{{"role", "user"}, {"content", text}}}}, {"max_tokens", max_tokens}, {"temperature", 0}};
}

inline Json completion(const std::string& prompt, int max_tokens = 16) {
  return {{"prompt", prompt}, {"max_tokens", max_tokens}, {"temperature", 0}};
}

inline const std::string kBoundary = "the-boundary";

// A part of a multipart form.
struct Part {
  std::string name, content, filename = {};
};

inline std::string form(const std::vector<Part>& parts) {
  std::string text;
  for (const Part& part : parts) {
    text += "--" + kBoundary + "\r\nContent-Disposition: form-data; name=\"" + part.name + "\"";
    if (!part.filename.empty()) text += "; filename=\"" + part.filename + "\"";
    text += "\r\n\r\n" + part.content + "\r\n";
  }
  return text + "--" + kBoundary + "--\r\n";
}

class RunningServer {
 public:
  explicit RunningServer(ApiOptions options = {}, const Engine& engine = stories()) {
    options.address.port = 0;
    if (options.names.empty()) options.names = {"stories", "Tern Stories"};
    start(ApiServer::open(engine, std::move(options)).value());
  }
  RunningServer(ApiOptions options, std::vector<ModelEntry> models) {
    options.address.port = 0;
    start(ApiServer::open(std::move(models), std::move(options)).value());
  }
  ~RunningServer() { stop(); }

  void stop() {
    thread_.request_stop();
    if (!thread_.joinable()) return;
    thread_.join();
    EXPECT_TRUE(served_);
  }
  const std::string& url() const { return server_->url(); }
  void request_stop() { thread_.request_stop(); }
  int port() const { return std::stoi(server_->url().substr(server_->url().rfind(':') + 1)); }

  std::unique_ptr<httplib::Client> client() const {
    auto client = std::make_unique<httplib::Client>("127.0.0.1", port());
    // In microseconds: with whole seconds, the library looks up addresses on threads, in which ThreadSanitizer crashes.
    client->set_connection_timeout(0, 60'000'000);
    client->set_read_timeout(60);
    return client;
  }

  struct Answer {
    int status = 0;
    Json json = {};
    std::string text = {};
    httplib::Headers headers = {};
  };
  Answer get(const std::string& path) const { return answer_of(client()->Get(path)); }
  Answer post(const std::string& path, const std::string& body) const {
    return answer_of(client()->Post(path, body, "application/json"));
  }
  Answer post(const std::string& path, const Json& body) const { return post(path, body.dump()); }

  Answer post_form(const std::string& path, const std::string& body) const {
    return answer_of(client()->Post(path, body, "multipart/form-data; boundary=" + kBoundary));
  }

  // The events of a stream, without the final "[DONE]".
  std::vector<Json> stream(const std::string& path, Json body) const {
    body["stream"] = true;
    const Answer answer = post(path, body);
    EXPECT_EQ(answer.status, 200) << answer.text;
    std::vector<Json> events;
    std::string_view rest = answer.text;
    EXPECT_TRUE(rest.ends_with("data: [DONE]\n\n"));
    rest.remove_suffix(std::min<size_t>(rest.size(), 14));
    while (!rest.empty()) {
      const size_t end = rest.find("\n\n");
      const std::string_view event = rest.substr(0, end);
      if (event.starts_with("data: ")) events.push_back(Json::parse(event.substr(6)));
      rest.remove_prefix(end + 2);
    }
    return events;
  }

 private:
  void start(ApiServer server) {
    server_ = std::make_unique<ApiServer>(std::move(server));
    thread_ = std::jthread([this](const std::stop_token& stop) { served_ = server_->serve(stop).has_value(); });
  }

  static Answer answer_of(const httplib::Result& result) {
    if (!result) return {.text = httplib::to_string(result.error())};
    return {.status = result->status,
            .json = Json::parse(result->body, nullptr, /*allow_exceptions=*/false),
            .text = result->body,
            .headers = result->headers};
  }

  std::unique_ptr<ApiServer> server_;
  std::atomic<bool> served_ = false;
  std::jthread thread_;
};

// A wrong request, the expected status, and the field and words of its error.
struct Refusal {
  std::string path, body;
  int status;
  std::string param, words;
};

// Waits up to `most` for `is_so` to return true; returns whether it did.
inline bool soon(const std::function<bool()>& is_so, std::chrono::seconds most = std::chrono::seconds(5)) {
  const auto end = std::chrono::steady_clock::now() + most;
  while (std::chrono::steady_clock::now() < end) {
    if (is_so()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

inline int n_running(const RunningServer& server) {
  int n = 0;
  for (const Json& slot : server.get("/slots").json) n += slot["is_processing"] ? 1 : 0;
  return n;
}

// The reply of an idle engine. It is a second engine, because a server's engine belongs to the server's thread.
inline GenerateResult alone(const std::string& prompt, const GenerateOptions& options) {
  static const Engine engine = load_stories();
  Session session = engine.new_session().value();
  return session.generate(stories().tokenizer().encode(prompt), options).value();
}

}  // namespace tern::server::test
