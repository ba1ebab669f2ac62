// Metrics of the server, in Prometheus' text format.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/api/service/model_service.h"

namespace tern::server {

// Counts values in buckets with upper bounds.
class Histogram {
 public:
  explicit Histogram(std::span<const double> bounds) : bounds_(bounds), counts_(bounds.size() + 1) {}
  void add(double value);
  // NAME_bucket{le="…"}, NAME_sum, NAME_count. `labels` precede other labels: "" or "model=…".
  std::string lines(std::string_view name, const std::string& labels) const;

 private:
  std::span<const double> bounds_;
  std::vector<uint64_t> counts_;  // of each bucket alone, not cumulative
  double sum_ = 0;
};

// Metrics by name. Each name is described once, even for several models.
class MetricFamilies {
 public:
  void add(const std::string& name, std::string_view type, std::string_view help, const std::string& lines);
  std::string text() const;

 private:
  std::vector<std::string> order_;
  std::map<std::string, std::string> texts_;
};

// Metrics of one model, kept while it is unloaded.
class ModelMetrics final : public ServiceObserver {
 public:
  ModelMetrics();
  void on_first_token(double seconds) override;
  void on_token(double seconds) override;
  void on_end(const ReplyEvent& last) override;
  void on_step(double seconds, int n_running, double joules) override;

  // `has_energy`: energy is measured; otherwise it is omitted.
  void write(MetricFamilies& to, const std::string& labels, const ModelService::Status& status, bool has_energy) const;

 private:
  mutable std::mutex mutex_;
  Histogram first_token_, between_tokens_, step_, batch_;
  double joules_ = 0;
  uint64_t prompt_tokens_ = 0, cached_tokens_ = 0, generated_tokens_ = 0;
  uint64_t draft_tokens_ = 0, right_draft_tokens_ = 0;
  std::map<std::string, uint64_t, std::less<>> ends_;  // by reason
};

// Metrics of the server's answers.
class HttpMetrics {
 public:
  void on_answer(std::string_view route, int status);
  void write(MetricFamilies& to) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, uint64_t> answers_;  // by route and status
};

// "model=\"NAME\"", with special characters escaped.
std::string model_label(const std::string& name);

}  // namespace tern::server
