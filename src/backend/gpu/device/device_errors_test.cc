// Errors and their messages: texts, bindings, memory, and the loss of a device.
#include <cstdlib>

#include "backend/gpu/device/device_test_support.h"

namespace tern::gpu {
namespace {

using testing::Test;

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

template <class T>
void expect_error(const Result<T>& result, ErrorCode code, std::initializer_list<std::string_view> parts) {
  ASSERT_FALSE(result) << "expected: " << (parts.size() > 0 ? *parts.begin() : "an error");
  EXPECT_EQ(result.error().code, code) << result.error().message;
  for (const std::string_view part : parts)
    EXPECT_TRUE(contains(result.error().message, part)) << part << " is not in: " << result.error().message;
  EXPECT_FALSE(contains(result.error().message, "\n")) << result.error().message;
}

TEST_F(DeviceTest, NamesTheLineOfAWrongText) {
  expect_error(device->pipeline(body_module("wrong", "let x = nothing;")), ErrorCode::kNotSupported,
               {"kernel wrong, line 3:11: ", "nothing"});
  expect_error(device->pipeline(body_module("syntax", "let x = ;")), ErrorCode::kNotSupported,
               {"kernel syntax, line 3:"});
  EXPECT_TRUE(device->check()) << "an error that was returned must not come again";
  EXPECT_EQ(device->pipeline_stats().compiled, 0);
}

TEST_F(DeviceTest, NamesTheKernelWhoseBindingsAreWrong) {
  wgsl::Module module = add_module();
  module.bindings.pop_back();
  expect_error(device->pipeline(module), ErrorCode::kNotSupported, {"kernel add: WebGPU: "});
  EXPECT_TRUE(device->check());
}

TEST_F(DeviceTest, RefusesWrongViews) {
  const auto x = words(iota(64)), y = words(iota(64)), uniform = words({1, 2, 3, 4}, BufferUse::kUniform);
  const Pipeline* add = device->pipeline(add_module()).value();
  const auto refused = [&](BufferView a, BufferView b, std::string_view part) {
    const BufferView views[] = {a, b};
    expect_error(device->bind(*add, views), ErrorCode::kInvalidArgument, {"kernel add", part});
  };
  refused({x.get(), 4}, {y.get()}, "multiple of");
  refused({x.get(), 256}, {y.get()}, "buffer's bytes");
  refused({x.get(), 0, 260}, {y.get()}, "buffer's bytes");
  refused({uniform.get()}, {y.get()}, "is storage");
  refused({x.get()}, {x.get()}, "y writes to the buffer that x reads");
  const BufferView one[] = {{x.get()}};
  expect_error(device->bind(*add, one), ErrorCode::kInvalidArgument, {"2 bindings, not 1"});
  const BufferView good[] = {{x.get()}, {y.get()}};
  EXPECT_TRUE(device->bind(*add, good));
}

TEST_F(DeviceTest, RefusesWrongCommands) {
  const auto x = words(iota(64)), y = words(iota(64));
  const Pipeline* add = device->pipeline(add_module()).value();
  const BufferView views[] = {{x.get()}, {y.get()}};
  const auto group = device->bind(*add, views).value();
  const Command wide = {
      .pipeline = add, .bindings = group.get(), .grid = {1, device->limits().workgroups + 1}, .from = {}, .to = {}};
  expect_error(device->submit({&wide, 1}), ErrorCode::kInvalidArgument, {"kernel add", "workgroups"});
  const Command outside = {.grid = {}, .from = {x.get(), 128, 132}, .to = {y.get()}};
  expect_error(device->submit({&outside, 1}), ErrorCode::kInvalidArgument, {"copy of 132 bytes"});
  const Command same = {.grid = {}, .from = {x.get(), 0, 4}, .to = {x.get(), 8}};
  expect_error(device->submit({&same, 1}), ErrorCode::kInvalidArgument, {"two buffers"});
  const std::byte bytes[8] = {};
  expect_error(device->write(*x, 2, bytes), ErrorCode::kInvalidArgument, {"multiples of 4"});
  expect_error(device->write(*x, 252, bytes), ErrorCode::kInvalidArgument, {"8 bytes at 252"});
  std::byte out[8];
  expect_error(device->read({x.get(), 252, 8}, out), ErrorCode::kInvalidArgument, {"8 bytes at 252"});
}

// Only WebGPU notices that the bound uniform is too small for the kernel, and only at the dispatch.
TEST_F(DeviceTest, ReportsWhatValidationFindsLater) {
  wgsl::Module module = add_module();
  module.text =
      "@group(0) @binding(0) var<uniform> p: array<vec4<u32>, 4>;\n"
      "@group(0) @binding(1) var<storage, read_write> y: array<u32>;\n"
      "@compute @workgroup_size(1) fn add() { y[0] = p[3].x; }\n";
  module.bindings[0] = {.name = "p", .access = wgsl::Access::kUniform, .element_bytes = 4};  // wrong on purpose
  const auto p = words({1, 2, 3, 4}, BufferUse::kUniform), y = words({0});
  const Pipeline* pipeline = device->pipeline(module).value();
  const BufferView views[] = {{p.get()}, {y.get()}};
  const auto group = device->bind(*pipeline, views).value();
  const Command command = {.pipeline = pipeline, .bindings = group.get(), .grid = {}, .from = {}, .to = {}};
  expect_error(device->submit({&command, 1}), ErrorCode::kNotSupported, {"WebGPU: "});
  EXPECT_TRUE(device->check());
}

TEST_F(DeviceTest, SaysWhatDoesNotFit) {
  expect_error(device->new_buffer("huge", uint64_t{1} << 60, BufferUse::kWork), ErrorCode::kOutOfMemory,
               {"huge", "1152921504606846976"});
  expect_error(device->new_buffer("none", 0, BufferUse::kWork), ErrorCode::kInvalidArgument, {"none"});
  EXPECT_TRUE(device->check());
  EXPECT_EQ(device->allocated_bytes(), 0u);
}

TEST_F(DeviceTest, ALostDeviceStaysLost) {
  const auto x = words(iota(64)), y = words(iota(64));
  const Pipeline* add = device->pipeline(add_module()).value();
  const BufferView views[] = {{x.get()}, {y.get()}};
  const auto group = device->bind(*add, views).value();
  const Command command = {.pipeline = add, .bindings = group.get(), .grid = {}, .from = {}, .to = {}};
  const auto before = device->read_later({y.get(), 0, 4}, {&command, 1}).value();
  device->lose();
  for (int i = 0; i < 2; ++i) {
    expect_error(device->check(), ErrorCode::kDeviceLost, {device->adapter().name, "lost on request"});
    expect_error(device->submit({&command, 1}), ErrorCode::kDeviceLost, {});
    expect_error(device->new_buffer("late", 4, BufferUse::kWork), ErrorCode::kDeviceLost, {});
    expect_error(device->write(*x, 0, std::as_bytes(std::span(views, 0))), ErrorCode::kDeviceLost, {});
    expect_error(device->pipeline(add_module()), ErrorCode::kDeviceLost, {});
    expect_error(device->pipeline(add_module(7)), ErrorCode::kDeviceLost, {});
    expect_error(device->bind(*add, views), ErrorCode::kDeviceLost, {});
    expect_error(device->read_later({y.get(), 0, 4}, {}), ErrorCode::kDeviceLost, {});
    std::byte out[4];
    expect_error(device->read({y.get(), 0, 4}, out), ErrorCode::kDeviceLost, {});
    expect_error(device->time({&command, 1}), ErrorCode::kDeviceLost, {});
    expect_error(device->wait(), ErrorCode::kDeviceLost, {});
  }
  expect_error(before->wait(), ErrorCode::kDeviceLost, {});
}

TEST_F(DeviceTest, LeavesOutWhatItIsToldTo) {
  open({.validation = true,
        .without = {.f16 = true, .subgroups = true, .packed_dot = true, .timestamps = true, .default_limits = true}});
  const Features& features = device->features();
  EXPECT_FALSE(features.f16 || features.subgroups || features.packed_dot || features.timestamps);
  EXPECT_TRUE(features.matrices.empty());
  EXPECT_EQ(features.subgroup_max, 0u);
  EXPECT_EQ(device->limits().binding_bytes, uint64_t{128} << 20);
  EXPECT_EQ(device->limits().invocations, 256u);
  EXPECT_EQ(device->limits().workgroup_bytes, 16384u);
  EXPECT_EQ(device->limits().storage_buffers, 8u);

  // The compiler refuses features that are off, even if the kernel does not declare them.
  const auto refused = [&](const std::string& name, const std::string& body, const std::string& head) {
    expect_error(device->pipeline(body_module(name, body, head)), ErrorCode::kNotSupported, {"kernel " + name});
  };
  refused("half", "var x = 1.0h;", "enable f16;\n");
  refused("sub", "let x = subgroupAdd(1u);", "enable subgroups;\n");
  refused("matrix", "", "enable chromium_experimental_subgroup_matrix;\n");
  expect_error(device->time({}), ErrorCode::kNotSupported, {});

  wgsl::Module needy = add_module();
  needy.needs.f16 = true;
  expect_error(device->pipeline(needy), ErrorCode::kNotSupported, {"kernel add", "f16"});
  needy = add_module();
  needy.needs.packed_dot = true;
  expect_error(device->pipeline(needy), ErrorCode::kNotSupported, {"kernel add", "packed 8-bit dot products"});
  needy = add_module();
  needy.needs.invocations = 1024;
  expect_error(device->pipeline(needy), ErrorCode::kNotSupported, {"kernel add", "1024 invocations"});
  EXPECT_TRUE(device->check());
}

TEST_F(DeviceTest, UsesWhatTheAdapterOffers) {
  const Features offered = device->adapter().features;
  EXPECT_EQ(device->features().f16, offered.f16);
  EXPECT_EQ(device->features().subgroup_max, offered.subgroup_max);
  EXPECT_EQ(device->features().matrices, offered.matrices);
  EXPECT_EQ(device->limits().buffer_bytes, device->adapter().limits.buffer_bytes);
  EXPECT_EQ(device->limits().invocations, device->adapter().limits.invocations);
  if (offered.f16) {
    EXPECT_TRUE(device->pipeline(body_module("half", "var x = 1.0h;", "enable f16;\n")));
  }
  if (offered.subgroups) {
    EXPECT_TRUE(device->pipeline(body_module("sub", "let x = subgroupAdd(1u);", "enable subgroups;\n")));
  }
  if (offered.packed_dot) {
    EXPECT_TRUE(device->pipeline(body_module("dot4", "let x = dot4I8Packed(1u, 2u);")));
  }
}

TEST_F(DeviceTest, IsFoundByNameAndIndex) {
  const auto adapters = list_adapters().value();
  for (const AdapterInfo& adapter : adapters) {
    EXPECT_EQ(adapters[adapter.index].name, adapter.name);
    open({.adapter = std::to_string(adapter.index)});
    EXPECT_EQ(device->adapter().index, adapter.index);
  }
  std::string part = adapters[0].name.substr(1, 5);
  for (char& c : part) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  open({.adapter = part});
  EXPECT_EQ(device->adapter().name, adapters[0].name);
  expect_error(open_device({.adapter = "no such GPU"}), ErrorCode::kNotFound,
               {"'no such GPU'", "0 (" + adapters[0].name});
  expect_error(open_device({.adapter = "99"}), ErrorCode::kNotFound, {"'99'"});
}

class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    setenv(name, value, 1);
  }
  ~Environment() { old_ ? setenv(name_, old_->c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

TEST(Adapters, SaysWhatToInstallWhereThereIsNone) {
  const Environment drivers("VK_DRIVER_FILES", "/nowhere.json"), old_name("VK_ICD_FILENAMES", "/nowhere.json");
  expect_error(list_adapters(), ErrorCode::kNotFound, {"no GPU", "install", "mesa-vulkan-drivers"});
  expect_error(open_device({}), ErrorCode::kNotFound, {"no GPU", "install"});
}

TEST(ValidationDevice, ChecksTexts) {
  const auto device = open_validation_device().value();
  EXPECT_TRUE(device->pipeline(add_module()));
  EXPECT_TRUE(device->pipeline(body_module("half", "var x = 1.0h;", "enable f16;\nenable subgroups;\n")));
  expect_error(device->pipeline(body_module("wrong", "let x = nothing;")), ErrorCode::kNotSupported,
               {"kernel wrong, line 3:11: "});
  expect_error(device->pipeline(body_module("types", "let x = 1u + 1.0f;")), ErrorCode::kNotSupported,
               {"kernel types, line 3:"});
  wgsl::Module module = add_module();
  module.bindings[1].access = wgsl::Access::kRead;
  module.text += "// another text";
  expect_error(device->pipeline(module), ErrorCode::kNotSupported, {"kernel add"});
}

// Kernels beyond the guaranteed limits, or with matrices of any shape, are still checked as texts.
TEST(ValidationDevice, ChecksTextsThatTheNullBackendCannotRun) {
  const auto device = open_validation_device().value();
  wgsl::Module wide = add_module();
  wide.text.replace(wide.text.find("(64)"), 4, "(1024)");
  wide.needs.invocations = 1024;
  EXPECT_TRUE(device->pipeline(wide));
  wide.text += "fn more() { let x = nothing; }\n";
  expect_error(device->pipeline(wide), ErrorCode::kNotSupported, {"kernel add, line 7:"});

  const std::string head =
      "enable chromium_experimental_subgroup_matrix;\nenable f16;\n"
      "@group(0) @binding(0) var<storage, read_write> x: array<f16>;\n";
  wgsl::Module matrix =
      body_module("matrix", "let a = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>>(&x, 0, false, 16);", head);
  matrix.bindings = {{.name = "x", .access = wgsl::Access::kReadWrite, .element_bytes = 2}};
  matrix.needs.f16 = matrix.needs.subgroup_matrix = true;
  matrix.needs.matrices = {{wgsl::MatrixTypes::kF16ToF32, 16, 16, 16}};
  const auto checked = device->pipeline(matrix);
  EXPECT_TRUE(checked) << checked.error().message;
}

}  // namespace
}  // namespace tern::gpu
