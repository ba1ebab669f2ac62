#include "load/svg.h"

#include <array>
#include <cstdio>

namespace tern::load {
namespace {

// The grays and colors have a contrast of at least 3 (text: 4.5) with white and with black.
constexpr const char* kStyle =
    "text{font:13px system-ui,sans-serif;fill:#767676}.title{font-size:16px;font-weight:600}.panel{font-weight:600}"
    ".grid{stroke:#767676;stroke-opacity:.25}.axis{stroke:#767676}.curve{fill:none;stroke:#0d8f83;stroke-width:2}"
    ".dot{fill:#0d8f83}.area{fill:#0d8f83;fill-opacity:.35;stroke:#0d8f83;stroke-width:1.5}"
    ".limit{stroke:#d9730d;stroke-width:1.5;stroke-dasharray:5 4}.limit-text{fill:#d9730d}"
    ".mean{stroke:#767676;stroke-width:1.5;stroke-dasharray:2 3}.steady{fill:#767676;fill-opacity:.12}"
    ".failure{stroke:#d1373f;stroke-width:1.5}"
    ".curve-b{fill:none;stroke:#d9730d;stroke-width:2}.dot-b{fill:#d9730d}";

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '&')
      safe += "&amp;";
    else if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else if (c == '"')
      safe += "&quot;";
    else
      safe += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return safe;
}

}  // namespace

std::string fixed(double value, int decimals) {
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

void Svg::text(Point at, const std::string& words, const char* anchor, const char* style) {
  body_ += "<text x=\"" + fixed(at.x) + "\" y=\"" + fixed(at.y) + "\" text-anchor=\"" + anchor + "\" class=\"" + style +
           "\">" + escaped(words) + "</text>\n";
}

void Svg::line(Point a, Point b, const char* style) {
  body_ += "<line x1=\"" + fixed(a.x) + "\" y1=\"" + fixed(a.y) + "\" x2=\"" + fixed(b.x) + "\" y2=\"" + fixed(b.y) +
           "\" class=\"" + style + "\"/>\n";
}

void Svg::rectangle(const Box& box, const char* style) {
  body_ += "<rect x=\"" + fixed(box.x) + "\" y=\"" + fixed(box.y) + "\" width=\"" + fixed(box.width) + "\" height=\"" +
           fixed(box.height) + "\" class=\"" + style + "\"/>\n";
}

void Svg::path(const std::vector<Point>& points, const char* style, bool closed) {
  body_ += "<path d=\"";
  for (size_t i = 0; i < points.size(); ++i)
    body_ += (i == 0 ? "M" : "L") + fixed(points[i].x) + " " + fixed(points[i].y);
  body_ += std::string(closed ? "Z" : "") + "\" class=\"" + style + "\"/>\n";
}

void Svg::dot(Point at, const char* style) {
  body_ += "<circle cx=\"" + fixed(at.x) + "\" cy=\"" + fixed(at.y) + "\" r=\"4\" class=\"" + style + "\"/>\n";
}

std::string Svg::whole(const std::string& label) const {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + std::to_string(width_) + " " +
         std::to_string(height_) + "\" role=\"img\" aria-label=\"" + escaped(label) + "\">\n<style>" + kStyle +
         "</style>\n" + body_ + "</svg>\n";
}

void draw_axes(Svg& svg, const Box& box, const Axis& x, const std::string& x_name, const Axis& y,
               const std::string& y_name) {
  for (const double tick : y.ticks()) {
    const double at = box.bottom() - y.place(tick) * box.height;
    svg.line({box.x, at}, {box.right(), at}, "grid");
    svg.text({box.x - 8, at + 4}, tick_text(tick), "end");
  }
  for (const double tick : x.ticks()) {
    const double at = box.x + x.place(tick) * box.width;
    svg.line({at, box.bottom()}, {at, box.bottom() + 4}, "axis");
    svg.text({at, box.bottom() + 18}, tick_text(tick), "middle");
  }
  svg.line({box.x, box.bottom()}, {box.right(), box.bottom()}, "axis");
  svg.text({box.x + box.width / 2, box.bottom() + 38}, x_name, "middle");
  svg.text({box.x - 8, box.y - 12}, y_name, "start");
}

}  // namespace tern::load
