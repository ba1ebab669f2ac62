#include "backend/gpu/device/dawn/blob_cache.h"

#include <unistd.h>

#include <fstream>

#include "backend/gpu/device/device_test_support.h"

namespace tern::gpu {
namespace {

namespace fs = std::filesystem;

class BlobCacheTest : public testing::Test {
 protected:
  void SetUp() override { fs::remove_all(folder); }
  void TearDown() override { fs::remove_all(folder); }

  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder)) found.push_back(entry.path());
    return found;
  }

  const fs::path folder = fs::temp_directory_path() / ("tern_blob_cache_test." + std::to_string(getpid())) / "deep";
};

std::string load(BlobCache& cache, std::string_view key) {
  std::string blob(cache.load(as_bytes(key), {}), '\0');
  EXPECT_EQ(cache.load(as_bytes(key), std::as_writable_bytes(std::span(blob))), blob.size());
  return blob;
}

TEST_F(BlobCacheTest, KeepsBlobs) {
  {
    BlobCache cache(folder);
    cache.store(as_bytes("key"), as_bytes("a blob"));
    cache.store(as_bytes("kez"), as_bytes("another"));
    cache.store(as_bytes("key"), as_bytes("a newer blob"));
  }
  BlobCache cache(folder);
  EXPECT_EQ(load(cache, "key"), "a newer blob");
  EXPECT_EQ(load(cache, "kez"), "another");
  EXPECT_EQ(load(cache, "unknown"), "");
  EXPECT_EQ(cache.hits(), 2);
  EXPECT_EQ(files().size(), 2u);
}

TEST_F(BlobCacheTest, AnyDamageIsAMiss) {
  BlobCache cache(folder);
  cache.store(as_bytes("key"), as_bytes("some blob of bytes"));
  const fs::path file = files().at(0);
  std::string whole(fs::file_size(file), '\0');
  std::ifstream(file, std::ios::binary).read(whole.data(), static_cast<std::streamsize>(whole.size()));
  const auto with = [&](const std::string& content) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << content;
    return cache.load(as_bytes("key"), {});
  };
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_EQ(with(changed), 0u) << "byte " << i;
    EXPECT_EQ(with(whole.substr(0, i)), 0u) << "cut at " << i;
  }
  EXPECT_EQ(with(whole + "more"), 0u);
  EXPECT_EQ(with(whole), 18u);
}

TEST_F(BlobCacheTest, AFileOfAnotherKeyIsAMiss) {
  BlobCache cache(folder);
  cache.store(as_bytes("key"), as_bytes("blob"));
  const fs::path file = files().at(0);
  cache.store(as_bytes("other"), as_bytes("blob of other"));
  for (const fs::path& path : files()) {
    if (path != file) fs::rename(path, file);
  }
  EXPECT_EQ(cache.load(as_bytes("key"), {}), 0u);
}

TEST_F(BlobCacheTest, AFolderThatCannotBeIsNoError) {
  BlobCache cache("/dev/null/cache");
  cache.store(as_bytes("key"), as_bytes("blob"));
  EXPECT_EQ(cache.load(as_bytes("key"), {}), 0u);
}

class DeviceCacheTest : public BlobCacheTest {
 protected:
  // Opens a device, compiles a kernel, and runs it: the answer must be right whatever is in the cache.
  PipelineStats run() {
    auto device = open_device({.cache_dir = folder.string()}).value();
    const Pipeline* add = device->pipeline(add_module(5)).value();
    const auto x = device->new_buffer("x", 4, BufferUse::kWork).value();
    const auto y = device->new_buffer("y", 4, BufferUse::kWork).value();
    const BufferView views[] = {{x.get()}, {y.get()}};
    const auto group = device->bind(*add, views).value();
    const Command command = {.pipeline = add, .bindings = group.get(), .grid = {}, .from = {}, .to = {}};
    const auto read = device->read_later({y.get()}, {&command, 1}).value();
    EXPECT_EQ(tern::load<uint32_t>(read->wait().value().data()), 5u);
    return device->pipeline_stats();
  }
};

TEST_F(DeviceCacheTest, TheSecondRunFindsItsPipelines) {
  if (const auto adapters = list_adapters(); !adapters) GTEST_SKIP() << adapters.error().message;
  EXPECT_EQ(run().disk_hits, 0);
  EXPECT_FALSE(files().empty());
  EXPECT_GT(run().disk_hits, 0);
  for (const fs::path& file : files()) std::ofstream(file, std::ios::binary | std::ios::in).seekp(60) << "broken";
  EXPECT_EQ(run().disk_hits, 0);
  for (const fs::path& file : files()) fs::resize_file(file, 40);
  EXPECT_EQ(run().disk_hits, 0);
  EXPECT_GT(run().disk_hits, 0);  // it was rewritten
}

}  // namespace
}  // namespace tern::gpu
