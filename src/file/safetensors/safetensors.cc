#include "file/safetensors/safetensors.h"

#include <algorithm>
#include <numeric>

#include "base/json_reader.h"
#include "base/text/quoted.h"

namespace tern {
namespace {

constexpr uint64_t kLongestHeader = 100'000'000;       // the format's own bound
constexpr uint64_t kLongestRead = uint64_t{16} << 20;  // headers of published models have less than 1 MB
constexpr std::string_view kSafetensorsDamaged = "the file is damaged; download it again";

constexpr std::pair<std::string_view, uint32_t> kBits[] = {
    {"BOOL", 8}, {"U8", 8},   {"I8", 8},   {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F4", 4},
    {"U16", 16}, {"I16", 16}, {"F16", 16}, {"BF16", 16},   {"U32", 32},    {"I32", 32},    {"F32", 32},
    {"U64", 64}, {"I64", 64}, {"F64", 64}, {"C64", 64},    {"C128", 128},
};

// The position of a tensor relative to the first byte of data, as given in the header.
struct Place {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// Reads one entry of the header, NAME: {"dtype", "shape", "data_offsets"}.
class EntryReader {
 public:
  EntryReader(std::string_view path, const std::string& name, const Json& entry)
      : path_(path), name_(name), entry_(entry) {}

  Result<std::pair<SafetensorsTensor, Place>> read() const {
    if (!entry_.is_object()) return damaged("is no object");
    SafetensorsTensor tensor;
    tensor.name = name_;
    const Json* dtype = at("dtype");
    if (!dtype || !dtype->is_string()) return damaged("has no dtype");
    tensor.dtype = dtype->get<std::string>();
    const Json* shape = at("shape");
    if (!shape || !shape->is_array()) return damaged("has no shape");
    int64_t n_elements = 1;
    for (const Json& dim : *shape) {
      if (!is_count(dim)) return damaged("has an invalid shape");
      tensor.shape.push_back(dim.get<int64_t>());
      if (__builtin_mul_overflow(n_elements, dim.get<int64_t>(), &n_elements)) {
        return damaged("has more than 2^63 values");
      }
    }
    const Json* offsets = at("data_offsets");
    if (!offsets || !offsets->is_array() || offsets->size() != 2 || !is_count((*offsets)[0]) ||
        !is_count((*offsets)[1])) {
      return damaged("has no data_offsets of two numbers");
    }
    const Place place{(*offsets)[0].get<uint64_t>(), (*offsets)[1].get<uint64_t>()};
    if (place.end < place.begin) return damaged("ends before it begins");
    TRY_STATUS(check_bytes(tensor, n_elements, place.end - place.begin));
    return std::pair(std::move(tensor), place);
  }

 private:
  // The size of an unknown dtype cannot be checked. The tensor is listed, and code that needs it reports the error.
  Result<void> check_bytes(const SafetensorsTensor& tensor, int64_t n_elements, uint64_t n_bytes) const {
    const int64_t bits = safetensors_bits(tensor.dtype);
    if (bits == 0) return {};
    int64_t n_bits = 0;
    if (__builtin_mul_overflow(n_elements, bits, &n_bits) || n_bits % 8 != 0 ||
        static_cast<uint64_t>(n_bits / 8) != n_bytes) {
      return fail(ErrorCode::kCorruption, "{}: tensor {} has {} values of {}, which do not fill its {} bytes: {}",
                  path_, tern::quoted(name_), n_elements, tensor.dtype, n_bytes, kSafetensorsDamaged);
    }
    return {};
  }

  const Json* at(const char* key) const {
    const auto found = entry_.find(key);
    return found == entry_.end() ? nullptr : &*found;
  }
  static bool is_count(const Json& number) {
    return number.is_number_unsigned() && number.get<uint64_t>() <= uint64_t{1} << 62;
  }
  std::unexpected<Error> damaged(std::string_view what) const {
    return fail(ErrorCode::kCorruption, "{}: tensor {} of the header {}: {}", path_, tern::quoted(name_), what,
                kSafetensorsDamaged);
  }

  std::string_view path_;
  const std::string& name_;
  const Json& entry_;
};

// `bytes` contains the whole header if the file, of `file_bytes`, does.
Result<std::string_view> header_text(Bytes bytes, uint64_t file_bytes, std::string_view path) {
  if (file_bytes < sizeof(uint64_t)) {
    return fail(ErrorCode::kCorruption,
                "{}: the file has {} bytes, too few for a safetensors header: the download may be incomplete", path,
                file_bytes);
  }
  const auto length = load<uint64_t>(bytes.data());
  if (length > kLongestHeader) {
    return fail(
        ErrorCode::kCorruption,
        "{}: byte 0 promises a header of {} bytes, more than the 100 MB that safetensors allows: this is another "
        "kind of file, or damaged",
        path, length);
  }
  if (length > file_bytes - sizeof(uint64_t)) {
    return fail(
        ErrorCode::kCorruption,
        "{}: byte 0 promises a header of {} bytes, but only {} follow: the download may be incomplete; fetch it "
        "again",
        path, length, file_bytes - sizeof(uint64_t));
  }
  if (length > kLongestRead) {
    return fail(ErrorCode::kNotSupported, "{}: a header of {} bytes; Tern reads up to {}", path, length, kLongestRead);
  }
  return as_text(bytes.subspan(sizeof(uint64_t), length));
}

using Metadata = std::vector<std::pair<std::string, std::string>>;

Result<Metadata> read_metadata(const Json& object, std::string_view path) {
  if (!object.is_object())
    return fail(ErrorCode::kCorruption, "{}: __metadata__ is not an object: {}", path, kSafetensorsDamaged);
  Metadata metadata;
  for (const auto& [key, value] : object.items()) {
    if (!value.is_string()) {
      return fail(ErrorCode::kCorruption, "{}: __metadata__ has {} without a text: {}", path, tern::quoted(key),
                  kSafetensorsDamaged);
    }
    metadata.emplace_back(key, value.get<std::string>());
  }
  return metadata;
}

using Placed = std::pair<SafetensorsTensor, Place>;

// The format requires data without gaps or overlaps, and nothing after it.
Result<void> check_places(std::span<const Placed> tensors, uint64_t data_bytes, std::string_view path) {
  uint64_t at = 0;
  for (const auto& [tensor, place] : tensors) {
    if (place.begin != at) {
      return fail(ErrorCode::kCorruption,
                  "{}: tensor {} begins at byte {} of the data, but the one before ends at {}, so {}: {}", path,
                  tern::quoted(tensor.name), place.begin, at, place.begin < at ? "they overlap" : "there is a gap",
                  kSafetensorsDamaged);
    }
    at = place.end;
  }
  if (at > data_bytes) {
    return fail(ErrorCode::kCorruption,
                "{}: the tensors need {} bytes of data, but the file has {} ({} are missing): the download may be "
                "incomplete; fetch it again",
                path, at, data_bytes, at - data_bytes);
  }
  if (at < data_bytes) {
    return fail(ErrorCode::kCorruption, "{}: {} bytes follow the last tensor, and no header tells what they are: {}",
                path, data_bytes - at, kSafetensorsDamaged);
  }
  return {};
}

}  // namespace

int64_t SafetensorsTensor::n_elements() const {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

uint32_t safetensors_bits(std::string_view dtype) {
  const auto* found = std::ranges::find(kBits, dtype, &std::pair<std::string_view, uint32_t>::first);
  return found == std::end(kBits) ? 0 : found->second;
}

Result<SafetensorsFile> SafetensorsFile::open(const std::string& path, Access access) {
  TRY(auto opened, open_file(path, access));
  return read(std::move(opened));
}

Result<SafetensorsFile> SafetensorsFile::read(std::unique_ptr<File> opened) {
  if (opened->resident().empty()) return open_in_pieces(std::move(opened));
  TRY(SafetensorsFile file, parse(opened->resident(), opened->path()));
  file.file_ = std::move(opened);
  return file;
}

Result<SafetensorsFile> SafetensorsFile::open_in_pieces(std::unique_ptr<File> opened) {
  std::vector<std::byte> begin(std::min(uint64_t{sizeof(uint64_t)}, opened->size()));
  TRY_STATUS(opened->read(0, begin));
  if (begin.size() == sizeof(uint64_t)) {
    const auto length = load<uint64_t>(begin.data());
    const uint64_t follow = opened->size() - begin.size();
    if (length <= std::min(kLongestRead, follow)) {  // otherwise parse_header() reports the error
      begin.resize(begin.size() + length);
      TRY_STATUS(opened->read(0, begin));
    }
  }
  TRY(SafetensorsFile file, parse_header(begin, opened.get(), opened->path()));
  file.file_ = std::move(opened);
  return file;
}

Result<SafetensorsFile> SafetensorsFile::parse(Bytes bytes, std::string name) {
  return parse_header(bytes, nullptr, std::move(name));
}

Result<SafetensorsFile> SafetensorsFile::parse_header(Bytes begin, const File* in_file, std::string name) {
  SafetensorsFile file;
  file.path_ = std::move(name);
  file.file_bytes_ = in_file ? in_file->size() : begin.size();
  TRY(const std::string_view text, header_text(begin, file.file_bytes_, file.path_));
  TRY(const Json header, parse_json(text, file.path_, {.max_bytes = kLongestRead, .unique_names = true}));
  if (!header.is_object()) return fail(ErrorCode::kCorruption, "{}: the header is not a JSON object", file.path_);
  std::vector<Placed> placed;
  for (const auto& [key, entry] : header.items()) {
    if (key == "__metadata__") {
      TRY(file.metadata_, read_metadata(entry, file.path_));
      continue;
    }
    TRY(Placed tensor, EntryReader(file.path_, key, entry).read());
    placed.push_back(std::move(tensor));
  }
  std::ranges::stable_sort(placed, {}, [](const Placed& p) { return std::pair(p.second.begin, p.second.end); });
  const uint64_t data_begin = sizeof(uint64_t) + text.size();
  TRY_STATUS(check_places(placed, file.file_bytes_ - data_begin, file.path_));
  for (auto& [tensor, place] : placed) {
    tensor.offset = data_begin + place.begin;
    const uint64_t n_bytes = place.end - place.begin;
    tensor.data =
        in_file ? StoredBytes(*in_file, tensor.offset, n_bytes) : StoredBytes(begin.subspan(tensor.offset, n_bytes));
    file.tensors_.push_back(std::move(tensor));
  }
  file.by_name_.resize(file.tensors_.size());
  std::iota(file.by_name_.begin(), file.by_name_.end(), size_t{0});
  std::ranges::sort(file.by_name_, {}, [&](size_t i) -> const std::string& { return file.tensors_[i].name; });
  return file;
}

const SafetensorsTensor* SafetensorsFile::find(std::string_view name) const {
  const auto name_of = [&](size_t i) -> std::string_view { return tensors_[i].name; };
  const auto found = std::ranges::lower_bound(by_name_, name, {}, name_of);
  return found == by_name_.end() || name_of(*found) != name ? nullptr : &tensors_[*found];
}

}  // namespace tern
