// The requests being answered, from their first line to the last byte of their answers.
#pragma once

#include <httplib.h>

#include <atomic>
#include <memory>
#include <string>

#include "server/api/replies/metrics.h"
#include "server/api/replies/request_log.h"
#include "server/connections/connection.h"

namespace tern::server {

// The library answers each request on one thread, and reports its stages in order.
class Exchanges {
 public:
  Exchanges(LogOptions log, HttpMetrics& metrics) : log_(std::move(log)), metrics_(metrics) {}

  // The stages: head received, answer known, answer being sent.
  void begin(const httplib::Request& request);
  void have_answer(const httplib::Request& request, httplib::Response& response);
  void send(const httplib::Request& request, const httplib::Response& response);

  // A request whose head was refused before it was parsed.
  void refuse(const Peer& peer, int status);

  int n_open() const { return n_open_; }
  // The record of the request that this thread answers.
  static const std::shared_ptr<RequestRecord>& current();

 private:
  void end(RequestRecord& record);

  const LogOptions log_;
  HttpMetrics& metrics_;
  std::atomic<int> n_open_ = 0;
};

}  // namespace tern::server
