#include "mcp/http_transport.h"

#include <algorithm>
#include <mutex>
#include <thread>
#include <utility>

#include "base/start_thread.h"
#include "base/text/quoted.h"
#include "hub/net/http.h"
#include "load/sse_reader.h"
#include "mcp/mirrored_headers.h"

namespace tern::mcp {
namespace {

constexpr std::chrono::seconds kToEndSession(2);           // for the request that ends a session
constexpr std::chrono::milliseconds kToListenAgain(3000);  // after a server has ended the stream of its own news
constexpr size_t kMostErrorBytes = 300;                    // of an answer that is quoted

struct Connection {
  std::string session;  // the server's id of this conversation; empty: it gave none
  std::string version;  // of the protocol, once agreed
};

// As curl_easy_perform(), but `stop` ends it at once.
CURLcode perform(CURL* curl, const std::stop_token& stop) {
  const std::unique_ptr<CURLM, decltype(&curl_multi_cleanup)> multi(curl_multi_init(), curl_multi_cleanup);
  curl_multi_add_handle(multi.get(), curl);
  CURLcode code = CURLE_ABORTED_BY_CALLBACK;
  {
    const std::stop_callback wake(stop, [&] { curl_multi_wakeup(multi.get()); });
    for (int n_running = 1; n_running > 0 && !stop.stop_requested();) {
      if (curl_multi_perform(multi.get(), &n_running) != CURLM_OK) break;
      if (n_running > 0) curl_multi_poll(multi.get(), nullptr, 0, 1000, nullptr);
    }
  }
  int n_left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi.get(), &n_left)) {
    if (message->msg == CURLMSG_DONE) code = message->data.result;
  }
  curl_multi_remove_handle(multi.get(), curl);
  return code;
}

// One POST, and its answer while it arrives.
class Exchange {
 public:
  Exchange(const Outgoing& message, const Incoming& incoming) : message_(message), incoming_(incoming) {}

  void attach(CURL* curl) {
    curl_ = curl;
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &Exchange::receive);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, this);
  }

  // What of the answer was no event.
  const std::string& body() const { return body_; }
  bool is_stream() const { return type().starts_with("text/event-stream"); }
  bool is_json() const { return type().starts_with("application/json"); }
  bool is_too_large() const { return is_too_large_; }
  bool is_answered() const { return message_.is_answered && message_.is_answered(); }

 private:
  std::string type() const {
    const char* type = nullptr;
    curl_easy_getinfo(curl_, CURLINFO_CONTENT_TYPE, &type);
    std::string lower = type ? type : "";
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
    return lower;
  }

  size_t take(std::string_view bytes) {
    if (!is_stream()) {
      is_too_large_ = body_.size() + bytes.size() > kMaxMessageBytes;
      if (is_too_large_) return 0;
      body_ += bytes;
      return bytes.size();
    }
    const Result<void> read =
        events_.feed(bytes, [&](const load::SseEvent& event) { incoming_.on_message(event.data); });
    is_too_large_ = !read;
    // After the answer a server should end the stream, but need not.
    return is_too_large_ || is_answered() ? 0 : bytes.size();
  }

  static size_t receive(const char* data, size_t, size_t size, void* self) {
    return static_cast<Exchange*>(self)->take({data, size});
  }

  const Outgoing& message_;
  const Incoming& incoming_;
  CURL* curl_ = nullptr;
  load::SseReader events_;
  std::string body_;
  bool is_too_large_ = false;
};

class HttpTransport final : public Transport {
 public:
  HttpTransport(const ServerConfig& config, Incoming incoming) : config_(config), incoming_(std::move(incoming)) {}
  ~HttpTransport() override {
    begin_close();
    end_session();
  }

  Result<void> send(const Outgoing& message) override;

  Result<void> use_version(const std::string& version) override {
    bool has_session = false;
    {
      const std::lock_guard lock(mutex_);
      connection_.version = version;
      has_session = !connection_.session.empty() && version != kStatelessVersion;
    }
    if (!has_session) return {};
    TRY(listener_, start_thread("its messages", [this](const std::stop_token& stop) { listen(stop); }));
    return {};
  }

  bool take_lost_session() override {
    const std::lock_guard lock(mutex_);
    return std::exchange(is_lost_, false);
  }

  void begin_close() override { listener_.request_stop(); }

 private:
  hub::CurlHandle make_request(hub::CurlList& headers, const Connection& connection,
                               const Outgoing* message = nullptr) const;
  Result<void> read_answer(CURL* curl, CURLcode code, const Outgoing& message, const Exchange& exchange,
                           const Connection& used);
  Result<void> refused(long status, const Exchange& exchange, const Connection& used);
  void listen(const std::stop_token& stop);
  void end_session();

  Connection connection() const {
    const std::lock_guard lock(mutex_);
    return connection_;
  }

  const ServerConfig config_;
  const Incoming incoming_;
  mutable std::mutex mutex_;
  Connection connection_;
  bool is_lost_ = false;
  std::jthread listener_;  // last: it uses the others
};

