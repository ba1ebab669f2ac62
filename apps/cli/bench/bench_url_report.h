// What `tern bench --url` prints: a table that defines its terms, or JSON.
#pragma once

#include <optional>
#include <string>

#include "cli/terminal/terminal.h"
#include "load/load_run.h"
#include "load/metrics.h"
#include "load/same_replies.h"

namespace tern::cli {

struct LoadReport {
  const load::LoadOptions& options;
  const load::LoadResult& result;
  const load::Metrics& metrics;
  const load::Deadlines& deadlines;
  std::string prompts = {};                  // "made text of about 128 tokens"
  std::optional<load::SameCheck> same = {};  // if replies were compared
};

// "model-x at http://127.0.0.1:8080/v1" and "chat · 4 clients · …".
std::string load_title(const LoadReport& report);
std::string load_subtitle(const LoadReport& report);

std::string load_table(const LoadReport& report, const Style& style);

// `with_rows`: also includes the record of each request.
std::string load_json(const LoadReport& report, bool with_rows);

// "12 × answered with an error (HTTP 503: busy)"
std::string failure_line(const load::Failures& failures);

}  // namespace tern::cli
