// Times the phases of a long task: seconds of each phase, in the order in which they began.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tern {

class PhaseTimes {
 public:
  // Counts the time since the last end() (or the construction) as `phase`. Repeated phases add up.
  void end(std::string_view phase) {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    for (auto& [name, so_far] : phases_) {
      if (name == phase) return void(so_far += seconds);
    }
    phases_.emplace_back(phase, seconds);
  }

  const std::vector<std::pair<std::string, double>>& phases() const { return phases_; }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  std::vector<std::pair<std::string, double>> phases_;
};

}  // namespace tern
