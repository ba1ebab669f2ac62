#include "cli/support/gpu_stats.h"

#include <string_view>

#include "cli/terminal/layout.h"

namespace tern::cli {
namespace {

// Joins parts with commas.
class Listing {
 public:
  void add(bool measured, std::string_view part) {
    if (!measured) return;
    if (!text_.empty()) text_ += ", ";
    text_ += part;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string upload(const GpuStats& s) {
  Listing upload;
  upload.add(s.upload_bytes > 0, human_bytes(s.upload_bytes));
  upload.add(s.upload_seconds > 0, format_text("took {}", human_seconds(s.upload_seconds)));
  if (s.upload_bytes > 0 && s.upload_seconds > 0) {
    const auto rate = static_cast<uint64_t>(static_cast<double>(s.upload_bytes) / s.upload_seconds);
    upload.add(true, format_text("{}/s", human_bytes(rate)));
  }
  return upload.text();
}

}  // namespace

std::vector<std::pair<std::string, std::string>> gpu_stats_lines(const GpuStats& s) {
  Listing token, time, shaders, memory;
  token.add(s.dispatches_per_token > 0, format_text("{} dispatches a token", s.dispatches_per_token));
  time.add(s.gpu_ms_per_token > 0, format_text("{} ms a token on the GPU", human_number(s.gpu_ms_per_token)));
  time.add(s.host_ms_per_token > 0, format_text("{} ms waiting for the host", human_number(s.host_ms_per_token)));
  time.add(s.record_ms_per_token > 0, format_text("{} ms of recording alongside", human_number(s.record_ms_per_token)));
  shaders.add(s.shaders > 0, format_text("{}", s.shaders));
  const std::string on = s.compile_threads > 0 ? format_text(" on {} threads", s.compile_threads) : "";
  shaders.add(s.compile_seconds > 0, format_text("compiled in {}{}", human_seconds(s.compile_seconds), on));
  shaders.add(s.pipeline_hit_rate > 0, format_text("{:.0f} % of pipelines reused", 100 * s.pipeline_hit_rate));
  shaders.add(s.disk_hits > 0, format_text("{} from the cache on disk", s.disk_hits));
  memory.add(s.device_bytes > 0, human_bytes(s.device_bytes));
  std::vector<std::pair<std::string, std::string>> lines;
  const auto line = [&](const char* name, const std::string& value) {
    if (!value.empty()) lines.emplace_back(name, value);
  };
  line("gpu", token.text());
  line("gpu time", time.text());
  line("shaders", shaders.text());
  line("upload", upload(s));
  line("gpu memory", memory.text());
  return lines;
}

}  // namespace tern::cli
