// The costs of devices as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/terminal/terminal.h"
#include "tern/routing.h"

namespace tern::cli {

struct CostReport {
  const CurveSet& set;
  ExpectedJob job;
  Prefer prefer;
  // Measured cost of the job on each of routes_of(), where it could be run; empty: not run.
  std::vector<std::optional<JobCost>> measured = {};
};

// The routes of the job that are compared: each device alone, and the best of those with two devices.
std::vector<Route> routes_of(const CostReport& report);

std::string cost_page(const CostReport& report, const Style& style);
std::string cost_json(const CostReport& report);

// Parts that other reports share.
std::string seconds_text(double seconds);
std::string cost_text(const Cost& cost);  // "1.25 s", "1.25 s, 30 J"
std::string_view prefer_name(Prefer prefer);
nlohmann::ordered_json job_json(const ExpectedJob& job, Prefer prefer);
nlohmann::ordered_json cost_json(const Cost& cost);
nlohmann::ordered_json cost_json(const JobCost& cost);

}  // namespace tern::cli
