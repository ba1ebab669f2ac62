// What the server has done, in Prometheus' text format.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "server/api/model_service.h"

namespace tern::server {

// How often values fell below each of some bounds.
class Histogram {
 public:
  explicit Histogram(std::span<const double> bounds) : bounds_(bounds), counts_(bounds.size() + 1) {}
  void add(double value);
  // NAME_bucket{le="…"}, NAME_sum, NAME_count
  void write(std::string& out, std::string_view name, std::string_view help) const;

 private:
  std::span<const double> bounds_;
  std::vector<uint64_t> counts_;  // of each, not of those below it
  double sum_ = 0;
};

class Metrics final : public ServiceObserver {
 public:
  Metrics();
  void on_first_token(double seconds) override;
  void on_token(double seconds) override;
  void on_end(const ReplyNews& last) override;
  void on_step(double seconds, int n_running, double joules) override;
  void on_answer(std::string_view route, int status);

  // `has_energy`: it is measured; else nothing is said about it.
  std::string text(const ModelService::Status& status, bool has_energy) const;

 private:
  mutable std::mutex mutex_;
  Histogram first_token_, between_tokens_, step_, batch_;
  double joules_ = 0;
  uint64_t prompt_tokens_ = 0, cached_tokens_ = 0, generated_tokens_ = 0;
  std::map<std::string, uint64_t, std::less<>> ends_;        // by the reason
  std::map<std::pair<std::string, int>, uint64_t> answers_;  // by route and status
};

}  // namespace tern::server
