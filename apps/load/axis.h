// Chart axes that begin and end at round numbers.
#pragma once

#include <string>
#include <vector>

namespace tern::load {

class Axis {
 public:
  // From 0 to a round number that is no smaller than `largest`, with about `n_ticks` steps of 1, 2 or 5 times a power
  // of ten.
  static Axis linear(double largest, int n_ticks = 5);

  // From the power of ten below `smallest` to the one above `largest`. Ticks are at the powers, and between them where
  // there are few. 0 < smallest <= largest.
  static Axis logarithmic(double smallest, double largest);

  // Position of `value`: 0 at the axis' beginning, 1 at its end. Values outside are clamped.
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

// A tick's label, as short as possible: "0.2", "15", "2,500".
std::string tick_text(double value);

}  // namespace tern::load
