#include "file/gguf/gguf_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/files/mapped_file.h"
#include "base/result_test_support.h"
#include "base/text/format_text.h"
#include "file/gguf/gguf_test_support.h"

namespace tern {
namespace {

namespace fs = std::filesystem;
using enum ErrorCode;
using namespace std::string_view_literals;
using Shape = std::vector<int64_t>;

// A separate directory for each test, removed afterwards.
class GgufWriterTest : public testing::Test {
 protected:
  GgufWriterTest() {
    dir_ = fs::path(testing::TempDir()) /
           format_text("tern_gguf_writer_{}", testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(dir_);
    fs::create_directories(dir_);
  }
  ~GgufWriterTest() override { fs::remove_all(dir_); }
  std::string path() const { return (dir_ / "m.gguf").string(); }
  size_t files_in_dir() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(dir_), fs::directory_iterator{}));
  }

  fs::path dir_;
};

#define ASSERT_OK(...)                                   \
  do {                                                   \
    const auto ok_result = __VA_ARGS__;                  \
    ASSERT_TRUE(ok_result) << ok_result.error().message; \
  } while (false)

void add_all_kinds(GgufWriter& writer) {
  writer.add_u8("u8", 200);
  writer.add_i8("i8", -100);
  writer.add_u16("u16", 60000);
  writer.add_i16("i16", -30000);
  writer.add_u32("u32", 4000000000u);
  writer.add_i32("i32", -2000000000);
  writer.add_u64("u64", 1ull << 40);
  writer.add_i64("i64", -(1ll << 40));
  writer.add_f32("f32", 0.1f);
  writer.add_f64("f64", 0.1);
  writer.add_bool("bool", true);
  writer.add_string("string", "héllo");
  writer.add_u32s("u32s", std::vector<uint32_t>{1, 4000000000u});
  writer.add_i32s("i32s", std::vector<int32_t>{-1, 2});
  writer.add_f32s("f32s", std::vector<float>{0.5f, -0.25f});
  writer.add_strings("strings", std::vector{"a"sv, ""sv, "ccc"sv});
}

void expect_all_kinds(const GgufFile& file) {
  EXPECT_EQ(file.get_int("u8").value(), 200);
  EXPECT_EQ(file.get_int("i8").value(), -100);
  EXPECT_EQ(file.get_int("u16").value(), 60000);
  EXPECT_EQ(file.get_int("i16").value(), -30000);
  EXPECT_EQ(file.get_int("u32").value(), 4000000000);
  EXPECT_EQ(file.get_int("i32").value(), -2000000000);
  EXPECT_EQ(file.get_int("u64").value(), 1ll << 40);
  EXPECT_EQ(file.get_int("i64").value(), -(1ll << 40));
  EXPECT_EQ(file.get_float("f32").value(), static_cast<double>(0.1f));
  EXPECT_EQ(file.get_float("f64").value(), 0.1);
  EXPECT_EQ(file.get_bool("bool").value(), true);
  EXPECT_EQ(file.get_string("string").value(), "héllo");
  EXPECT_EQ(file.get_ints("u32s").value(), (std::vector<int64_t>{1, 4000000000}));
  EXPECT_EQ(file.get_ints("i32s").value(), (std::vector<int64_t>{-1, 2}));
  EXPECT_EQ(file.get_floats("f32s").value(), (std::vector{0.5f, -0.25f}));
  EXPECT_EQ(file.get_strings("strings").value(), (std::vector{"a"sv, ""sv, "ccc"sv}));
  EXPECT_EQ(file.metadata().size(), 16u);
}

