// Tools of a scripted server that is reached over HTTP.
#include "mcp/http_transport.h"

#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "mcp/tool_set.h"

namespace tern::mcp {
namespace {

using Json = nlohmann::json;
using std::chrono::seconds;

constexpr const char* kSession = "session-1";

std::string event(const Json& json) { return ": comment\nevent: message\nid: 1\ndata: " + json.dump() + "\n\n"; }

// Answers as a server of the protocol's newest revision with sessions. What is called decides how.
class FakeHttpServer {
 public:
  FakeHttpServer() {
    server_.Post("/mcp",
                 [this](const httplib::Request& request, httplib::Response& response) { take(request, response); });
    server_.Delete("/mcp", [this](const httplib::Request& request, httplib::Response&) {
      const std::lock_guard lock(mutex_);
      deleted_ = request.get_header_value("Mcp-Session-Id");
    });
    server_.Get("/mcp", [this](const httplib::Request& request, httplib::Response& response) {
      if (request.get_header_value("Mcp-Session-Id") != kSession) return;
      response.set_chunked_content_provider("text/event-stream", [this](size_t, httplib::DataSink& sink) {
        wait([&] { return has_changed_.load(); });
        const std::string news = event({{"jsonrpc", "2.0"}, {"method", "notifications/tools/list_changed"}});
        sink.write(news.data(), news.size());
        wait([] { return false; });
        sink.done();
        return true;
      });
    });
    server_.Post("/stateless", [this](const httplib::Request& request, httplib::Response& response) {
      take_stateless(request, response);
    });
    server_.Post("/moved",
                 [](const httplib::Request&, httplib::Response& response) { response.set_redirect("/mcp", 307); });
    server_.Post("/page", [](const httplib::Request&, httplib::Response& response) {
      response.set_content("<html>hello</html>", "text/html");
    });
    server_.Post("/closed", [](const httplib::Request&, httplib::Response& response) { response.status = 401; });
    server_.Post("/large", [](const httplib::Request&, httplib::Response& response) {
      response.set_content(std::string(size_t{17} << 20, ' '), "application/json");
    });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    server_.wait_until_ready();
  }
  ~FakeHttpServer() {
    tell_all();
    server_.stop();
    thread_.join();
  }

  ServerConfig config(const std::string& path = "/mcp") const {
    return {.name = "web",
            .url = "http://127.0.0.1:" + std::to_string(port_) + path,
            .headers = {{"X-Key", "secret"}, {"X-Empty", ""}},
            .start_timeout = seconds(10),
            .call_timeout = seconds(10)};
  }

  template <class Get>
  auto locked(Get get) const {
    const std::lock_guard lock(mutex_);
    return get();
  }

  std::string deleted() const {
    return locked([&] { return deleted_; });
  }
  int n_cancelled() const {
    return locked([&] { return n_cancelled_; });
  }
  int n_sessions() const {
    return locked([&] { return n_sessions_; });
  }
  Json answers() const {
    return locked([&] { return answers_; });
  }
  std::string faults() const {
    return locked([&] { return faults_; });
  }
  void change_tools() {
    const std::lock_guard lock(mutex_);
    has_changed_ = true;
    changed_.notify_all();
  }
  void forget_session() {
    const std::lock_guard lock(mutex_);
    session_.clear();
  }

 private:
  void tell_all() {
    const std::lock_guard lock(mutex_);
    over_ = true;
    changed_.notify_all();
  }

  // As a server of revision 2026-07-28, which compares headers and body.
  void take_stateless(const httplib::Request& request, httplib::Response& response) {
    const Json message = Json::parse(request.body);
    const std::string method = message.value("method", "");
    const Json params = message["params"];
    const auto has = [&](const char* name, const std::string& value) {
      return request.get_header_value(name) == value;
    };
    bool is_right =
        has("MCP-Protocol-Version", "2026-07-28") && has("Mcp-Method", method) && !request.has_header("Mcp-Session-Id");
    if (method == "tools/call") {
      is_right = is_right && has("Mcp-Name", params["name"]) &&
                 has("Mcp-Param-Region", params["arguments"].value("region", ""));
    }
    if (!is_right || params["_meta"]["io.modelcontextprotocol/protocolVersion"] != "2026-07-28") {
      response.status = 400;
      const Json error = {
          {"jsonrpc", "2.0"}, {"id", message["id"]}, {"error", {{"code", -32020}, {"message", "mismatch"}}}};
      return response.set_content(error.dump(), "application/json");
    }
    if (method == "server/discover") {
      return answer(message, response,
                    {{"supportedVersions", {"2026-07-28"}}, {"capabilities", {{"tools", Json::object()}}}});
    }
    if (method == "tools/call") return answer(message, response, text(params["arguments"].dump()));
    const Json marked = {{"type", "string"}, {"x-mcp-header", "Region"}};
    const Json wrong = {{"type", "number"}, {"x-mcp-header", "Region"}};
    answer(message, response,
           {{"tools",
             {{{"name", "near"}, {"inputSchema", {{"type", "object"}, {"properties", {{"region", marked}}}}}},
              {{"name", "wrong"}, {"inputSchema", {{"type", "object"}, {"properties", {{"region", wrong}}}}}}}}});
  }

