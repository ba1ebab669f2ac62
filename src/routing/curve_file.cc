#include "routing/curve_file.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/files/cache_folder.h"
#include "base/files/mapped_file.h"
#include "base/fnv1a.h"
#include "base/json_reader.h"
#include "file/output_file.h"
#include "routing/cost_curve.h"

namespace tern {
namespace {

constexpr int kFormat = 2;
constexpr size_t kMostBytes = size_t{1} << 20;  // a curve takes a few kilobytes

// [tokens, seconds] or [tokens, seconds, joules].
Json point_json(const CurvePoint& point) {
  Json json = {point.tokens, point.cost.seconds};
  if (point.cost.joules) json.push_back(*point.cost.joules);
  return json;
}

Json points_json(const std::vector<CurvePoint>& points) {
  Json json = Json::array();
  for (const CurvePoint& point : points) json.push_back(point_json(point));
  return json;
}

Result<int> read_count(const Json& json, std::string_view path) {
  const bool fits = json.is_number_unsigned() && json.get<uint64_t>() <= uint64_t{1} << 30;
  if (!fits) return fail(ErrorCode::kCorruption, "{}: a number of tokens or replies is none", path);
  return json.get<int>();
}

// Reads the seconds at json[at] and the optional joules after them.
Result<Cost> read_cost(const Json& json, size_t at, std::string_view path) {
  const bool is_right = json.is_array() && (json.size() == at + 1 || json.size() == at + 2) && json[at].is_number() &&
                        json.back().is_number();
  if (!is_right) return fail(ErrorCode::kCorruption, "{}: a cost is not [seconds] or [seconds, joules]", path);
  Cost cost{.seconds = json[at].get<double>()};
  if (json.size() == at + 2) cost.joules = json[at + 1].get<double>();
  return cost;
}

Result<std::vector<CurvePoint>> read_points(const Json& json, std::string_view path) {
  std::vector<CurvePoint> points;
  for (const Json& entry : json) {
    TRY(const Cost cost, read_cost(entry, 1, path));
    TRY(const int tokens, read_count(entry[0], path));
    points.push_back({.tokens = tokens, .cost = cost});
  }
  return points;
}

Result<const Json*> needed(const Json& object, const char* key, Json::value_t type, std::string_view path) {
  TRY(const Json* found, member(object, key, type, path));
  if (found) return found;
  return fail(ErrorCode::kCorruption, "{}: there is no \"{}\"", path, key);
}

Result<std::vector<StepCurve>> read_steps(const Json& json, std::string_view path) {
  std::vector<StepCurve> steps;
  for (const Json& entry : json) {
    if (!entry.is_object()) return fail(ErrorCode::kCorruption, "{}: a curve of steps is no object", path);
    TRY(const Json* replies, needed(entry, "replies", Json::value_t::number_unsigned, path));
    TRY(const Json* points, needed(entry, "points", Json::value_t::array, path));
    StepCurve curve;
    TRY(curve.replies, read_count(*replies, path));
    TRY(curve.points, read_points(*points, path));
    steps.push_back(std::move(curve));
  }
  return steps;
}

}  // namespace

std::string curve_text(const CostCurve& curve, std::string_view version) {
  Json steps = Json::array();
  for (const StepCurve& each : curve.steps) {
    steps.push_back({{"replies", each.replies}, {"points", points_json(each.points)}});
  }
  Json setup = {curve.setup.seconds};
  if (curve.setup.joules) setup.push_back(*curve.setup.joules);
  const Json json = {{"format", kFormat},
                     {"tern", version},
                     {"device", curve.device},
                     {"model", curve.model},
                     {"backend", backend_name(curve.backend)},
                     {"setup", std::move(setup)},
                     {"prompt", points_json(curve.prompt)},
                     {"steps", std::move(steps)},
                     {"kv_seconds", {curve.kv_out_seconds, curve.kv_in_seconds}},
                     {"energy_source", curve.energy_source},
                     {"energy_reason", curve.energy_reason}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<CostCurve> parse_curve(std::string_view text, std::string_view version, std::string_view path) {
  TRY(const Json json, parse_json(text, path, {.max_bytes = kMostBytes, .unique_names = true}));
  if (!json.is_object()) return fail(ErrorCode::kCorruption, "{}: no object", path);
  TRY(const Json* format, needed(json, "format", Json::value_t::number_unsigned, path));
  TRY(const std::string measured_by, string_or(json, "tern", "", path));
  if (*format != kFormat || measured_by != version) {
    return fail(ErrorCode::kCorruption, "{}: measured by another version of Tern", path);
  }
  CostCurve curve;
  TRY(curve.device, string_or(json, "device", "", path));
  TRY(curve.model, string_or(json, "model", "", path));
  TRY(const std::string backend, string_or(json, "backend", "", path));
  if (backend != "cpu" && backend != "webgpu") return fail(ErrorCode::kCorruption, "{}: no such backend", path);
  curve.backend = backend == "cpu" ? BackendKind::kCpu : BackendKind::kWebGpu;
  TRY(const Json* setup, needed(json, "setup", Json::value_t::array, path));
  TRY(curve.setup, read_cost(*setup, 0, path));
  TRY(const Json* prompt, needed(json, "prompt", Json::value_t::array, path));
  TRY(curve.prompt, read_points(*prompt, path));
  TRY(const Json* steps, needed(json, "steps", Json::value_t::array, path));
  TRY(curve.steps, read_steps(*steps, path));
  TRY(const Json* kv_seconds, needed(json, "kv_seconds", Json::value_t::array, path));
  if (kv_seconds->size() != 2 || !kv_seconds->front().is_number() || !kv_seconds->back().is_number()) {
    return fail(ErrorCode::kCorruption, "{}: \"kv_seconds\" is not two numbers", path);
  }
  curve.kv_out_seconds = kv_seconds->front().get<double>();
  curve.kv_in_seconds = kv_seconds->back().get<double>();
  TRY(curve.energy_source, string_or(json, "energy_source", "", path));
  TRY(curve.energy_reason, string_or(json, "energy_reason", "", path));
  if (const auto right = check_curve(curve); !right) {
    return fail(ErrorCode::kCorruption, "{}: {}", path, right.error().message);
  }
  return curve;
}

std::string CurveFolder::path_of(std::string_view device, std::string_view model) const {
  return format_text("{}/{:016x}.json", folder_, fnv1a(format_text("{}\n{}", device, model)));
}

std::optional<CostCurve> CurveFolder::find(std::string_view device, std::string_view model) const {
  if (folder_.empty()) return std::nullopt;
  const std::string path = path_of(device, model);
  const auto text = read_text_file(path);
  if (!text) return std::nullopt;
  auto curve = parse_curve(*text, version_, path);
  if (!curve || curve->device != device || curve->model != model) return std::nullopt;
  return *std::move(curve);
}

bool CurveFolder::exists() const {
  std::error_code error;
  return !folder_.empty() && std::filesystem::is_directory(folder_, error);
}

Result<void> CurveFolder::keep(const CostCurve& curve) const {
  if (folder_.empty()) return {};
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) return fail(ErrorCode::kIo, "{}: cannot be made: {}", folder_, error.message());
  TRY(OutputFile file, OutputFile::create(path_of(curve.device, curve.model)));
  const std::string text = curve_text(curve, version_);
  TRY_STATUS(file.write(std::as_bytes(std::span(text))));
  return file.finish();
}

std::string default_curve_folder() {
  const std::string folder = user_cache_folder();
  return folder.empty() ? "" : folder + "/curves";
}

}  // namespace tern
