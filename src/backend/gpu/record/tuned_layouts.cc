#include "backend/gpu/record/tuned_layouts.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "backend/gpu/record/layout_settings.h"
#include "base/format_text.h"
#include "plan/step_weights.h"

namespace tern::gpu {
namespace {

// The first line of the file. The number rises when kernels change so much that what was measured before says nothing.
constexpr const char* kFirstLine = "tern gpu layouts 1";

std::string file_in(const std::string& folder) { return folder + "/layouts"; }

// Lines after the first: key, tab, settings with spaces between them. A file of another version has none.
std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  std::string line;
  if (!std::getline(file, line) || line != kFirstLine) return lines;
  while (std::getline(file, line)) lines.push_back(line);
  return lines;
}

bool is_for(const std::string& line, const std::string& key) { return line.starts_with(key + "\t"); }

// Tabs and line ends mean something in the file.
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

std::vector<std::string> kept_settings(const std::string& folder, const std::string& key) {
  std::vector<std::string> settings;
  for (const std::string& line : lines_of(file_in(folder))) {
    if (!is_for(line, key)) continue;
    std::istringstream words(line.substr(key.size() + 1));
    for (std::string setting; words >> setting;) {
      if (is_of_a_knob(setting)) settings.push_back(setting);
    }
  }
  return settings;
}

Result<std::string> keep_settings(const std::string& folder, const std::string& key,
                                  const std::vector<std::string>& settings) {
  std::string path = file_in(folder);
  const std::string draft = format_text("{}.{}", path, getpid());
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::vector<std::string> lines = lines_of(path);
  std::erase_if(lines, [&](const std::string& line) { return is_for(line, key); });
  if (!settings.empty()) {
    std::string line = key + "\t";
    for (size_t i = 0; i < settings.size(); ++i) line += (i > 0 ? " " : "") + settings[i];
    lines.push_back(line);
  }
  std::ofstream file(draft, std::ios::trunc);
  file << kFirstLine << '\n';
  for (const std::string& line : lines) file << line << '\n';
  file.close();
  if (file) std::filesystem::rename(draft, path, error);
  if (file && !error) return path;
  std::error_code ignored;
  std::filesystem::remove(draft, ignored);
  return fail(ErrorCode::kIo, "{}: cannot be written; is there room, and may you write there?", path);
}

Layouts tuned_layouts(const Device& device, const Plan& plan, const GpuOptions& options) {
  Layouts layouts = layouts_for(device, options.without);
  const bool is_wanted = !options.cache_dir.empty() && !std::ranges::contains(options.without, "tuned");
  if (!is_wanted || layouts.serial) return layouts;
  for (const std::string& setting : kept_settings(options.cache_dir, tuning_key(device.adapter(), plan))) {
    apply_setting(layouts, setting);
  }
  return layouts;
}

}  // namespace tern::gpu