  void check(const httplib::Request& request, bool is_first) {
    const auto expect = [&](const char* name, const std::string& value) {
      if (request.get_header_value(name) != value)
        faults_ += std::string(name) + ": " + request.get_header_value(name) + "; ";
    };
    expect("Accept", "application/json, text/event-stream");
    expect("Content-Type", "application/json");
    expect("X-Key", "secret");
    if (!request.has_header("X-Empty")) faults_ += "no X-Empty; ";
    expect("MCP-Protocol-Version", is_first ? "" : "2025-11-25");
  }

  void take(const httplib::Request& request, httplib::Response& response) {
    const Json message = Json::parse(request.body);
    const std::string method = message.value("method", "");
    {
      const std::lock_guard lock(mutex_);
      check(request, method == "initialize");
      if (method == "initialize") {
        session_ = kSession;
        ++n_sessions_;
        response.set_header("Mcp-Session-Id", session_);
      } else if (request.get_header_value("Mcp-Session-Id") != session_ || session_.empty()) {
        response.status = 404;
        return;
      }
      if (method == "notifications/cancelled") ++n_cancelled_;
      if (method.empty()) answers_.push_back(message);
      changed_.notify_all();
    }
    if (!message.contains("id") || method.empty()) {
      response.status = 202;
    } else if (method == "tools/call") {
      call(message, response);
    } else {
      answer(message, response, method == "initialize" ? greeting(message) : tools());
    }
  }

  static Json greeting(const Json& message) {
    return {{"protocolVersion", message["params"]["protocolVersion"]}, {"capabilities", {{"tools", Json::object()}}}};
  }
  Json tools() const {
    Json list = Json::array();
    for (const char* name : {"echo", "stream", "open", "cut", "slow", "fault", "drip", "late"}) {
      if (std::string(name) == "late" && !has_changed_) continue;
      list.push_back({{"name", name}, {"inputSchema", {{"type", "object"}}}});
    }
    return {{"tools", list}};
  }
  static Json reply(const Json& message, const Json& result) {
    return {{"jsonrpc", "2.0"}, {"id", message["id"]}, {"result", result}};
  }
  static Json text(const std::string& text) { return {{"content", {{{"type", "text"}, {"text", text}}}}}; }
  static void answer(const Json& message, httplib::Response& response, const Json& result) {
    response.set_content(reply(message, result).dump(), "application/json; charset=utf-8");
  }

  void call(const Json& message, httplib::Response& response) {
    const std::string name = message["params"]["name"];
    if (name == "echo") return answer(message, response, text(message["params"]["arguments"].dump()));
    if (name == "fault") {
      response.status = 400;
      const Json error = {{"jsonrpc", "2.0"}, {"id", message["id"]}, {"error", {{"code", -1}, {"message", "no way"}}}};
      return response.set_content(error.dump(), "application/json");
    }
    response.set_chunked_content_provider("text/event-stream", [this, message, name](size_t, httplib::DataSink& sink) {
      stream(message, name, sink);
      sink.done();
      return true;
    });
  }

  void stream(const Json& message, const std::string& name, httplib::DataSink& sink) {
    const auto send = [&](const std::string& bytes) { sink.write(bytes.data(), bytes.size()); };
    send(event({{"jsonrpc", "2.0"}, {"method", "notifications/progress"}, {"params", {{"progress", 1}}}}));
    if (name == "cut") return;
    if (name == "slow") return wait([&] { return n_cancelled_ > 0; });
    if (name == "stream") {
      has_changed_ = true;
      send(event({{"jsonrpc", "2.0"}, {"method", "notifications/tools/list_changed"}}));
      send(event({{"jsonrpc", "2.0"}, {"id", "q"}, {"method", "elicitation/create"}}));
      wait([&] { return !answers_.empty(); });
    }
    const std::string last = event(reply(message, text("streamed")));
    if (name == "drip") {
      for (const char byte : last) send(std::string(1, byte));
    } else {
      send(last);
    }
    if (name == "open") wait([] { return false; });
  }

  template <class Done>
  void wait(Done done) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, seconds(30), [&] { return over_ || done(); });
  }

  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::atomic<bool> has_changed_ = false;
  std::string session_, deleted_, faults_;
  Json answers_ = Json::array();
  int n_cancelled_ = 0, n_sessions_ = 0;
};

class McpHttp : public testing::Test {
 protected:
  std::unique_ptr<ToolSet> open(const ServerConfig& config) {
    auto set = ToolSet::open({config}, {});
    EXPECT_TRUE(set) << set.error().message;
    return set ? *std::move(set) : nullptr;
  }
  static std::string error_of(const ServerConfig& config) {
    const auto set = ToolSet::open({config}, {});
    return set ? "" : set.error().message;
  }

