#include "file/mlc/mlc.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <numeric>

#include "base/files/mapped_file.h"
#include "base/platform/disk_file.h"
#include "base/text/quoted.h"
#include "base/thread_pool.h"
#include "file/file_name.h"
#include "file/md5.h"
#include "file/output_file.h"

namespace tern {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kIndexNames[] = {"tensor-cache.json", "ndarray-cache.json"};  // the newer one first
constexpr std::string_view kRevisions =
    "the files belong to different revisions of the model, or are damaged; download all of them again";

// The name of the index; empty if there is none.
std::string_view find_index(const Folder& folder) {
  const auto* const found = std::ranges::find_if(kIndexNames, [&](std::string_view name) { return folder.has(name); });
  return found == std::end(kIndexNames) ? std::string_view() : *found;
}

// The content of a stamp: the files that have these sums. An equal text means that nothing has changed since. It
// includes the status change time, because copying programs cannot set it, unlike the write time. Empty if the file
// system does not report it.
std::string stamp_text(const std::string& directory, std::span<const MlcShard> shards) {
  std::error_code failed;
  std::string text = format_text("tern checked shards, 1\n{}\n", fs::canonical(directory, failed).string());
  for (const MlcShard& shard : shards) {
    const auto info = platform::file_info((fs::path(directory) / shard.file).string());
    if (!info) return {};
    text += format_text("{} {} {} {} {}\n", shard.md5, info->size, info->written_ns, info->changed_ns,
                        tern::quoted(shard.file));
  }
  return text;
}

std::string stamp_path(const std::string& folder, std::string_view text) {
  const std::string_view first_lines = text.substr(0, text.find('\n', text.find('\n') + 1));
  return folder + "/checked/" + md5(as_bytes(first_lines));
}

// Failures are ignored: the shards are then just checked again.
void write_stamp(const std::string& path, std::string_view text) {
  std::error_code ignored;
  fs::create_directories(fs::path(path).parent_path(), ignored);
  auto file = OutputFile::create(path);
  if (!file || !file->write(as_bytes(text))) return;
  [[maybe_unused]] const auto done = file->finish();
}

// `tell` receives the number of bytes read since the last call.
Result<void> sum_file(const File& file, const std::function<void(uint64_t)>& tell, std::string& sum) {
  constexpr uint64_t kPiece = 4 << 20;
  const StoredBytes bytes(file, 0, file.size());
  Scratch scratch;
  Md5 digest;
  for (uint64_t at = 0; at < bytes.size(); at += kPiece) {
    const uint64_t n = std::min(kPiece, bytes.size() - at);
    TRY(const Bytes piece, bytes.read(at, n, scratch));
    digest.add(piece);
    tell(n);
  }
  sum = digest.finish();
  return {};
}

}  // namespace

bool is_mlc_directory(const Folder& folder) { return !find_index(folder).empty(); }
bool is_mlc_directory(const std::string& directory) { return is_mlc_directory(DiskFolder(directory)); }

Result<MlcDirectory> MlcDirectory::open(const Folder& folder, const MlcCheck& check, Access access) {
  MlcDirectory model;
  model.path_ = folder.path();
  const std::string_view index_name = find_index(folder);
  if (index_name.empty()) {
    return fail(ErrorCode::kNotFound, "{}: neither {} nor {} is there; download the model's files into it", model.path_,
                kIndexNames[0], kIndexNames[1]);
  }
  model.index_path_ = folder.path_of(index_name);
  TRY(const auto index, folder.open(index_name));
  TRY(model.index_, parse_mlc_index(as_text(index->resident()), model.index_path_));
  TRY_STATUS(model.open_shards(folder, access));
  if (folder.has_weights()) TRY_STATUS(model.check_shards(check));
  for (MlcTensor& tensor : model.index_.tensors) {
    tensor.data = StoredBytes(*model.files_[tensor.shard], tensor.offset, tensor.bytes);
  }
  model.by_name_.resize(model.index_.tensors.size());
  std::iota(model.by_name_.begin(), model.by_name_.end(), size_t{0});
  std::ranges::sort(model.by_name_, {}, [&](size_t i) -> const std::string& { return model.index_.tensors[i].name; });
  return model;
}

// Checks sizes first: this is cheap and detects an unfinished download immediately.
Result<void> MlcDirectory::open_shards(const Folder& folder, Access access) {
  for (const MlcShard& shard : index_.shards) {
    if (!folder.has(shard.file)) {
      return fail(ErrorCode::kNotFound, "{}: file {} is missing, though {} lists it among {}; download it too", path_,
                  tern::quoted(shard.file), index_path_, index_.shards.size());
    }
    TRY(auto file, folder.open(shard.file, access));
    if (file->size() != shard.bytes) {
      return fail(ErrorCode::kCorruption, "{}: the file has {} bytes, but {} gives it {}: {}", file->path(),
                  file->size(), index_path_, shard.bytes, kRevisions);
    }
    files_.push_back(std::move(file));
  }
  return {};
}

Result<void> MlcDirectory::check_shards(const MlcCheck& check) {
  const std::string stamp = check.stamp_folder.empty() ? "" : stamp_text(path_, index_.shards);
  const std::string path = stamp_path(check.stamp_folder, stamp);
  if (!stamp.empty()) {
    if (const auto earlier = read_text_file(path); earlier && *earlier == stamp) return {};
  }
  computed_sums_ = true;
  TRY_STATUS(compare_sums(check));
  if (!stamp.empty()) write_stamp(path, stamp);
  return {};
}

Result<void> MlcDirectory::compare_sums(const MlcCheck& check) const {
  std::vector<std::string> sums(files_.size());
  std::vector<Result<void>> results(files_.size());
  std::atomic<size_t> next = 0;
  std::atomic<uint64_t> done = 0;
  // Files that are not in memory must be read on this thread (base/files/byte_source.h).
  const bool is_resident = std::ranges::none_of(files_, [](const auto& file) { return file->resident().empty(); });
  ThreadPool pool(is_resident ? std::clamp(check.n_threads, 1, static_cast<int>(files_.size())) : 1);
  pool.run([&](int worker) {
    for (size_t i = next++; i < files_.size(); i = next++) {
      const auto tell = [&](uint64_t n) {
        done += n;
        if (worker == 0 && check.on_progress) check.on_progress(done, file_bytes());
      };
      results[i] = sum_file(*files_[i], tell, sums[i]);
    }
  });
  for (size_t i = 0; i < files_.size(); ++i) {
    TRY_STATUS(results[i]);
    if (sums[i] != index_.shards[i].md5) {
      return fail(ErrorCode::kCorruption, "{}: the file has the MD5 {}, but {} gives it {}: {}", files_[i]->path(),
                  sums[i], index_path_, index_.shards[i].md5, kRevisions);
    }
  }
  return {};
}

uint64_t MlcDirectory::file_bytes() const {
  uint64_t bytes = 0;
  for (const MlcShard& shard : index_.shards) bytes += shard.bytes;
  return bytes;
}

const MlcTensor* MlcDirectory::find(std::string_view name) const {
  const auto name_of = [&](size_t i) -> std::string_view { return index_.tensors[i].name; };
  const auto found = std::ranges::lower_bound(by_name_, name, {}, name_of);
  return found == by_name_.end() || name_of(*found) != name ? nullptr : &index_.tensors[*found];
}

}  // namespace tern
