// Opens the browser's device and parses the description of it.
#include <algorithm>
#include <charconv>
#include <map>

#include "backend/gpu/device/choose_adapter.h"
#include "backend/gpu/device/device_checks.h"
#include "backend/gpu/device/web/device.h"
#include "backend/gpu/device/web/library_gpu.h"
#include "base/web/take_text.h"

namespace tern::gpu {
namespace {

using Facts = std::map<std::string, std::string, std::less<>>;

// "key=value" lines.
Facts parse_facts(std::string_view text) {
  Facts facts;
  for (const std::string_view line : parts_of(text, '\n')) {
    const size_t equals = std::min(line.find('='), line.size());
    facts.emplace(line.substr(0, equals), line.substr(std::min(equals + 1, line.size())));
  }
  return facts;
}

uint64_t number(const Facts& facts, std::string_view key) {
  uint64_t value = 0;
  const auto found = facts.find(key);
  if (found != facts.end()) {
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), value);
  }
  return value;
}

std::string text_of(const Facts& facts, std::string_view key) {
  const auto found = facts.find(key);
  return found == facts.end() ? "" : found->second;
}

std::optional<wgsl::MatrixTypes> types_of(std::string_view from, std::string_view to) {
  if (from == "i8" && to == "i32") return wgsl::MatrixTypes::kI8ToI32;
  if (from == "f16" && to == "f32") return wgsl::MatrixTypes::kF16ToF32;
  if (from == "f16" && to == "f16") return wgsl::MatrixTypes::kF16ToF16;
  if (from == "f32" && to == "f32") return wgsl::MatrixTypes::kF32ToF32;
  return std::nullopt;
}

// "f16 f32 16 16 16,i8 i32 16 16 32"
std::vector<wgsl::MatrixShape> parse_matrices(std::string_view text) {
  std::vector<wgsl::MatrixShape> shapes;
  for (const std::string_view shape : parts_of(text, ',')) {
    const auto words = parts_of(shape, ' ');
    if (words.size() != 5) continue;
    const auto types = types_of(words[0], words[1]);
    uint32_t sizes[3] = {};
    for (size_t i = 0; i < 3; ++i) {
      std::from_chars(words[i + 2].data(), words[i + 2].data() + words[i + 2].size(), sizes[i]);
    }
    if (types) shapes.push_back({*types, sizes[0], sizes[1], sizes[2]});
  }
  return shapes;
}

AdapterInfo adapter_of(const Facts& facts) {
  const auto small = [&](std::string_view key) { return static_cast<uint32_t>(number(facts, key)); };
  AdapterInfo info;
  info.name = text_of(facts, "name");
  info.vendor = text_of(facts, "vendor");
  info.driver = text_of(facts, "driver");
  info.api = "browser";
  info.type = number(facts, "software") != 0 ? AdapterType::kSoftware : AdapterType::kUnknown;
  info.limits = {.binding_bytes = number(facts, "binding_bytes"),
                 .uniform_bytes = number(facts, "uniform_bytes"),
                 .buffer_bytes = number(facts, "buffer_bytes"),
                 .offset_alignment = small("offset_alignment"),
                 .workgroups = small("workgroups"),
                 .invocations = small("invocations"),
                 .workgroup_bytes = small("workgroup_bytes"),
                 .storage_buffers = small("storage_buffers"),
                 .immediate_bytes = 0};
  info.features = {.f16 = number(facts, "f16") != 0,
                   .subgroups = number(facts, "subgroups") != 0,
                   .packed_dot = number(facts, "packed_dot") != 0,
                   .timestamps = number(facts, "timestamps") != 0,
                   .subgroup_min = small("subgroup_min"),
                   .subgroup_max = small("subgroup_max"),
                   .matrices = parse_matrices(text_of(facts, "matrices"))};
  return info;
}

// One bit for each excluded feature, in the order of library_gpu.js; bit 8: the guaranteed limits.
int bits_of(const Restrictions& without) {
  return int{without.f16} | int{without.subgroups} << 1 | int{without.timestamps} << 2 |
         int{without.subgroup_matrix || without.subgroups} << 3 | int{without.default_limits} << 8;
}

}  // namespace

WebDevice::WebDevice(AdapterInfo info, const Restrictions& without)
    : info_(std::move(info)), features_(restricted(info_.features, without)) {
  if (without.memory_bytes > 0) info_.memory_bytes = without.memory_bytes;
}

Result<std::unique_ptr<WebDevice>> WebDevice::open(const DeviceOptions& options) {
  const std::string text = take_text(tern_gpu_open(bits_of(options.without), options.only_hardware ? 1 : 0));
  const Facts facts = parse_facts(text);
  if (const auto error = facts.find("error"); error != facts.end())
    return fail(ErrorCode::kNotFound, "{}", error->second);
  return std::unique_ptr<WebDevice>(new WebDevice(adapter_of(facts), options.without));
}

Result<std::vector<AdapterInfo>> list_adapters() {
  TRY(const auto device, WebDevice::open({}));
  return std::vector{device->adapter()};
}

Result<std::unique_ptr<Device>> open_device(const DeviceOptions& options) { return WebDevice::open(options); }

// Not needed: a page requests its backend explicitly.
bool may_have_hardware(const std::string& /*dev*/) { return false; }

}  // namespace tern::gpu