TEST_F(GgufWriterTest, MetadataRoundTrip) {
  GgufWriter writer(path());
  add_all_kinds(writer);
  ASSERT_OK(writer.begin());
  ASSERT_OK(writer.finish());
  const auto file = GgufFile::open(path());
  ASSERT_TRUE(file) << file.error().message;
  expect_all_kinds(*file);

  const std::string copy_path = path() + ".copy";
  GgufWriter copy(copy_path);
  for (const auto& [key, value] : file->metadata()) copy.add(key, value);
  ASSERT_OK(copy.begin());
  ASSERT_OK(copy.finish());
  const auto copied = GgufFile::open(copy_path);
  ASSERT_TRUE(copied) << copied.error().message;
  expect_all_kinds(*copied);
}

// The alignment belongs to the file, not to the model, so a copy has its own.
TEST_F(GgufWriterTest, CopiedMetadataDoesNotBringItsAlignment) {
  const GgufBytes source_bytes = GgufBytes(0, 1).scalar<uint32_t>("general.alignment", 4, 4096);
  const auto source = source_bytes.parse();
  ASSERT_TRUE(source) << source.error().message;
  for (const uint32_t alignment : {32u, 64u}) {
    GgufWriter writer(path(), alignment);
    for (const auto& [key, value] : source->metadata()) writer.add(key, value);
    ASSERT_OK(writer.begin());
    ASSERT_OK(writer.finish());
    const auto file = GgufFile::open(path());
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->get_int("general.alignment").value().value_or(32), alignment);
  }
}

// The bytes equal those of the independent builder.
TEST_F(GgufWriterTest, BytesAreAsTheFormatSays) {
  GgufWriter writer(path());
  writer.add_string("general.architecture", "x");
  writer.add_strings("s", std::vector{"ab"sv});
  ASSERT_OK(writer.add_tensor("a", GgmlType::kF16, Shape{3, 5}));
  ASSERT_OK(writer.add_tensor("b", GgmlType::kI2_S, Shape{1, 128}));
  ASSERT_OK(writer.begin());
  ASSERT_OK(writer.append(as_bytes(std::string(30, 'a'))));
  ASSERT_OK(writer.append(as_bytes(std::string(64, 'b'))));
  ASSERT_OK(writer.finish());
  GgufBytes expected(2, 2);
  expected.string("general.architecture", "x").array("s", 8, 1).text("ab");
  expected.tensor("a", {5, 3}, 1, 0).tensor("b", {128, 1}, 36, 32).align();
  expected.data(30, 'a').align().data(64, 'b');
  const auto written = MappedFile::open(path());
  ASSERT_TRUE(written);
  EXPECT_EQ(as_text(written->bytes()), expected.bytes());
}

TEST_F(GgufWriterTest, StreamsInPiecesOfAnySizeAndAlignment) {
  for (const uint32_t alignment : {8u, 32u, 64u, 4096u}) {
    GgufWriter writer(path(), alignment);
    const int64_t large = 700'001;  // values: more than the file's buffer
    ASSERT_OK(writer.add_tensor("large", GgmlType::kF32, Shape{large}));
    ASSERT_OK(writer.add_tensor("small", GgmlType::kF16, Shape{3}));
    ASSERT_OK(writer.add_tensor("last", GgmlType::kF32, Shape{2, 2}));
    ASSERT_OK(writer.begin());
    std::vector<float> values(large);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    Bytes rest = std::as_bytes(std::span(values));
    for (size_t piece = 1; !rest.empty(); piece = piece * 3 + 1) {
      const size_t n = std::min(piece, rest.size());
      ASSERT_OK(writer.append(rest.first(n)));
      rest = rest.subspan(n);
    }
    ASSERT_OK(writer.append(as_bytes("abcdef")));
    ASSERT_OK(writer.append(as_bytes("0123456789")));
    ASSERT_OK(writer.append(as_bytes("ABCDEF")));
    EXPECT_FALSE(fs::exists(path()));  // not under its name until complete
    ASSERT_OK(writer.finish());
    const auto file = GgufFile::open(path());
    ASSERT_TRUE(file) << file.error().message;
    const GgufTensor* tensor = file->find_tensor("large");
    ASSERT_EQ(tensor->data.size(), values.size() * sizeof(float));
    EXPECT_EQ(std::memcmp(tensor->data.data(), values.data(), tensor->data.size()), 0);
    EXPECT_EQ(tensor->offset % alignment, 0u);
    EXPECT_EQ(as_text(file->find_tensor("small")->data), "abcdef");
    EXPECT_EQ(as_text(file->find_tensor("last")->data), "0123456789ABCDEF");
    EXPECT_EQ(file->find_tensor("last")->offset % alignment, 0u);
    fs::remove(path());
  }
}

