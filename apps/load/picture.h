// Draws a run as SVG: the distribution of its times, and tokens per second over time. The colors are readable on light
// and dark backgrounds.
#pragma once

#include <string>

#include "load/metrics.h"

namespace tern::load {

struct PictureText {
  std::string title;     // what was measured
  std::string subtitle;  // how it was measured
};

std::string picture(const LoadResult& result, const Metrics& metrics, const Deadlines& deadlines,
                    const PictureText& text);

}  // namespace tern::load
