#include "backend/gpu/record/tuned_layouts.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "backend/gpu/record/layout_settings.h"
#include "base/files/mapped_file.h"
#include "base/text/format_text.h"
#include "plan/step_weights.h"

namespace tern::gpu {
namespace {

// The first line of the file. The number increases when kernels change so much that old measurements are useless.
constexpr const char* kFirstLine = "tern gpu layouts 1";

// The lines after the first: key, tab, settings separated by spaces. Files of other versions count as empty.
std::vector<std::string> lines_of(std::string_view file) {
  std::istringstream text{std::string(file)};
  std::vector<std::string> lines;
  std::string line;
  if (!std::getline(text, line) || line != kFirstLine) return lines;
  while (std::getline(text, line)) lines.push_back(line);
  return lines;
}

bool is_for(std::string_view line, std::string_view key) {
  return line.starts_with(key) && line.substr(key.size()).starts_with('\t');
}

// Replaces tabs and line ends, which are separators in the file.
std::string one_field(std::string text) {
  std::ranges::replace_if(text, [](unsigned char c) { return c < ' '; }, ' ');
  return text;
}

}  // namespace

std::string tuning_key(const AdapterInfo& adapter, const Plan& plan) {
  std::set<std::string> matrices;
  for (const Step& step : plan.steps) {
    for_each_weight(step.body, [&](const Tensor* w, WeightRole role) {
      if (role == WeightRole::kTable || w->rows < 2) return;
      matrices.insert(format_text("{}x{} {}", w->rows, w->cols, format_info(w->format).name));
    });
  }
  std::string shape;
  for (const std::string& matrix : matrices) shape += (shape.empty() ? "" : ", ") + matrix;
  return one_field(format_text("{}, {}, {}; {}", adapter.name, adapter.driver, adapter.api, shape));
}

std::vector<std::string> kept_settings(std::string_view file, std::string_view key) {
  std::vector<std::string> settings;
  for (const std::string& line : lines_of(file)) {
    if (!is_for(line, key)) continue;
    std::istringstream words(line.substr(key.size() + 1));
    for (std::string setting; words >> setting;) {
      if (is_layout_setting(setting)) settings.push_back(setting);
    }
  }
  return settings;
}

std::string with_settings(std::string_view file, std::string_view key, const std::vector<std::string>& settings) {
  std::string text = format_text("{}\n", kFirstLine);
  for (const std::string& line : lines_of(file)) {
    if (!is_for(line, key)) text += line + "\n";
  }
  if (settings.empty()) return text;
  text += format_text("{}\t", key);
  for (size_t i = 0; i < settings.size(); ++i) text += (i > 0 ? " " : "") + settings[i];
  return text + "\n";
}

std::string layouts_file(const std::string& folder) { return folder + "/layouts"; }

Layouts tuned_layouts(const Device& device, const Plan& plan, const GpuOptions& options) {
  Layouts layouts = layouts_for(device, options.without);
  const bool is_wanted = !options.cache_dir.empty() && !std::ranges::contains(options.without, "tuned");
  if (!is_wanted || layouts.serial) return layouts;
  const auto file = read_text_file(layouts_file(options.cache_dir));
  if (!file) return layouts;
  for (const std::string& setting : kept_settings(*file, tuning_key(device.adapter(), plan))) {
    apply_setting(layouts, setting);
  }
  return layouts;
}

}  // namespace tern::gpu
