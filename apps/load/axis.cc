#include "load/axis.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tern::load {
namespace {

constexpr double kRounding = 1e-9;  // tolerance for sums of steps

// Factors for ticks between two powers of ten, on an axis that spans so many decades.
std::vector<double> tick_factors(double decades) {
  if (decades <= 2) return {1, 2, 5};
  if (decades <= 4) return {1, 3};
  return {1};
}

// The smallest number that is at least `least` and is 1, 2 or 5 times a power of ten.
double round_step(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - kRounding)) return factor * power;
  }
  return 10 * power;
}

}  // namespace

Axis Axis::linear(double largest, int n_ticks) {
  Axis axis;
  if (!(largest > 0)) largest = 1;
  const double step = round_step(largest / n_ticks);
  const auto n = static_cast<int>(std::ceil(largest / step - kRounding));
  axis.end_ = n * step;
  for (int i = 0; i <= n; ++i) axis.ticks_.push_back(i * step);
  return axis;
}

Axis Axis::logarithmic(double smallest, double largest) {
  Axis axis;
  axis.logarithmic_ = true;
  const double first = std::floor(std::log10(smallest) + kRounding);
  const double last = std::max(std::ceil(std::log10(largest) - kRounding), first + 1);
  axis.begin_ = std::pow(10, first);
  axis.end_ = std::pow(10, last);
  for (double decade = first; decade < last; ++decade) {
    for (const double factor : tick_factors(last - first)) axis.ticks_.push_back(factor * std::pow(10, decade));
  }
  axis.ticks_.push_back(axis.end_);
  return axis;
}

double Axis::place(double value) const {
  if (logarithmic_) {
    if (value <= begin_) return 0;
    return std::min(std::log(value / begin_) / std::log(end_ / begin_), 1.0);
  }
  return std::clamp(value / end_, 0.0, 1.0);
}

std::string tick_text(double value) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 6);
  std::string number(text, end);
  if (number.contains('e')) return number;
  const size_t whole = std::min(number.find('.'), number.size());
  for (size_t at = whole; at > 3; at -= 3) number.insert(at - 3, ",");
  return number;
}

}  // namespace tern::load
