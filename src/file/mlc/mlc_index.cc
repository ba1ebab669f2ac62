// The index of an MLC directory.
#include <algorithm>
#include <unordered_set>

#include "base/json_reader.h"
#include "base/text/quoted.h"
#include "file/file_name.h"
#include "file/mlc/mlc.h"

namespace tern {
namespace {

constexpr size_t kLongestIndex = size_t{16} << 20;  // indexes of published models have less than 1 MB
constexpr std::string_view kIndexDamaged = "the index is damaged; download it again";

constexpr std::pair<std::string_view, int64_t> kBytesOf[] = {
    {"bool", 1},          {"int8", 1},  {"uint8", 1},  {"int16", 2},   {"uint16", 2}, {"float16", 2}, {"bfloat16", 2},
    {"float8_e4m3fn", 1}, {"int32", 4}, {"uint32", 4}, {"float32", 4}, {"int64", 8},  {"uint64", 8},  {"float64", 8},
};

// Bytes per stored value; 0 for a dtype that Tern does not know.
int64_t stored_bytes(const MlcTensor& tensor) {
  if (tensor.dtype == "float32" && tensor.format == "f32-to-bf16") return 2;
  const auto* found = std::ranges::find(kBytesOf, tensor.dtype, &std::pair<std::string_view, int64_t>::first);
  return found == std::end(kBytesOf) ? 0 : found->second;
}

bool is_md5(std::string_view text) {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

class IndexReader {
 public:
  explicit IndexReader(std::string_view path) : path_(path) {}

  Result<MlcIndex> read(const Json& root) {
    const Json* records = root.is_object() ? at(root, "records") : nullptr;
    if (!records || !records->is_array() || records->empty()) {
      return fail(ErrorCode::kCorruption, "{}: no \"records\", so this is not an index of an MLC model", path_);
    }
    for (const Json& shard : *records) TRY_STATUS(read_shard(shard));
    return std::move(index_);
  }

 private:
  Result<void> read_shard(const Json& record) {
    const std::string what = format_text("shard {} of the index", index_.shards.size());
    if (!record.is_object()) return damaged(what, "is no object");
    MlcShard shard;
    TRY(shard.file, text(record, "dataPath", what));
    if (!is_plain_name(shard.file)) return damaged(what, "has a dataPath that is not a file name");
    if (!files_.insert(shard.file).second) return damaged(what, "has the file of another shard");
    TRY(shard.bytes, count(record, "nbytes", what));
    TRY(shard.md5, text(record, "md5sum", what));
    std::ranges::transform(shard.md5, shard.md5.begin(),
                           [](char c) { return static_cast<char>(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c); });
    if (!is_md5(shard.md5)) return damaged(what, "has an invalid md5sum");
    if (const Json* format = at(record, "format"); format && *format != "raw-shard") {
      return fail(ErrorCode::kNotSupported,
                  "{}: {} is not of the format \"raw-shard\"; compile the model's weights again", path_, what);
    }
    const Json* records = at(record, "records");
    if (!records || !records->is_array()) return damaged(what, "has no records");
    const size_t first = index_.tensors.size();
    index_.shards.push_back(std::move(shard));
    for (const Json& tensor : *records) TRY_STATUS(read_tensor(tensor));
    return check_places(first);
  }

  Result<void> read_tensor(const Json& record) {
    std::string what = format_text("tensor {} of the index", index_.tensors.size());
    if (!record.is_object()) return damaged(what, "is no object");
    MlcTensor tensor;
    tensor.shard = index_.shards.size() - 1;
    TRY(tensor.name, text(record, "name", what));
    what = "tensor " + tern::quoted(tensor.name);
    if (!names_.insert(tensor.name).second) return damaged(what, "appears twice");
    TRY(tensor.dtype, text(record, "dtype", what));
    if (at(record, "format")) {
      TRY(tensor.format, text(record, "format", what));
    }
    TRY(tensor.bytes, count(record, "nbytes", what));
    TRY(tensor.offset, count(record, "byteOffset", what));
    const Json* shape = at(record, "shape");
    if (!shape || !shape->is_array()) return damaged(what, "has no shape");
    int64_t n_bytes = stored_bytes(tensor);
    for (const Json& dim : *shape) {
      if (!is_count(dim)) return damaged(what, "has an invalid shape");
      tensor.shape.push_back(dim.get<int64_t>());
      if (__builtin_mul_overflow(n_bytes, dim.get<int64_t>(), &n_bytes))
        return damaged(what, "has more than 2^63 bytes");
    }
    if (stored_bytes(tensor) != 0 && static_cast<uint64_t>(n_bytes) != tensor.bytes) {
      return damaged(what, format_text("has a shape and a dtype that need {} bytes, but {}", n_bytes, tensor.bytes));
    }
    index_.tensors.push_back(std::move(tensor));
    return {};
  }

  // Checks the tensors of the last shard, which start at `first`, for overlaps and bounds.
  Result<void> check_places(size_t first) {
    const std::span tensors = std::span(index_.tensors).subspan(first);
    std::ranges::stable_sort(tensors, {}, [](const MlcTensor& t) { return std::pair(t.offset, t.bytes); });
    const MlcShard& shard = index_.shards.back();
    uint64_t end = 0;
    for (const MlcTensor& tensor : tensors) {
      const std::string what = "tensor " + tern::quoted(tensor.name);
      if (tensor.offset < end) return damaged(what, "overlaps the one before");
      end = tensor.offset + tensor.bytes;  // both are at most 2^62
      if (end > shard.bytes) {
        return damaged(what, format_text("ends at byte {} of a shard of {}", end, shard.bytes));
      }
    }
    return {};
  }

  static const Json* at(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found == object.end() || found->is_null() ? nullptr : &*found;
  }
  static bool is_count(const Json& number) {
    return number.is_number_unsigned() && number.get<uint64_t>() <= uint64_t{1} << 62;
  }
  Result<std::string> text(const Json& object, const char* key, std::string_view what) const {
    const Json* value = at(object, key);
    if (!value || !value->is_string()) return damaged(what, format_text("has no \"{}\"", key));
    return value->get<std::string>();
  }
  Result<uint64_t> count(const Json& object, const char* key, std::string_view what) const {
    const Json* value = at(object, key);
    if (!value || !is_count(*value)) return damaged(what, format_text("has no \"{}\"", key));
    return value->get<uint64_t>();
  }
  std::unexpected<Error> damaged(std::string_view what, std::string_view how) const {
    return fail(ErrorCode::kCorruption, "{}: {} {}: {}", path_, what, how, kIndexDamaged);
  }

  std::string_view path_;
  MlcIndex index_;
  std::unordered_set<std::string> files_;
  std::unordered_set<std::string> names_;
};

}  // namespace

Result<MlcIndex> parse_mlc_index(std::string_view text, std::string_view path) {
  TRY(const Json root, parse_json(text, path, {.max_bytes = kLongestIndex, .unique_names = true}));
  return IndexReader(path).read(root);
}

}  // namespace tern
