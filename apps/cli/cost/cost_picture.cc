#include "cli/cost/cost_picture.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "base/files/draft_file.h"
#include "base/result.h"
#include "cli/support/common.h"
#include "cli/terminal/layout.h"
#include "load/svg.h"

namespace tern::cli {
namespace {

using load::Axis;
using load::Box;
using load::Point;
using load::Svg;

constexpr int kWidth = 840, kHeight = 640;
constexpr int kSteps = 60;  // points of a curve
constexpr const char* kCurves[] = {"curve", "curve-b"};
constexpr const char* kDots[] = {"dot", "dot-b"};

// One panel of the picture, drawn up to `most` tokens.
struct Panel {
  Box box;
  std::string name, x_name, unit;
  int most = 1;
  std::function<double(const CostCurve&, int tokens)> value = {};               // in `unit`
  std::function<const std::vector<CurvePoint>*(const CostCurve&)> points = {};  // measured points, if any
};

// A few lengths per doubling, so that a curve looks smooth on a logarithmic axis.
std::vector<int> lengths_up_to(int most) {
  std::vector<int> lengths;
  for (int i = 0; i <= kSteps; ++i) {
    const int n = static_cast<int>(std::lround(std::pow(most, static_cast<double>(i) / kSteps)));
    if (lengths.empty() || n > lengths.back()) lengths.push_back(n);
  }
  return lengths;
}

void draw(Svg& svg, const Panel& panel, const CostReport& report) {
  const std::vector<int> lengths = lengths_up_to(panel.most);
  double least = 0, largest = 0;
  for (const CostCurve& curve : report.set.curves) {
    for (const int n : lengths) {
      const double value = panel.value(curve, n);
      if (value > 0 && (least == 0 || value < least)) least = value;
      largest = std::max(largest, value);
    }
  }
  if (least == 0) least = largest = 1;
  const bool is_wide = largest > 8 * least;
  const Axis x = Axis::logarithmic(1, std::max(panel.most, 10));
  const Axis y = is_wide ? Axis::logarithmic(least, largest) : Axis::linear(largest);
  svg.text({panel.box.x - 8, panel.box.y - 36}, panel.name, "start", "panel");
  load::draw_axes(svg, panel.box, x, panel.x_name, y, panel.unit);
  for (size_t i = 0; i < report.set.curves.size(); ++i) {
    const CostCurve& curve = report.set.curves[i];
    const auto at = [&](int n) {
      return Point{panel.box.x + x.place(n) * panel.box.width,
                   panel.box.bottom() - y.place(panel.value(curve, n)) * panel.box.height};
    };
    std::vector<Point> line;
    for (const int n : lengths) line.push_back(at(n));
    svg.path(line, kCurves[i % std::size(kCurves)]);
    if (!panel.points) continue;
    for (const CurvePoint& point : *panel.points(curve)) svg.dot(at(point.tokens), kDots[i % std::size(kDots)]);
  }
}

void draw_crossovers(Svg& svg, const Panel& panel, const CostReport& report) {
  const Axis x = Axis::logarithmic(1, std::max(panel.most, 10));
  for (const Crossover& change :
       crossovers(report.set.curves, report.job, &ExpectedJob::n_prompt, panel.most, report.prefer)) {
    const double at = panel.box.x + x.place(change.tokens) * panel.box.width;
    svg.line({at, panel.box.y}, {at, panel.box.bottom()}, "limit");
    svg.text({at + 6, panel.box.y + 12},
             format_text("from {} on {}", change.tokens, route_name(report.set.curves, change.to)), "start",
             "limit-text");
  }
}

}  // namespace

std::string cost_picture(const CostReport& report) {
  const CurveSet& set = report.set;
  const ExpectedJob& job = report.job;
  Svg svg(kWidth, kHeight);
  svg.text({20, 30}, set.model_name, "start", "title");
  for (size_t i = 0; i < set.curves.size(); ++i) {
    const double y = 52 + 20 * static_cast<double>(i);
    svg.dot({26, y - 4}, kDots[i % std::size(kDots)]);
    svg.text({36, y}, set.curves[i].device);
  }
  const Panel prompt{
      .box = {60, 170, 335, 150},
      .name = "A token of a prompt",
      .x_name = "tokens of the prompt",
      .unit = "ms",
      .most = set.n_ctx,
      .value = [](const CostCurve& curve,
                  int n) { return predict(curve, {.n_prompt = n, .n_generate = 1}).prompt.seconds * 1e3 / n; },
      .points = [](const CostCurve& curve) { return &curve.prompt; }};
  const Panel step{.box = {480, 170, 335, 150},
                   .name = "A token written",
                   .x_name = "tokens before it",
                   .unit = "ms",
                   .most = set.n_ctx,
                   .value = [](const CostCurve& curve,
                               int n) { return predict(curve, {.n_prompt = n, .n_generate = 2}).decode.seconds * 1e3; },
                   .points = [](const CostCurve& curve) { return &curve.steps.front().points; }};
  const bool by_energy =
      report.prefer == Prefer::kEnergy && std::ranges::all_of(set.curves, [&](const CostCurve& curve) {
        return predict(curve, job).total.joules.has_value();
      });
  const Panel whole{.box = {60, 430, 755, 150},
                    .name = format_text("A prompt and {} tokens written{}", job.n_generate,
                                        job.counts_setup ? ", loading included" : ""),
                    .x_name = "tokens of the prompt",
                    .unit = by_energy ? "J" : "s",
                    .most = std::max(set.n_ctx - job.n_generate, 1),
                    .value = [&](const CostCurve& curve, int n) {
                      ExpectedJob one = job;
                      one.n_prompt = n;
                      const Cost cost = predict(curve, one).total;
                      return by_energy ? *cost.joules : cost.seconds;
                    }};
  for (const Panel* panel : {&prompt, &step, &whole}) draw(svg, *panel, report);
  draw_crossovers(svg, whole, report);
  return svg.whole("what " + set.model_name + " costs on each device");
}

Result<void> write_cost_picture(const CostReport& report, const std::string& path) {
  const auto written = write_text_file(path, cost_picture(report));
  if (!written) return fail(ErrorCode::kIo, "{}: cannot be written: {}", path, written.error().message());
  return {};
}

}  // namespace tern::cli
