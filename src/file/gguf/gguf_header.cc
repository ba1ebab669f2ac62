#include "file/gguf/gguf_header.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/text/format_text.h"
#include "base/text/quoted.h"

namespace tern {
namespace {

constexpr std::string_view kMagic = "GGUF";

// The minimum size of an entry in the file. It limits the counts before memory is allocated for them.
constexpr uint64_t kLeastMetadataBytes = 8 + 4 + 1;        // empty key, kind, one-byte value
constexpr uint64_t kLeastTensorBytes = 8 + 4 + 8 + 4 + 8;  // empty name, n_dims, one dimension, type, offset

struct Lookalike {
  std::string_view begin;
  ErrorCode code;
  std::string_view what;  // "this looks like ..."; what to do
};

constexpr std::string_view kLegacy =
    "a GGML file from before August 2023; get the model as GGUF, or convert it with llama.cpp's tools";
constexpr std::string_view kBigEndian =
    "a GGUF file for big-endian machines; get the little-endian file, or convert it with gguf_convert_endian.py";

using enum ErrorCode;
constexpr Lookalike kLookalikes[] = {
    {"lmgg", kNotSupported, kLegacy},  // stored as little-endian numbers, so the letters are reversed
    {"fmgg", kNotSupported, kLegacy},
    {"tjgg", kNotSupported, kLegacy},
    {"algg", kNotSupported, "a GGML LoRA adapter; give the model file itself"},
    {"ggml", kNotSupported, kLegacy},
    {"ggmf", kNotSupported, kLegacy},
    {"ggjt", kNotSupported, kLegacy},
    {"GGML", kNotSupported, kLegacy},
    {"FUGG", kNotSupported, kBigEndian},
    {"version https://git-lfs", kCorruption,
     "a git-lfs pointer instead of the file it stands for; run git lfs pull, or download the file itself"},
    {"PK\x03\x04", kNotSupported, "a zip archive, such as a PyTorch checkpoint; get the model as GGUF"},
    {"\x80\x02", kNotSupported, "a Python pickle, such as a PyTorch checkpoint; get the model as GGUF"},
    {"\x1f\x8b", kNotSupported, "a gzip archive; unpack it first"},
    {"\x28\xb5\x2f\xfd", kNotSupported, "a zstd archive; unpack it first"},
    {"\xfd"
     "7zXZ",
     kNotSupported, "an xz archive; unpack it first"},
    {"\x93NUMPY", kNotSupported, "a NumPy array; give a model in GGUF"},
    {"\x89HDF", kNotSupported, "an HDF5 file; get the model as GGUF"},
};

bool looks_like_safetensors(Bytes bytes) {
  if (bytes.size() < 10 || as_text(bytes)[8] != '{') return false;
  const auto header_bytes = load<uint64_t>(bytes.data());
  return header_bytes >= 2 && header_bytes <= (uint64_t{100} << 20);  // the format's own limit
}

// Returns the first line if it is plain text: servers answer "Entry not found" and the like instead of a file.
std::optional<std::string_view> plain_text(std::string_view text) {
  const std::string_view line = text.substr(0, std::min(text.find('\n'), size_t{60}));
  const bool is_text = line.size() >= 4 && std::ranges::all_of(line, [](char c) { return c >= 0x20 && c < 0x7F; });
  return is_text ? std::optional(line) : std::nullopt;
}

std::unexpected<Error> no_magic(const GgufCursor& cursor) {
  const std::string_view path = cursor.path();
  const std::string_view text = as_text(cursor.bytes());
  for (const Lookalike& other : kLookalikes) {
    if (text.starts_with(other.begin)) {
      return fail(other.code, "{}: no GGUF magic at byte 0: this looks like {}", path, other.what);
    }
  }
  if (looks_like_safetensors(cursor.bytes())) {
    return fail(kNotSupported,
                "{}: no GGUF magic at byte 0: this looks like a safetensors file; name the directory that it is in",
                path);
  }
  const size_t first = text.substr(0, 64).find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first != std::string_view::npos && text[first] == '<') {
    return fail(
        kCorruption,
        "{}: no GGUF magic at byte 0: this looks like a web page instead of the file; download it by its direct "
        "link (on Hugging Face: /resolve/, not /blob/)",
        path);
  }
  if (const auto line = plain_text(text)) {
    return fail(kCorruption,
                "{}: no GGUF magic at byte 0: this looks like a text that begins {}; download the file again", path,
                quoted(*line));
  }
  return fail(kCorruption,
              "{}: no GGUF magic at byte 0: the file begins {}; give a model in GGUF, or download the file again", path,
              quoted(text.substr(0, 4)));
}

Result<void> check_version(const GgufCursor& cursor, uint32_t version) {
  if (version == 2 || version == 3) return {};
  const std::string_view path = cursor.path();
  if (version == 1) {
    return fail(kNotSupported,
                "{}: GGUF version 1 at byte 4 is not supported; get a newer file of this model (versions 2 and 3, made "
                "since late August 2023)",
                path);
  }
  const uint32_t swapped = std::byteswap(version);
  if (swapped >= 1 && swapped <= 0xFFFF && version > 0xFFFF) {
    return fail(kNotSupported, "{}: GGUF version {} with its bytes swapped at byte 4: this is {}", path, swapped,
                kBigEndian);
  }
  return fail(kNotSupported,
              "{}: GGUF version {} at byte 4 is not known, only 2 and 3 are; get such a file of this model", path,
              version);
}

Result<uint64_t> take_count(GgufCursor& cursor, std::string_view what, uint64_t least_bytes) {
  const uint64_t at = cursor.position();
  if (!cursor.has(sizeof(uint64_t))) return cursor.cut_short(format_text("the number of {}", what), sizeof(uint64_t));
  const auto count = cursor.take<uint64_t>();
  if (count > cursor.remaining() / least_bytes) {
    return fail(kCorruption,
                "{}: the count at byte {} promises {} {}, which cannot fit in the {} bytes that follow: the file is "
                "damaged, or the download may be incomplete; fetch it again",
                cursor.path(), at, count, what, cursor.remaining());
  }
  return count;
}

}  // namespace

Result<GgufHeader> read_gguf_header(GgufCursor& cursor) {
  const std::string_view text = as_text(cursor.bytes());
  const bool is_cut_magic = text.size() < kMagic.size() && kMagic.starts_with(text);
  if (is_cut_magic) return cursor.cut_short("the GGUF magic", kMagic.size());
  if (!text.starts_with(kMagic)) return no_magic(cursor);
  cursor.take_bytes(kMagic.size());

  GgufHeader header;
  if (!cursor.has(sizeof(uint32_t))) return cursor.cut_short("the GGUF version", sizeof(uint32_t));
  header.version = cursor.take<uint32_t>();
  TRY_STATUS(check_version(cursor, header.version));
  TRY(header.n_tensors, take_count(cursor, "tensors", kLeastTensorBytes));
  TRY(header.n_metadata, take_count(cursor, "metadata entries", kLeastMetadataBytes));
  return header;
}

}  // namespace tern
