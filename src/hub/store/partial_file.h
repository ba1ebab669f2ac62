// A file that arrives in pieces, in any order, and can be continued by another process.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/platform/disk_file.h"
#include "base/result.h"

namespace tern::hub {

// The bytes are in STEM.incomplete, a sparse file of the final size; STEM.state records which of them are there. The
// file is divided into chunks, each of which fills up from its beginning. STEM.state consists of lines that are only
// ever appended:
//
//   tern-download SIZE CHUNK    first
//   INDEX BYTES                 the first BYTES bytes of chunk INDEX are there; a chunk's last line counts
//
// A line is written after its bytes, so after kill -9 the state never claims too much, and at most kLineBytes per chunk
// are fetched again. (After a power cut it may claim too much, which the final checksum detects.) The name differs from
// huggingface_hub's ETAG.incomplete, because its old versions take the length of that file for the bytes received.
class PartialFile {
 public:
  static constexpr uint64_t kLineBytes = uint64_t{1} << 20;

  // Opens what an earlier download left, or starts anew if that does not fit `size`. kIo.
  static Result<PartialFile> open(const std::string& stem, uint64_t size, uint64_t chunk_bytes);

  PartialFile(PartialFile&& other) noexcept = default;
  PartialFile& operator=(PartialFile&&) = delete;

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }
  size_t n_chunks() const { return have_.size(); }
  uint64_t chunk_begin(size_t chunk) const { return chunk * chunk_bytes_; }
  uint64_t chunk_size(size_t chunk) const;
  uint64_t have(size_t chunk) const { return have_[chunk]; }
  bool has_all(size_t chunk) const { return have_[chunk] == chunk_size(chunk); }
  uint64_t bytes_done() const { return done_; }
  bool resumed() const { return resumed_; }  // some of it is from an earlier download

  // Appends the next bytes of a chunk, at most what it lacks. kIo, with advice for a full disk.
  Result<void> append(size_t chunk, Bytes bytes);

  // Discards all bytes.
  Result<void> restart();

  // Records how far every chunk is. append() does so now and then.
  Result<void> save();

  // Gives the complete file its name, and removes the state.
  Result<void> finish(const std::string& final_path);

  // Removes all files.
  void discard();

 private:
  PartialFile(const std::string& stem, uint64_t size, uint64_t chunk_bytes);
  Result<void> open_files();
  void read_state();
  Result<void> start_state();
  Result<void> write_line(size_t chunk);
  Result<void> write_state(std::string_view text);
  void close_files();

  std::string path_;
  std::string state_path_;
  uint64_t size_;
  uint64_t chunk_bytes_;
  std::vector<uint64_t> have_;   // bytes of each chunk that are in the file
  std::vector<uint64_t> saved_;  // … that the state records
  uint64_t done_ = 0;
  bool resumed_ = false;
  std::unique_ptr<platform::DiskFile> file_, state_file_;
  uint64_t state_bytes_ = 0;  // of the state so far
};

// The bytes that an earlier download of STEM occupies on the disk.
uint64_t bytes_on_disk(const std::string& stem);

// The error kIo, "PATH: cannot ACTION it: REASON; what to do".
std::unexpected<Error> disk_error(const std::string& path, const char* action, std::error_code error);

}  // namespace tern::hub
