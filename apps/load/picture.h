// A run as a picture: how the times are distributed, and tokens a second over time. SVG, in colours that can be read on
// light and on dark backgrounds.
#pragma once

#include <string>

#include "load/metrics.h"

namespace tern::load {

struct PictureText {
  std::string title;     // what was measured
  std::string subtitle;  // how
};

std::string picture(const LoadResult& result, const Metrics& metrics, const Deadlines& deadlines,
                    const PictureText& text);

}  // namespace tern::load
