// The requests being answered, from their first line to the last byte of their answers.
#pragma once

#include <httplib.h>

#include <atomic>
#include <memory>
#include <string>

#include "server/api/replies/metrics.h"
#include "server/api/replies/request_log.h"
#include "server/connections.h"
#include "server/drain_body.h"

namespace tern::server {

// The library answers each request on one thread, and reports its stages in order.
class Exchanges {
 public:
  Exchanges(LogOptions log, HttpMetrics& metrics) : log_(std::move(log)), metrics_(metrics) {}

  // Ends slow connections from now on.
  void watch(int port, std::chrono::milliseconds most, bool is_plain) {
    port_ = port;
    is_plain_ = is_plain;
    watch_ = std::make_unique<ConnectionWatch>(port, most);
  }

  // The stages: head received (often followed by a body), all received, answer known, answer being sent.
  void begin(const httplib::Request& request);
  void have_more(const httplib::Request& request);  // part of a slow body has arrived, so the time limit restarts
  void have_all(const httplib::Request& request);
  void have_answer(const httplib::Request& request, httplib::Response& response);
  void send(const httplib::Request& request, const httplib::Response& response);

  int n_open() const { return n_open_; }
  // The record of the request that this thread answers.
  static const std::shared_ptr<RequestRecord>& current();

 private:
  void end(RequestRecord& record);

  const LogOptions log_;
  HttpMetrics& metrics_;
  std::atomic<int> n_open_ = 0;
  int port_ = 0;
  bool is_plain_ = true;  // without TLS
  LastWords last_words_;
  std::unique_ptr<ConnectionWatch> watch_;
};

}  // namespace tern::server
