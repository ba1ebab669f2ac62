#include "file/md5.h"

#include <algorithm>
#include <array>
#include <bit>

namespace tern {
namespace {

constexpr size_t kBlock = 64;

// The integer part of 2^32 · |sin(i + 1)|, i in radians.
constexpr std::array<uint32_t, 64> kSines = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};
constexpr int kShifts[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
constexpr int kWordStep[4] = {1, 5, 3, 7};  // in step i a round uses word (first + step · i) mod 16
constexpr int kFirstWord[4] = {0, 1, 5, 0};

using State = std::array<uint32_t, 4>;

template <int kRound>
uint32_t mix(uint32_t b, uint32_t c, uint32_t d) {
  if constexpr (kRound == 0) return d ^ (b & (c ^ d));
  if constexpr (kRound == 1) return (d & b) + (~d & c);  // no common bits; adding keeps d & b off the critical path
  if constexpr (kRound == 2) return b ^ c ^ d;
  if constexpr (kRound == 3) return c ^ (b | ~d);
}

// The 16 unrolled steps of a round. With the state in registers and constant indices, only the chain of four dependent
// operations per step takes time.
template <int kRound>
void run_round(const std::byte* block, uint32_t& a, uint32_t& b, uint32_t& c, uint32_t& d) {
  const auto step = [block](int i, uint32_t& w, uint32_t x, uint32_t y, uint32_t z) {
    const int word = (kFirstWord[kRound] + kWordStep[kRound] * i) % 16;
    const uint32_t sum = w + load<uint32_t>(block + 4 * word) + kSines[16 * kRound + i] + mix<kRound>(x, y, z);
    w = x + std::rotl(sum, kShifts[kRound][i % 4]);
  };
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {
    step(i, a, b, c, d);
    step(i + 1, d, a, b, c);
    step(i + 2, c, d, a, b);
    step(i + 3, b, c, d, a);
  }
}

void add_block(State& state, const std::byte* block) {
  auto [a, b, c, d] = state;
  run_round<0>(block, a, b, c, d);
  run_round<1>(block, a, b, c, d);
  run_round<2>(block, a, b, c, d);
  run_round<3>(block, a, b, c, d);
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
}

}  // namespace

void Md5::add(Bytes bytes) {
  const size_t n_rest = n_bytes_ % kBlock;
  n_bytes_ += bytes.size();
  if (n_rest > 0) {
    const Bytes first = bytes.first(std::min(kBlock - n_rest, bytes.size()));
    std::ranges::copy(first, rest_.begin() + static_cast<ptrdiff_t>(n_rest));
    if (n_rest + first.size() < kBlock) return;
    add_block(state_, rest_.data());
    bytes = bytes.subspan(first.size());
  }
  for (; bytes.size() >= kBlock; bytes = bytes.subspan(kBlock)) add_block(state_, bytes.data());
  std::ranges::copy(bytes, rest_.begin());
}

std::string Md5::finish() {
  // The remaining bytes, a one bit, zeros, and the length in bits in the last eight bytes of a block.
  std::array<std::byte, 2 * kBlock> tail{};
  const size_t n_left = n_bytes_ % kBlock;
  std::ranges::copy(Bytes(rest_).first(n_left), tail.begin());
  tail[n_left] = std::byte{0x80};
  const size_t n_tail = n_left + 1 + sizeof(uint64_t) <= kBlock ? kBlock : 2 * kBlock;
  store(tail.data() + n_tail - sizeof(uint64_t), n_bytes_ * 8);
  for (size_t i = 0; i < n_tail; i += kBlock) add_block(state_, tail.data() + i);

  std::string hex;
  for (const uint32_t word : state_) {
    for (int shift = 0; shift < 32; shift += 8) {
      hex += "0123456789abcdef"[word >> (shift + 4) & 15];
      hex += "0123456789abcdef"[word >> shift & 15];
    }
  }
  return hex;
}

std::string md5(Bytes bytes) {
  Md5 sum;
  sum.add(bytes);
  return sum.finish();
}

}  // namespace tern
