// Pictures as SVG, in colors that are readable on light and dark backgrounds.
#pragma once

#include <string>
#include <vector>

#include "load/axis.h"

namespace tern::load {

struct Box {
  double x, y, width, height;
  double right() const { return x + width; }
  double bottom() const { return y + height; }
};

struct Point {
  double x, y;
};

std::string fixed(double value, int decimals = 1);

// The style of each element is a class of kStyle in svg.cc: "curve", "limit", "title".
class Svg {
 public:
  Svg(int width, int height) : width_(width), height_(height) {}

  void text(Point at, const std::string& words, const char* anchor = "start", const char* style = "");
  void line(Point a, Point b, const char* style);
  void rectangle(const Box& box, const char* style);
  void path(const std::vector<Point>& points, const char* style, bool closed = false);
  void dot(Point at, const char* style = "dot");

  // The whole file; `label` describes the picture for screen readers.
  std::string whole(const std::string& label) const;

 private:
  int width_, height_;
  std::string body_;
};

// Draws both axes, with their ticks and names, around the box.
void draw_axes(Svg& svg, const Box& box, const Axis& x, const std::string& x_name, const Axis& y,
               const std::string& y_name);

}  // namespace tern::load
