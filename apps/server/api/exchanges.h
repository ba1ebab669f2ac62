// The requests that are being answered, from their first line until the last byte of their answers.
#pragma once

#include <httplib.h>

#include <atomic>
#include <memory>
#include <string>

#include "server/api/metrics.h"
#include "server/api/request_log.h"
#include "server/connections.h"
#include "server/last_words.h"

namespace tern::server {

// The library answers a request on one thread from beginning to end, and tells of its stages one after the other.
class Exchanges {
 public:
  Exchanges(LogOptions log, HttpMetrics& metrics) : log_(std::move(log)), metrics_(metrics) {}

  // Connections that are slow are ended from now on.
  void watch(int port, std::chrono::milliseconds most, bool is_plain) {
    port_ = port;
    is_plain_ = is_plain;
    watch_ = std::make_unique<ConnectionWatch>(port, most);
  }

  // The stages: the head is there (often followed by a body), all is there, the answer is known, it is on its way.
  void begin(const httplib::Request& request);
  void have_more(const httplib::Request& request);  // of a body that may take long, so that it may go on
  void have_all(const httplib::Request& request);
  void have_answer(const httplib::Request& request, httplib::Response& response);
  void send(const httplib::Request& request, const httplib::Response& response);

  int n_open() const { return n_open_; }
  // Of the request that this thread answers.
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
