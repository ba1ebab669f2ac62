#include "server/static_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;

namespace tern::server {
namespace {

class Folder : public testing::Test {
 protected:
  Folder() {
    fs::create_directories(root_ / "deep" / "er");
    write("site/index.html", "<p>");
    write("site/deep/index.html", "<p>deep");
    write("site/deep/er/a b.js", "1");
    write("site/.hidden", "secret");
    write("outside.txt", "secret");
  }
  ~Folder() override { fs::remove_all(top_); }

  void write(const std::string& name, const std::string& bytes) const {
    fs::create_directories((top_ / name).parent_path());
    std::ofstream(top_ / name, std::ios::binary) << bytes;
  }
  // The file's bytes, or the status.
  std::string get(std::string_view path, bool gzip = false) const {
    const auto found = StaticFiles::open(root_.string()).value().find(path, gzip);
    if (!found) return std::to_string(found.error().status) + " " + found.error().location;
    std::string bytes(found->file.bytes(), '?');
    bytes.resize(found->file.read_at(0, bytes));
    return bytes;
  }

  fs::path top_ = fs::temp_directory_path() / ("tern_static_" + std::to_string(::getpid()));
  fs::path root_ = top_ / "site";
};

TEST_F(Folder, FilesAndIndexPages) {
  EXPECT_EQ(get("/"), "<p>");
  EXPECT_EQ(get(""), "<p>");
  EXPECT_EQ(get("/index.html"), "<p>");
  EXPECT_EQ(get("/deep/"), "<p>deep");
  EXPECT_EQ(get("//deep/./er//a b.js"), "1");
  EXPECT_EQ(get("/deep/er/"), "404 ") << "no listing";
  EXPECT_EQ(get("/deep/er"), "404 ");
  EXPECT_EQ(get("/index.html/"), "404 ");
  EXPECT_EQ(get("/nothing"), "404 ");
}

TEST_F(Folder, RedirectsStayOnThisServer) {
  EXPECT_EQ(get("/deep"), "301 /deep/");
  write("site/host.example/a?b/index.html", "");
  EXPECT_EQ(get("//host.example/a?b"), "301 /host.example/a%3Fb/");
}

TEST_F(Folder, NothingOutside) {
  EXPECT_EQ(get("/../outside.txt"), "404 ");
  EXPECT_EQ(get("/deep/../index.html"), "404 ");
  EXPECT_EQ(get("/.hidden"), "404 ");
  EXPECT_EQ(get(std::string_view("/index.html\0.js", 15)), "404 ");
  fs::create_symlink(top_ / "outside.txt", root_ / "link.txt");
  fs::create_directory_symlink(top_, root_ / "up");
  EXPECT_EQ(get("/link.txt"), "404 ");
  EXPECT_EQ(get("/up/outside.txt"), "404 ");
  EXPECT_EQ(get("/up/site/index.html"), "<p>") << "what it leads to lies inside";
  write("site-two/a.txt", "secret");
  fs::create_symlink(top_ / "site-two/a.txt", root_ / "two.txt");
  EXPECT_EQ(get("/two.txt"), "404 ") << "a folder whose name only begins like the root's";
  fs::create_symlink(root_ / "deep/er/a b.js", root_ / "inside.js");
  EXPECT_EQ(get("/inside.js"), "1");
}

TEST_F(Folder, OnlyRegularFiles) {
  ASSERT_EQ(::mkfifo((root_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(get("/pipe"), "404 ") << "and does not wait for a writer";
}

TEST_F(Folder, CompressedFormUnlessOlder) {
  write("site/a.js", "plain");
  write("site/a.js.gz", "packed");
  EXPECT_EQ(get("/a.js", true), "packed");
  EXPECT_EQ(get("/a.js", false), "plain");
  fs::last_write_time(root_ / "a.js.gz", fs::last_write_time(root_ / "a.js") - std::chrono::seconds(1));
  EXPECT_EQ(get("/a.js", true), "plain");
}

TEST_F(Folder, AFolderThatIsNone) {
  for (const std::string& path : {(top_ / "nowhere").string(), (top_ / "outside.txt").string()}) {
    const auto files = StaticFiles::open(path);
    ASSERT_FALSE(files);
    EXPECT_EQ(files.error().code, ErrorCode::kNotFound);
    EXPECT_TRUE(files.error().message.contains(path)) << files.error().message;
  }
}

TEST_F(Folder, TheTagFollowsTheFile) {
  const fs::path path = root_ / "index.html";
  const std::string before = OpenFile::open(path.string())->etag();
  EXPECT_EQ(OpenFile::open(path.string())->etag(), before);
  fs::last_write_time(path, fs::last_write_time(path) + std::chrono::microseconds(1));
  EXPECT_NE(OpenFile::open(path.string())->etag(), before) << "the same size and the same second";
}

TEST(StaticFiles, MediaTypes) {
  EXPECT_EQ(media_type("a/tern.wasm"), "application/wasm");
  EXPECT_EQ(media_type("a.MJS"), "text/javascript; charset=utf-8");
  EXPECT_EQ(media_type("a/b.js/model.gguf"), "application/octet-stream");
  EXPECT_EQ(media_type("a.js/model"), "application/octet-stream");
}

TEST(StaticFiles, AcceptsGzip) {
  for (const char* header : {"gzip", "br, gzip", "deflate ,gzip;q=0.1", "gzip; q=1"}) {
    EXPECT_TRUE(accepts_gzip(header)) << header;
  }
  for (const char* header : {"", "br", "xgzip", "gzip;q=0", "gzip; q=0.00", "identity"}) {
    EXPECT_FALSE(accepts_gzip(header)) << header;
  }
}

TEST(StaticFiles, NamesTag) {
  EXPECT_TRUE(names_tag("\"a\"", "\"a\""));
  EXPECT_TRUE(names_tag("\"b\", W/\"a\"", "\"a\""));
  EXPECT_TRUE(names_tag("*", "\"a\""));
  EXPECT_FALSE(names_tag("\"ab\"", "\"a\""));
  EXPECT_FALSE(names_tag("", "\"a\""));
}

TEST(StaticFiles, HttpDate) { EXPECT_EQ(http_date(784111777), "Sun, 06 Nov 1994 08:49:37 GMT"); }

TEST(StaticFiles, ReadRange) {
  const auto read = [](std::string_view header) {
    const auto range = read_range(header);
    return range ? std::pair(range->first, range->last) : std::pair<int64_t, int64_t>(-2, -2);
  };
  using Range = std::pair<int64_t, int64_t>;
  EXPECT_EQ(read("bytes=0-1"), Range(0, 1));
  EXPECT_EQ(read("Bytes=3-"), Range(3, -1));
  EXPECT_EQ(read("bytes=-5"), Range(-1, 5));
  EXPECT_EQ(read("bytes=1-99999999999999999999"), Range(1, INT64_MAX));
  for (const char* header : {"", "bytes", "bytes=", "bytes=-", "bytes=x", "bytes=5-2", "bytes=1-2,4-5", "items=0-1",
                             "lines=3-", "bytes=+1-2", "bytes=1--2", "bytes =0-1"}) {
    EXPECT_EQ(read(header), Range(-2, -2)) << header;
  }
}

TEST(StaticFiles, ClipRange) {
  const auto clipped = [](int64_t first, int64_t last, uint64_t bytes) {
    const auto range = clip_range(first, last, bytes);
    return range ? std::pair(range->offset, range->length) : std::pair(UINT64_MAX, UINT64_MAX);
  };
  const std::pair<uint64_t, uint64_t> nothing = {UINT64_MAX, UINT64_MAX};
  EXPECT_EQ(clipped(0, 0, 10), std::pair(0ul, 1ul));
  EXPECT_EQ(clipped(3, -1, 10), std::pair(3ul, 7ul));
  EXPECT_EQ(clipped(3, 99, 10), std::pair(3ul, 7ul));
  EXPECT_EQ(clipped(-1, 4, 10), std::pair(6ul, 4ul));
  EXPECT_EQ(clipped(-1, 40, 10), std::pair(0ul, 10ul));
  EXPECT_EQ(clipped(10, -1, 10), nothing);
  EXPECT_EQ(clipped(5, 4, 10), nothing);
  EXPECT_EQ(clipped(-1, 0, 10), nothing);
  EXPECT_EQ(clipped(0, -1, 0), nothing);
}

}  // namespace
}  // namespace tern::server
