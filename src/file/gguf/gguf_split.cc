// Models split into several GGUF files, MODEL-00001-of-00003.gguf and so on. Each file has its own tensors. split.no
// and split.count give the part's index and the number of parts; split.tensors.count is the total number of tensors.
// Only the first part needs the model's metadata. Source: ggml-org/llama.cpp, tools/gguf-split.
#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/files/file.h"
#include "base/text/format_text.h"
#include "base/text/quoted.h"
#include "file/gguf/gguf.h"

namespace tern {
namespace {

constexpr std::string_view kSuffix = ".gguf";
constexpr std::string_view kPattern = "-00001-of-00002.gguf";  // the end of a name, with other numbers

struct PartName {
  std::string prefix;
  int64_t number = 0;  // from 1
  int64_t count = 0;
};

std::string text_of(const PartName& name) {
  return format_text("{}-{:05}-of-{:05}{}", name.prefix, name.number, name.count, kSuffix);
}

std::optional<PartName> parse_part_name(const std::string& path) {
  if (path.size() < kPattern.size()) return std::nullopt;
  const std::string_view end = std::string_view(path).substr(path.size() - kPattern.size());
  PartName name{.prefix = path.substr(0, path.size() - kPattern.size())};
  std::from_chars(end.data() + 1, end.data() + 6, name.number);
  std::from_chars(end.data() + 10, end.data() + 15, name.count);
  return text_of(name) == path ? std::optional(name) : std::nullopt;
}

// Returns the value of a key that every part must have.
Result<int64_t> split_value(const GgufFile& part, std::string_view key) {
  TRY(const auto value, part.get_int(key));
  if (value) return *value;
  return fail(ErrorCode::kCorruption, "{}: metadata key {} is missing, so this is not part of a split model",
              part.path(), key);
}

// Metadata that another part repeats must equal the first part's.
Result<void> check_same_model(const GgufFile& first, const GgufFile& part) {
  for (const auto& [key, value] : part.metadata()) {
    if (key.starts_with("split.")) continue;
    const GgufValue* other = first.find(key);
    if (other == nullptr) continue;
    if (other->kind != value.kind || other->is_array != value.is_array || as_text(other->data) != as_text(value.data)) {
      return fail(ErrorCode::kCorruption,
                  "{}: metadata {} differs from that of {}, so they are parts of different models; download all parts "
                  "again",
                  part.path(), quoted(key), first.path());
    }
  }
  return {};
}

}  // namespace

Result<void> GgufFile::append(GgufFile part) {
  const size_t number = n_parts_++;
  file_bytes_ += part.file_bytes_;
  for (GgufTensor& tensor : part.tensors_) {
    if (!tensor_index_.emplace(tensor.name, tensors_.size()).second) {
      return fail(ErrorCode::kCorruption,
                  "{}: tensor {} is in an earlier part too, so they are parts of different models; download all parts "
                  "again",
                  part.path_, quoted(tensor.name));
    }
    tensor.part = number;
    tensors_.push_back(std::move(tensor));
  }
  std::ranges::move(part.files_, std::back_inserter(files_));
  std::ranges::move(part.beginnings_, std::back_inserter(beginnings_));
  return {};
}

// `named`: the part that the caller opened. It is read again with the others.
Result<GgufFile> GgufFile::open_split(GgufFile named, int64_t n_parts, Access access) {
  TRY(const int64_t named_number, split_value(named, "split.no"));
  auto name = parse_part_name(named.path_);
  if (!name || name->count != n_parts || name->number != named_number + 1) {
    return fail(
        ErrorCode::kCorruption,
        "{}: this is part {} of a model split into {} files, whose name should end in -{:05}-of-{:05}.gguf; give "
        "all parts their own names back",
        named.path_, static_cast<uint64_t>(named_number) + 1, n_parts, static_cast<uint64_t>(named_number) + 1,
        n_parts);
  }
  std::optional<GgufFile> model;
  int64_t n_tensors = 0;
  for (name->number = 1; name->number <= n_parts; ++name->number) {
    const std::string path = text_of(*name);
    if (!is_file(path)) {
      return fail(ErrorCode::kNotFound, "{}: this part of a model split into {} files is missing; download it too",
                  path, n_parts);
    }
    TRY(GgufFile part, open_part(path, access));
    TRY(const int64_t count, split_value(part, "split.count"));
    TRY(const int64_t number, split_value(part, "split.no"));
    TRY(const int64_t all_tensors, split_value(part, "split.tensors.count"));
    if (count != n_parts || number != name->number - 1 || (model && all_tensors != n_tensors)) {
      return fail(ErrorCode::kCorruption,
                  "{}: the file says that it is part {} of {}, of {} tensors; files of another model, or with names "
                  "exchanged, cannot be used together: download all parts again",
                  path, static_cast<uint64_t>(number) + 1, count, all_tensors);
    }
    n_tensors = all_tensors;
    if (!model) {
      model = std::move(part);
    } else {
      TRY_STATUS(check_same_model(*model, part));
      TRY_STATUS(model->append(std::move(part)));
    }
  }
  if (n_tensors != static_cast<int64_t>(model->tensors_.size())) {
    return fail(ErrorCode::kCorruption, "{}: the {} parts have {} tensors, not {}: download all parts again",
                model->path_, n_parts, model->tensors_.size(), n_tensors);
  }
  return *std::move(model);
}

}  // namespace tern