  FakeHttpServer server_;
};

TEST_F(McpHttp, AnswersAreJsonOrStreamsAndTheSessionIsEnded) {
  auto set = open(server_.config());
  ASSERT_TRUE(set);
  EXPECT_EQ(set->call("echo", R"({"a": 1})").text, R"({"a":1})");
  EXPECT_EQ(set->call("drip", "{}").text, "streamed");
  EXPECT_EQ(set->call("fault", "{}").problem, "the MCP server 'web' refused: no way");
  EXPECT_EQ(server_.deleted(), "");
  set.reset();
  EXPECT_EQ(server_.deleted(), kSession);
  EXPECT_EQ(server_.faults(), "");
}

TEST_F(McpHttp, QuestionsAndNewsInAStreamAreHeeded) {
  const auto set = open(server_.config());
  ASSERT_TRUE(set);
  EXPECT_EQ(set->call("stream", "{}").text, "streamed");
  ASSERT_EQ(server_.answers().size(), 1u);
  EXPECT_EQ(server_.answers()[0]["id"], "q");
  EXPECT_EQ(server_.answers()[0]["error"]["code"], -32601);
  EXPECT_TRUE(set->refresh());
}

TEST_F(McpHttp, WhatTheServerSaysOnItsOwnIsHeard) {
  const auto set = open(server_.config());
  ASSERT_TRUE(set);
  EXPECT_FALSE(set->refresh());
  server_.change_tools();
  bool has_changed = false;
  for (int look = 0; look < 500 && !has_changed; ++look) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    has_changed = set->refresh();
  }
  EXPECT_TRUE(has_changed);
}

TEST_F(McpHttp, AStreamThatStaysOpenAfterTheAnswerIsLeft) {
  const auto set = open(server_.config());
  ASSERT_TRUE(set);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(set->call("open", "{}").text, "streamed");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(5));
}

TEST_F(McpHttp, AStreamWithoutAnAnswerIsAnError) {
  const auto set = open(server_.config());
  ASSERT_TRUE(set);
  EXPECT_EQ(set->call("cut", "{}").problem, "the MCP server 'web' ended its answer without a result");
}

TEST_F(McpHttp, ALateCallAndAStoppedOneAreCancelled) {
  ServerConfig config = server_.config();
  config.call_timeout = seconds(1);
  const auto set = open(config);
  ASSERT_TRUE(set);
  EXPECT_EQ(set->call("slow", "{}").problem, "the MCP server 'web' did not answer in time");
  EXPECT_EQ(server_.n_cancelled(), 1);
}

TEST_F(McpHttp, ACallIsStopped) {
  const auto set = open(server_.config());
  ASSERT_TRUE(set);
  std::stop_source source;
  const std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    source.request_stop();
  });
  EXPECT_TRUE(set->call("slow", "{}", source.get_token()).is_stopped);
  EXPECT_EQ(server_.n_cancelled(), 1);
}

TEST_F(McpHttp, AForgottenSessionIsOpenedAgain) {
  const auto set = open(server_.config());
  ASSERT_TRUE(set);
  server_.forget_session();
  EXPECT_EQ(set->call("echo", "{}").text, "{}");
  EXPECT_EQ(server_.n_sessions(), 2);
}

TEST_F(McpHttp, AServerWithoutHandshakesGetsItsHeaders) {
  std::string notes;
  const auto set =
      ToolSet::open({server_.config("/stateless")}, {.on_note = [&](const std::string& line) { notes += line; }});
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_EQ((*set)->tools().size(), 1u);
  EXPECT_TRUE(notes.contains("the tool 'wrong' has an \"x-mcp-header\" where the protocol allows none")) << notes;
  EXPECT_EQ((*set)->call("near", R"({"region": "us-west1"})").text, R"({"region":"us-west1"})");
}

TEST_F(McpHttp, SaysWhatIsWrong) {
  const std::string who = "the MCP server 'web' ", host = server_.config("").url;
  EXPECT_EQ(error_of(server_.config("/moved")),
            who + "redirects elsewhere (status 307); write the address that it redirects to");
  EXPECT_EQ(error_of(server_.config("/page")),
            who + "answered with something else than JSON for the request: '<html>hello</html>'");
  EXPECT_EQ(error_of(server_.config("/closed")),
            who + "refuses access (status 401); does its \"headers\" need an \"Authorization\"?");
  EXPECT_EQ(error_of(server_.config("/none")),
            who + "has no MCP over streamable HTTP at " + host + "/none (status 404)");
  EXPECT_EQ(error_of(server_.config("/large")), who + "sent a message of more than 16 MiB");
  ServerConfig nowhere = server_.config();
  nowhere.url = "http://127.0.0.1:1/mcp";
  EXPECT_TRUE(error_of(nowhere).starts_with(who + "cannot be reached: http://127.0.0.1:1: ")) << error_of(nowhere);
}

}  // namespace
}  // namespace tern::mcp
