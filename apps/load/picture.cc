#include "load/picture.h"

#include <algorithm>
#include <cmath>

#include "load/axis.h"
#include "load/svg.h"

namespace tern::load {
namespace {

constexpr int kWidth = 840, kHeight = 640;
constexpr size_t kMaxPoints = 400;  // per curve; more could not be distinguished
constexpr double kMinMs = 0.01;     // stands in for the gap of 0 between events that arrived in one piece
constexpr int kMaxFailureMarks = 500;

// Shows three significant digits.
std::string shown(double value) {
  if (value >= 1000) return tick_text(std::round(value));
  return fixed(value, value >= 100 ? 0 : value >= 10 ? 1 : 2);
}

struct DistributionPanel {
  std::string name, of_what;
  const Distribution& ms;
  std::optional<double> deadline_ms;
  double deadline_share = 0;  // share of the values that meet it
};

// Draws the cumulative distribution: for each x, the share of values that are at most x.
void draw_distribution(Svg& svg, const Box& box, const DistributionPanel& panel) {
  svg.text({box.x - 8, box.y - 52}, panel.name, "start", "panel");
  if (panel.ms.size() == 0) {
    svg.text({box.x, box.y + box.height / 2}, "there is nothing to show: no request had this");
    return;
  }
  const double largest = std::max(panel.ms.sorted.back(), panel.deadline_ms.value_or(0));
  const bool in_seconds = largest >= 5000;
  const double unit = in_seconds ? 1000 : 1;
  const double median = std::max(*panel.ms.at(0.5), kMinMs);
  // On a linear axis, a tail much longer than the rest would squeeze the rest against the axis.
  const bool is_long = largest > 8 * median;
  const Axis x = is_long ? Axis::logarithmic(std::max(panel.ms.sorted.front(), median / 100) / unit, largest / unit)
                         : Axis::linear(largest / unit);
  const Axis y = Axis::linear(100);
  const std::string name = in_seconds ? "s" : "ms";
  draw_axes(svg, box, x, "at most so many " + name + (is_long ? ", logarithmic" : ""), y, "% of " + panel.of_what);
  const auto at = [&](double ms, double share) {
    return Point{box.x + x.place(ms / unit) * box.width, box.bottom() - share * box.height};
  };
  std::vector<Point> curve;
  const size_t n = panel.ms.size(), step = std::max<size_t>(n / kMaxPoints, 1);
  curve.push_back(at(panel.ms.sorted.front(), 0));
  for (size_t i = 0; i < n; i += step) {
    const double share = static_cast<double>(std::min(i + step, n)) / static_cast<double>(n);
    const double value = panel.ms.sorted[std::min(i + step, n) - 1];
    curve.push_back({at(value, 0).x, curve.back().y});
    curve.push_back(at(value, share));
  }
  curve.push_back({box.right(), box.y});
  svg.path(curve, "curve");
  std::string words;
  for (const int percent : {50, 90, 99}) {
    const double value = *panel.ms.at(percent / 100.0);
    svg.dot(at(value, percent / 100.0));
    words += "p" + std::to_string(percent) + " " + shown(value / unit) + " · ";
  }
  svg.dot({box.x - 3, box.y - 36});
  svg.text({box.x + 6, box.y - 32}, words + "max " + shown(panel.ms.sorted.back() / unit) + " " + name);
  if (!panel.deadline_ms) return;
  const double limit = at(*panel.deadline_ms, 0).x;
  svg.line({limit, box.y}, {limit, box.bottom()}, "limit");
  svg.text({box.right(), box.y - 12},
           "deadline " + shown(*panel.deadline_ms / unit) + " " + name + ": " + fixed(100 * panel.deadline_share) +
               " % in time",
           "end", "limit-text");
}

double share_within(const Distribution& ms, const std::optional<double>& limit) {
  if (!limit || ms.size() == 0) return 0;
  const auto end = std::ranges::upper_bound(ms.sorted, *limit);
  return static_cast<double>(end - ms.sorted.begin()) / static_cast<double>(ms.size());
}

void draw_failures(Svg& svg, const Box& box, const LoadResult& result, const Axis& x) {
  int n = 0;
  for (const RequestRecord& record : result.records) {
    if (record.is_complete() || record.outcome == Outcome::kStopped || ++n > kMaxFailureMarks) continue;
    const double at = box.x + x.place(record.ended) * box.width;
    svg.line({at - 4, box.bottom() - 8}, {at + 4, box.bottom()}, "failure");
    svg.line({at - 4, box.bottom()}, {at + 4, box.bottom() - 8}, "failure");
  }
}

void draw_rate(Svg& svg, const Box& box, const LoadResult& result, const Metrics& metrics) {
  // About a hundred bins of a round length.
  const Axis bins = Axis::linear(std::max(result.ended, 0.01), 100);
  const double bin = bins.ticks()[1];
  const std::vector<double> rates = rate_over_time(result, bin);
  const Axis x = Axis::linear(std::max(result.ended, 0.01), 8);
  const Axis y = Axis::linear(std::ranges::max(rates), 4);
  svg.text({box.x - 8, box.y - 52}, "Tokens per second, all requests together", "start", "panel");
  const double begin = box.x + x.place(metrics.window.begin) * box.width;
  const double end = box.x + x.place(metrics.window.end) * box.width;
  svg.rectangle({begin, box.y, end - begin, box.height}, "steady");
  draw_axes(svg, box, x, "s since the run began", y, "tokens/s, every " + tick_text(bin) + " s");
  std::vector<Point> area = {{box.x, box.bottom()}};
  for (size_t i = 0; i < rates.size(); ++i) {
    const double height = box.bottom() - y.place(rates[i]) * box.height;
    area.push_back({box.x + x.place(static_cast<double>(i) * bin) * box.width, height});
    area.push_back({box.x + x.place(static_cast<double>(i + 1) * bin) * box.width, height});
  }
  area.push_back({area.back().x, box.bottom()});
  svg.path(area, "area", /*closed=*/true);
  const double mean = box.bottom() - y.place(metrics.tokens_per_s) * box.height;
  svg.line({begin, mean}, {end, mean}, "mean");
  draw_failures(svg, box, result, x);
  // The legend, in a row below the name.
  const double row = box.y - 32;
  svg.line({box.x - 8, row - 4}, {box.x + 14, row - 4}, "mean");
  svg.text({box.x + 20, row}, "mean " + shown(metrics.tokens_per_s) + " tokens/s");
  svg.rectangle({box.x + 190, row - 12, 22, 14}, "steady");
  svg.text({box.x + 218, row}, metrics.window.is_steady ? "steady part, of which it is the mean"
                                                        : "the whole run, of which it is the mean");
  if (metrics.failed == 0) return;
  svg.line({box.x + 476, row - 9}, {box.x + 484, row - 1}, "failure");
  svg.line({box.x + 476, row - 1}, {box.x + 484, row - 9}, "failure");
  svg.text({box.x + 490, row}, std::to_string(metrics.failed) + " failed");
}

}  // namespace

std::string picture(const LoadResult& result, const Metrics& metrics, const Deadlines& deadlines,
                    const PictureText& text) {
  Svg svg(kWidth, kHeight);
  svg.text({20, 30}, text.title, "start", "title");
  svg.text({20, 52}, text.subtitle);
  draw_distribution(svg, {60, 140, 335, 170},
                    {.name = "Time to the first token",
                     .of_what = "requests",
                     .ms = metrics.ttft_ms,
                     .deadline_ms = deadlines.ttft_ms,
                     .deadline_share = share_within(metrics.ttft_ms, deadlines.ttft_ms)});
  draw_distribution(svg, {480, 140, 335, 170},
                    {.name = "Time between tokens",
                     .of_what = "gaps",
                     .ms = metrics.gap_ms,
                     .deadline_ms = deadlines.itl_ms,
                     .deadline_share = share_within(metrics.gap_ms, deadlines.itl_ms)});
  draw_rate(svg, {60, 430, 755, 150}, result, metrics);
  return svg.whole(text.title + ": " + text.subtitle);
}

}  // namespace tern::load
