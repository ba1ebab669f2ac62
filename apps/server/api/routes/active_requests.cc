#include "server/api/routes/active_requests.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "server/api/replies/answer.h"

namespace tern::server {
namespace {

thread_local std::shared_ptr<RequestRecord> current_record;

Peer peer_of(const httplib::Request& request) { return {request.remote_addr, request.remote_port}; }

// The pattern rather than the path, which may contain anything. A catch-all pattern is not a route.
std::string route_of(const httplib::Request& request) {
  return request.matched_route.empty() || request.matched_route == ".*" ? "other" : request.matched_route;
}

// The method in an invalid request line may be anything, too.
std::string method_of(const httplib::Request& request) {
  constexpr std::array<std::string_view, 9> kKnown = {"GET",     "HEAD",    "POST",  "PUT",  "DELETE",
                                                      "CONNECT", "OPTIONS", "TRACE", "PATCH"};
  return std::ranges::contains(kKnown, request.method) ? request.method : "other";
}

}  // namespace

const std::shared_ptr<RequestRecord>& Exchanges::current() { return current_record; }

void Exchanges::begin(const httplib::Request& request) {
  if (current_record) return;  // the library reports a protocol upgrade twice
  current_record =
      std::make_shared<RequestRecord>(RequestRecord{.id = request_id(request.get_header_value("X-Request-Id")),
                                                    .peer = peer_of(request),
                                                    .method = method_of(request),
                                                    .route = "other",
                                                    .keeps_texts = log_.texts});
  ++n_open_;
}

void Exchanges::refuse(const Peer& peer, int status) {
  metrics_.on_answer("other", status);
  ++n_open_;
  RequestRecord record{.id = request_id(""), .peer = peer, .method = "other", .route = "other", .status = status};
  end(record);
}

void Exchanges::have_answer(const httplib::Request& request, httplib::Response& response) {
  begin(request);  // this is the only report if the library rejects the head
  RequestRecord& record = *current_record;
  response.set_header("X-Request-Id", record.id);
  if (is_for_anthropic(request)) response.set_header("request-id", record.id);
  record.status = response.status;
  record.route = route_of(request);
  if (!response.content_provider_) return;
  // An answer that is produced while it is sent ends when the library releases it.
  response.content_provider_resource_releaser_ = [this, record = current_record](bool) { end(*record); };
}

void Exchanges::send(const httplib::Request& request, const httplib::Response& response) {
  metrics_.on_answer(route_of(request), response.status);
  const std::shared_ptr<RequestRecord> record = std::exchange(current_record, nullptr);
  if (record && !response.content_provider_) end(*record);
}

void Exchanges::end(RequestRecord& record) {
  --n_open_;
  if (!log_.on_line) return;
  record.total_ms = std::chrono::duration<double, std::milli>(RequestRecord::Clock::now() - record.start).count();
  log_.on_line(log_line(record, log_.format));
}

}  // namespace tern::server
