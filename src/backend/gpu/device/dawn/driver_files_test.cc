#include "backend/gpu/device/dawn/driver_files.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>

namespace tern::gpu {
namespace {

class DriverFilesTest : public testing::Test {
 protected:
  std::string folder(const std::string& name, std::initializer_list<const char*> files) {
    const std::string path = testing::TempDir() + "driver_files_" + name;
    std::filesystem::remove_all(path);
    std::filesystem::create_directory(path);
    for (const char* file : files) std::ofstream(path + "/" + file) << "{}";
    return path;
  }
};

TEST_F(DriverFilesTest, AddsWhatTheSystemLacks) {
  const std::string own = folder("own", {"radeon_icd.json", "intel_icd.json", "lvp_icd.json", "README"});
  const std::array system = {folder("system", {"radeon_icd.x86_64.json", "lvp_icd.x86_64.json"})};
  EXPECT_EQ(drivers_to_add(own, system), own + "/intel_icd.json:" + own + "/lvp_icd.json");
}

TEST_F(DriverFilesTest, AddsNothingFromAFolderThatIsNotThere) {
  EXPECT_EQ(drivers_to_add(testing::TempDir() + "no_such_folder", {}), "");
}

}  // namespace
}  // namespace tern::gpu
