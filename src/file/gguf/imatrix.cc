#include "file/gguf/imatrix.h"

#include <algorithm>
#include <cmath>

#include "base/files/file.h"
#include "base/text/quoted.h"
#include "file/gguf/gguf.h"

namespace tern {
namespace {

constexpr std::string_view kSums = ".in_sum2", kCounts = ".counts";
constexpr int32_t kLongestName = 1024;

// A position in a file of the old format. Every read is checked.
class DatCursor {
 public:
  DatCursor(Bytes bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  bool at_end() const { return at_ == bytes_.size(); }

  Result<int32_t> number(std::string_view what) {
    TRY(const Bytes four, take(sizeof(int32_t), what));
    return load<int32_t>(four.data());
  }

  Result<std::string> text(std::string_view what) {
    TRY(const int32_t length, number(what));
    if (length < 0 || length > kLongestName) {
      return fail(ErrorCode::kCorruption,
                  "{}: the length of {} at byte {} is {}; this is no imatrix file, or it is damaged", name_, what,
                  at_ - sizeof(int32_t), length);
    }
    TRY(const Bytes bytes, take(static_cast<size_t>(length), what));
    return std::string(as_text(bytes));
  }

  Result<std::vector<float>> floats(int32_t n, std::string_view what) {
    TRY(const Bytes bytes, take(static_cast<size_t>(n) * sizeof(float), what));
    std::vector<float> values(static_cast<size_t>(n));
    for (size_t i = 0; i < values.size(); ++i) values[i] = load<float>(bytes.data() + i * sizeof(float));
    return values;
  }

 private:
  Result<Bytes> take(size_t n, std::string_view what) {
    if (n > bytes_.size() - at_) {
      return fail(ErrorCode::kCorruption,
                  "{}: the file ends inside {}: {} bytes from byte {} on, of {}; this is no imatrix file, or it is cut "
                  "off",
                  name_, what, n, at_, bytes_.size());
    }
    at_ += n;
    return bytes_.subspan(at_ - n, n);
  }

  Bytes bytes_;
  const std::string& name_;
  size_t at_ = 0;
};

// Turns sums into means.
void divide(std::span<float> sums, float by) {
  for (float& sum : sums) sum /= by;
}

Result<std::vector<float>> f32_values(const GgufTensor& tensor, const std::string& path) {
  if (tensor.type != GgmlType::kF32) {
    return fail(ErrorCode::kCorruption, "{}: tensor {} is not F32, as in an imatrix; make the file again", path,
                tern::quoted(std::string(tensor.name)));
  }
  std::vector<float> values(static_cast<size_t>(tensor.n_elements()));
  const Bytes bytes = tensor.data.resident();
  for (size_t i = 0; i < values.size(); ++i) values[i] = load<float>(bytes.data() + i * sizeof(float));
  return values;
}

}  // namespace

std::span<const float> Imatrix::find(std::string_view weight) const {
  const auto found = entries_.find(weight);
  return found == entries_.end() ? std::span<const float>() : std::span<const float>(found->second);
}

Result<void> Imatrix::add(const std::string& weight, std::vector<float> means) {
  const auto wrong = std::ranges::find_if_not(means, [](float x) { return std::isfinite(x) && x >= 0; });
  if (wrong != means.end()) {
    return fail(ErrorCode::kCorruption, "{}: value {} of {} is {}, but a mean of squares is finite and not negative",
                path_, wrong - means.begin(), tern::quoted(weight), *wrong);
  }
  if (!entries_.emplace(weight, std::move(means)).second) {
    return fail(ErrorCode::kCorruption, "{}: there are two entries for {}; make the file again", path_,
                tern::quoted(weight));
  }
  return {};
}

Result<Imatrix> Imatrix::parse_dat(Bytes bytes, const std::string& name) {
  Imatrix matrix;
  matrix.path_ = name;
  DatCursor cursor(bytes, name);
  TRY(const int32_t n_entries, cursor.number("the number of entries"));
  if (n_entries < 1) {
    return fail(ErrorCode::kCorruption, "{}: it begins with {} entries; this is no imatrix file, or an empty one", name,
                n_entries);
  }
  for (int32_t i = 0; i < n_entries; ++i) {
    TRY(const std::string weight, cursor.text("an entry's name"));
    TRY(const int32_t n_calls, cursor.number("an entry's number of calls"));
    TRY(const int32_t n_values, cursor.number("an entry's number of values"));
    if (n_calls < 0 || n_values < 1) {
      return fail(ErrorCode::kCorruption, "{}: entry {} has {} calls and {} values; make the file again", name,
                  tern::quoted(weight), n_calls, n_values);
    }
    TRY(std::vector<float> values, cursor.floats(n_values, "an entry's values"));
    if (n_calls > 0) divide(values, static_cast<float>(n_calls));
    TRY_STATUS(matrix.add(weight, std::move(values)));
  }
  if (cursor.at_end()) return matrix;
  TRY_STATUS(cursor.number("the number of all calls"));
  if (!cursor.at_end()) TRY_STATUS(cursor.text("the name of the text"));
  if (cursor.at_end()) return matrix;
  return fail(ErrorCode::kCorruption, "{}: there are bytes after the end; this is no imatrix file, or it is damaged",
              name);
}

Result<Imatrix> Imatrix::read_gguf(const GgufFile& file) {
  Imatrix matrix;
  matrix.path_ = file.path();
  TRY(const auto type, file.get_string("general.type"));
  if (type != "imatrix") {
    return fail(ErrorCode::kNotSupported,
                "{}: a GGUF file, but no imatrix: its general.type is not \"imatrix\"; name another file", file.path());
  }
  for (const GgufTensor& sums : file.tensors()) {
    if (!sums.name.ends_with(kSums)) continue;
    const std::string weight(sums.name.substr(0, sums.name.size() - kSums.size()));
    const GgufTensor* const counts = file.find_tensor(weight + std::string(kCounts));
    const int64_t n_experts = counts ? counts->n_elements() : 0;
    if (n_experts == 0 || sums.n_elements() % n_experts != 0) {
      return fail(ErrorCode::kCorruption, "{}: the sums and counts of {} do not fit each other; make the file again",
                  file.path(), tern::quoted(weight));
    }
    TRY(std::vector<float> means, f32_values(sums, file.path()));
    TRY(const std::vector<float> n_tokens, f32_values(*counts, file.path()));
    const size_t each = means.size() / n_tokens.size();
    for (size_t i = 0; i < n_tokens.size(); ++i) {
      const std::span<float> of_expert = std::span(means).subspan(i * each, each);
      if (n_tokens[i] == 0) {
        std::ranges::fill(of_expert, 1.0f);
      } else {
        divide(of_expert, n_tokens[i]);
      }
    }
    TRY_STATUS(matrix.add(weight, std::move(means)));
  }
  if (matrix.entries_.empty()) {
    return fail(ErrorCode::kCorruption, "{}: the imatrix has no entries; make it again with a longer text",
                file.path());
  }
  return matrix;
}

Result<Imatrix> Imatrix::open(const std::string& path) {
  TRY(const auto file, open_file(path));
  if (as_text(file->resident()).starts_with("GGUF")) {
    TRY(const GgufFile gguf, GgufFile::open(path));
    return read_gguf(gguf);
  }
  return parse_dat(file->resident(), path);
}

}  // namespace tern
