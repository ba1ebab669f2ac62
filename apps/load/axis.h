// Axes with round numbers.
#pragma once

#include <string>
#include <vector>

namespace tern::load {

class Axis {
 public:
  // From 0 to a round number that is no smaller than `largest`, with about `n_ticks` steps of 1, 2 or 5 times a power
  // of ten.
  static Axis linear(double largest, int n_ticks = 5);

  // From a power of ten to another, around both; ticks at the powers, and between them where they are few.
  // 0 < smallest <= largest.
  static Axis logarithmic(double smallest, double largest);

  // 0 at the axis' beginning, 1 at its end; what lies outside is at the nearest of them.
  double place(double value) const;

  const std::vector<double>& ticks() const { return ticks_; }
  double end() const { return end_; }
  bool is_logarithmic() const { return logarithmic_; }

 private:
  bool logarithmic_ = false;
  double begin_ = 0;
  double end_ = 1;
  std::vector<double> ticks_;
};

// "0.2", "15", "2,500": as short as a tick's number can be said.
std::string tick_text(double value);

}  // namespace tern::load