TEST_F(GgufWriterTest, RefusesTensorsThatCannotBe) {
  GgufWriter writer(path());
  expect_failure(writer.add_tensor("t", GgmlType::kI2_S, Shape{3, 64}), kInvalidArgument,
                 "tensor 't' of shape [3, 64] cannot be stored as I2_S");
  expect_failure(writer.add_tensor("t", GgmlType::kF32, Shape{}), kInvalidArgument, "1 to 4 dimensions");
  expect_failure(writer.add_tensor("t", GgmlType::kF32, Shape{1, 1, 1, 1, 1}), kInvalidArgument, "1 to 4 dimensions");
  expect_failure(writer.add_tensor("t", static_cast<GgmlType>(15), Shape{256}), kInvalidArgument, "an unknown type");
  expect_failure(writer.add_tensor("", GgmlType::kF32, Shape{1}), kInvalidArgument, "name has 0 bytes");
  ASSERT_OK(writer.add_tensor("t", GgmlType::kF32, Shape{1}));
  expect_failure(writer.add_tensor("t", GgmlType::kF32, Shape{1}), kInvalidArgument, "declared twice");
}

TEST_F(GgufWriterTest, RefusesDoubledKeysAndWrongAmountsOfData) {
  GgufWriter doubled(path());
  doubled.add_u32("k", 1);
  doubled.add_f32("k", 1);
  expect_failure(doubled.begin(), kInvalidArgument, "metadata 'k' was added twice");
  {
    GgufWriter writer(path());
    ASSERT_OK(writer.add_tensor("t", GgmlType::kF32, Shape{2}));
    ASSERT_OK(writer.begin());
    expect_failure(writer.append(as_bytes("123456789")), kInvalidArgument, "9 bytes were given where 't' lacks 8");
    ASSERT_OK(writer.append(as_bytes("1234")));
    expect_failure(writer.finish(), kInvalidArgument, "tensor 't' has only 4 of its 8 bytes");
    ASSERT_OK(writer.append(as_bytes("1234")));
    expect_failure(writer.append(as_bytes("1")), kInvalidArgument, "no tensor");
  }
  EXPECT_EQ(files_in_dir(), 0u) << "a file that was not finished stayed behind";
}

TEST_F(GgufWriterTest, AnUnfinishedFileLeavesTheOldOneAlone) {
  std::ofstream(path()) << "old";
  {
    GgufWriter writer(path());
    ASSERT_OK(writer.begin());
  }
  EXPECT_EQ(fs::file_size(path()), 3u);
  EXPECT_EQ(files_in_dir(), 1u);
}

TEST_F(GgufWriterTest, SaysWhyItCannotWrite) {
  const std::string nowhere = (dir_ / "no_dir" / "m.gguf").string();
  expect_failure(GgufWriter(nowhere).begin(), kIo, nowhere + ": cannot create it: No such file or directory; make its");
  expect_failure(GgufWriter(dir_.string()).begin(), kIo, "Is a directory; name a file");

  GgufWriter full("/dev/full");
  ASSERT_OK(full.add_tensor("t", GgmlType::kF32, Shape{1 << 20}));
  ASSERT_OK(full.begin());
  const std::vector<float> values(1 << 20);
  expect_failure(full.append(std::as_bytes(std::span(values))), kIo,
                 "/dev/full: cannot write it: No space left on device; free some space");
  expect_failure(full.finish(), kInvalidArgument, "only 0 of");
}

}  // namespace
}  // namespace tern