// Redirects are not followed: they would take the headers, and the keys in them, elsewhere.
hub::CurlHandle HttpTransport::make_request(hub::CurlList& headers, const Connection& connection,
                                            const Outgoing* message) const {
  hub::CurlHandle handle = hub::make_handle({}, config_.url, headers);
  const auto add = [&](const std::string& name, const std::string& value) {
    // curl drops a header without a value unless a semicolon ends its name.
    const std::string line = value.empty() ? name + ";" : name + ": " + value;
    headers.reset(curl_slist_append(headers.release(), line.c_str()));
  };
  add("Content-Type", "application/json");
  add("Accept", "application/json, text/event-stream");
  headers.reset(curl_slist_append(headers.release(), "Expect:"));  // no question before a large body
  if (!connection.session.empty()) add("Mcp-Session-Id", connection.session);
  if (!connection.version.empty()) add("MCP-Protocol-Version", connection.version);
  for (const auto& [name, value] : config_.headers) add(name, value);
  if (message && connection.version == kStatelessVersion) {
    add("Mcp-Method", message->method);
    if (!message->tool.empty()) add("Mcp-Name", header_value(message->tool));
    for (const auto& [name, value] : message->headers) add(name, value);
  }
  curl_easy_setopt(handle.get(), CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(handle.get(), CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(handle.get(), CURLOPT_LOW_SPEED_TIME, 0L);  // a call may take as long as its deadline says
  return handle;
}

Result<void> HttpTransport::send(const Outgoing& message) {
  Connection used = connection();
  if (message.method == "initialize") used = {};
  hub::CurlList headers(nullptr, curl_slist_free_all);
  const hub::CurlHandle handle = make_request(headers, used, &message);
  CURL* curl = handle.get();
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(message.deadline - Clock::now());
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, std::max<long>(static_cast<long>(left.count()), 1));
  curl_easy_setopt(curl, CURLOPT_POSTFIELDS, message.text.c_str());
  curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(message.text.size()));
  Exchange exchange(message, incoming_);
  exchange.attach(curl);
  const CURLcode code = perform(curl, message.stop);
  if (message.method == "initialize") {
    const std::lock_guard lock(mutex_);
    connection_.session = hub::header_of(curl, "Mcp-Session-Id");
  }
  return read_answer(curl, code, message, exchange, used);
}

Result<void> HttpTransport::read_answer(CURL* curl, CURLcode code, const Outgoing& message, const Exchange& exchange,
                                        const Connection& used) {
  if (exchange.is_answered()) return {};
  if (message.stop.stop_requested()) return fail(ErrorCode::kInterrupted, "was told to stop");
  if (exchange.is_too_large()) {
    return fail(ErrorCode::kCorruption, "sent a message of more than {} MiB", kMaxMessageBytes >> 20);
  }
  if (code == CURLE_OPERATION_TIMEDOUT) return fail(ErrorCode::kIo, "did not answer in time");
  if (code != CURLE_OK)
    return fail(ErrorCode::kIo, "cannot be reached: {}", hub::describe_failure(curl, code, config_.url));
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  if (exchange.is_json()) incoming_.on_message(exchange.body());
  if (exchange.is_answered()) return {};
  if (status < 200 || status >= 300) return refused(status, exchange, used);
  if (!message.is_answered) return {};
  if (exchange.is_stream()) return fail(ErrorCode::kCorruption, "ended its answer without a result");
  return fail(ErrorCode::kCorruption, "answered with something else than JSON for the request: {}",
              tern::quoted(exchange.body().substr(0, kMostErrorBytes)));
}

Result<void> HttpTransport::refused(long status, const Exchange& exchange, const Connection& used) {
  if (status == 404 && !used.session.empty()) {
    const std::lock_guard lock(mutex_);
    if (connection_.session == used.session) connection_.session.clear();
    is_lost_ = true;
    return fail(ErrorCode::kIo, "has forgotten the session");
  }
  if (status == 401 || status == 403) {
    return fail(ErrorCode::kIo, "refuses access (status {}); does its \"headers\" need an \"Authorization\"?", status);
  }
  if (status == 404 || status == 405) {
    return fail(ErrorCode::kNotSupported, "has no MCP over streamable HTTP at {} (status {})", config_.url, status);
  }
  if (status >= 300 && status < 400) {
    return fail(ErrorCode::kIo, "redirects elsewhere (status {}); write the address that it redirects to", status);
  }
  return fail(ErrorCode::kNotSupported, "answered with status {}: {}", status,
              tern::quoted(exchange.body().substr(0, kMostErrorBytes)));
}

// Hears what the server says on its own, such as that its tools have changed. Many servers say nothing, and refuse
// this.
void HttpTransport::listen(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    hub::CurlList headers(nullptr, curl_slist_free_all);
    const hub::CurlHandle handle = make_request(headers, connection());
    const Outgoing nothing{.text = {}, .stop = stop};
    Exchange exchange(nothing, incoming_);
    exchange.attach(handle.get());
    long status = 0;
    const CURLcode code = perform(handle.get(), stop);
    curl_easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &status);
    if (code != CURLE_OK || status != 200 || !exchange.is_stream()) return;
    if (!hub::wait_for(kToListenAgain, stop)) return;
  }
}

void HttpTransport::end_session() {
  const Connection last = connection();
  if (last.session.empty()) return;
  hub::CurlList headers(nullptr, curl_slist_free_all);
  const hub::CurlHandle handle = make_request(headers, last);
  const Outgoing nothing;
  Exchange exchange(nothing, incoming_);
  exchange.attach(handle.get());
  curl_easy_setopt(handle.get(), CURLOPT_CUSTOMREQUEST, "DELETE");
  curl_easy_setopt(handle.get(), CURLOPT_TIMEOUT_MS,
                   static_cast<long>(std::chrono::milliseconds(kToEndSession).count()));
  curl_easy_perform(handle.get());  // a server may refuse, and the session then ends by itself
}

}  // namespace

Result<std::unique_ptr<Transport>> open_http(const ServerConfig& config, Incoming incoming) {
  return std::make_unique<HttpTransport>(config, std::move(incoming));
}

}  // namespace tern::mcp
