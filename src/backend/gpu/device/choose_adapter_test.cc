#include "backend/gpu/device/choose_adapter.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace tern::gpu {
namespace {

namespace fs = std::filesystem;

std::vector<AdapterInfo> adapters(std::initializer_list<std::pair<const char*, AdapterType>> list) {
  std::vector<AdapterInfo> infos;
  for (const auto& [name, type] : list) {
    AdapterInfo info;
    info.index = static_cast<int>(infos.size());
    info.name = name;
    info.type = type;
    infos.push_back(info);
  }
  return infos;
}

const auto kTwo = adapters({{"NVIDIA H200", AdapterType::kDiscrete}, {"llvmpipe (LLVM)", AdapterType::kSoftware}});
const auto kSoftware = adapters({{"llvmpipe (LLVM)", AdapterType::kSoftware}});

TEST(ChooseAdapter, TheFirstUnlessOneIsWanted) {
  EXPECT_EQ(choose_adapter(kTwo, "", false), 0u);
  EXPECT_EQ(choose_adapter(kTwo, "LLVM", false), 1u);
  EXPECT_EQ(choose_adapter(kTwo, "1", false), 1u);
  EXPECT_EQ(choose_adapter(kTwo, "h200", false), 0u);
  EXPECT_EQ(choose_adapter(kSoftware, "", false), 0u);
}

TEST(ChooseAdapter, OnlyHardwareWhereAskedFor) {
  EXPECT_EQ(choose_adapter(kTwo, "", true), 0u);
  EXPECT_EQ(choose_adapter(adapters({{"Iris", AdapterType::kIntegrated}}), "", true), 0u);
  for (const auto& list : {kSoftware, adapters({{"who knows", AdapterType::kUnknown}}), adapters({})}) {
    const auto chosen = choose_adapter(list, "", true);
    ASSERT_FALSE(chosen);
    EXPECT_EQ(chosen.error().code, ErrorCode::kNotFound);
  }
  EXPECT_EQ(choose_adapter(kSoftware, "llvmpipe", true), 0u);  // asked for by name
}

TEST(ChooseAdapter, SaysWhatThereIs) {
  const auto chosen = choose_adapter(kTwo, "Radeon", false);
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(chosen.error().message, "no GPU is called 'Radeon'; there are: 0 (NVIDIA H200), 1 (llvmpipe (LLVM))");
}

#if defined(__linux__)
TEST(MayHaveHardware, LooksForWhatDriversLeave) {
  const fs::path dev = fs::path(testing::TempDir()) / "tern-dev";
  fs::remove_all(dev);
  EXPECT_FALSE(may_have_hardware(dev.string()));
  const auto touch = [&](const char* name) { std::ofstream(dev / name) << ""; };
  fs::create_directories(dev / "dri");
  touch("null");
  touch("dri/card0");  // a display device without compute
  EXPECT_FALSE(may_have_hardware(dev.string()));
  for (const char* name : {"dri/renderD128", "nvidia0", "dxg"}) {
    touch(name);
    EXPECT_TRUE(may_have_hardware(dev.string())) << name;
    fs::remove(dev / name);
  }
  fs::remove_all(dev);
}
#endif

}  // namespace
}  // namespace tern::gpu
