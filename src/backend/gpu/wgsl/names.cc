// WGSL's own names, which a kernel must not use.
#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <ranges>
#include <set>

#include "backend/gpu/wgsl/writer.h"

namespace tern::wgsl {
namespace {

// W3C, WebGPU Shading Language: §16.1 keywords and §16.2 reserved words. No compiler accepts them as names.
constexpr std::string_view kKeywords =
    "alias break case const const_assert continue continuing default diagnostic discard else enable false fn for if "
    "let loop override requires return struct switch true var while";
constexpr std::string_view kReserved =
    "NULL Self abstract active alignas alignof as asm asm_fragment async attribute auto await become cast catch class "
    "co_await co_return co_yield coherent column_major common compile compile_fragment concept const_cast consteval "
    "constexpr constinit crate debugger decltype delete demote demote_to_helper do dynamic_cast enum explicit export "
    "extends extern external fallthrough filter final finally friend from fxgroup get goto groupshared highp impl "
    "implements import inline instanceof interface layout lowp macro macro_rules match mediump meta mod module move "
    "mut mutable namespace new nil noexcept noinline nointerpolation non_coherent noncoherent noperspective null "
    "nullptr of operator package packoffset partition pass patch pixelfragment precise precision premerge priv "
    "protected pub public readonly ref regardless register reinterpret_cast require resource restrict self set shared "
    "sizeof smooth snorm static static_assert static_cast std subroutine super target template this thread_local "
    "throw trait try type typedef typeid typename typeof union unless unorm unsafe unsized use using varying virtual "
    "volatile wgsl where with writeonly yield";

// §6 and §17: types, enumerants and builtin functions. Shadowing them is legal WGSL, but a later use of the builtin
// would then mean something else.
constexpr std::string_view kTypes =
    "array atomic bool f16 f32 i32 u32 i8 u8 ptr sampler sampler_comparison vec2 vec3 vec4 vec2f vec3f vec4f vec2h "
    "vec3h vec4h vec2i vec3i vec4i vec2u vec3u vec4u mat2x2 mat2x3 mat2x4 mat3x2 mat3x3 mat3x4 mat4x2 mat4x3 mat4x4 "
    "mat2x2f mat2x3f mat2x4f mat3x2f mat3x3f mat3x4f mat4x2f mat4x3f mat4x4f mat2x2h mat2x3h mat2x4h mat3x2h mat3x3h "
    "mat3x4h mat4x2h mat4x3h mat4x4h texture_1d texture_2d texture_2d_array texture_3d texture_cube "
    "texture_cube_array texture_multisampled_2d texture_depth_multisampled_2d texture_external texture_storage_1d "
    "texture_storage_2d texture_storage_2d_array texture_storage_3d texture_depth_2d texture_depth_2d_array "
    "texture_depth_cube texture_depth_cube_array subgroup_matrix_left subgroup_matrix_right subgroup_matrix_result "
    "read write read_write function private workgroup uniform storage immediate void invariant handle";
constexpr std::string_view kFunctions =
    "bitcast all any select arrayLength abs acos acosh asin asinh atan atanh atan2 ceil clamp cos cosh "
    "countLeadingZeros countOneBits countTrailingZeros cross degrees determinant distance dot dot4U8Packed "
    "dot4I8Packed exp exp2 extractBits faceForward firstLeadingBit firstTrailingBit floor fma fract frexp insertBits "
    "inverseSqrt ldexp length log log2 max min mix modf normalize pow quantizeToF16 radians reflect refract "
    "reverseBits round saturate sign sin sinh smoothstep sqrt step tan tanh transpose trunc dpdx dpdxCoarse dpdxFine "
    "dpdy dpdyCoarse dpdyFine fwidth fwidthCoarse fwidthFine textureDimensions textureGather textureGatherCompare "
    "textureLoad textureNumLayers textureNumLevels textureNumSamples textureSample textureSampleBias "
    "textureSampleCompare textureSampleCompareLevel textureSampleGrad textureSampleLevel textureStore atomicLoad "
    "atomicStore atomicAdd atomicSub atomicMax atomicMin atomicAnd atomicOr atomicXor atomicExchange "
    "atomicCompareExchangeWeak pack4x8snorm pack4x8unorm pack4xI8 pack4xU8 pack4xI8Clamp pack4xU8Clamp pack2x16snorm "
    "pack2x16unorm pack2x16float unpack4x8snorm unpack4x8unorm unpack4xI8 unpack4xU8 unpack2x16snorm unpack2x16unorm "
    "unpack2x16float storageBarrier textureBarrier workgroupBarrier workgroupUniformLoad subgroupAdd "
    "subgroupExclusiveAdd subgroupInclusiveAdd subgroupAll subgroupAnd subgroupAny subgroupBallot subgroupBroadcast "
    "subgroupBroadcastFirst subgroupElect subgroupMax subgroupMin subgroupMul subgroupExclusiveMul "
    "subgroupInclusiveMul subgroupOr subgroupShuffle subgroupShuffleDown subgroupShuffleUp subgroupShuffleXor "
    "subgroupXor quadBroadcast quadSwapDiagonal quadSwapX quadSwapY subgroupMatrixLoad subgroupMatrixStore "
    "subgroupMatrixMultiply subgroupMatrixMultiplyAccumulate subgroupMatrixScalarAdd subgroupMatrixScalarSubtract "
    "subgroupMatrixScalarMultiply";

std::set<std::string_view> words_of(std::initializer_list<std::string_view> lists) {
  std::set<std::string_view> words;
  for (const std::string_view list : lists) {
    for (const auto word : std::views::split(list, ' ')) words.emplace(word);
  }
  return words;
}

}  // namespace

bool is_wgsl_reserved(std::string_view name) {
  static const auto kWords = words_of({kKeywords, kReserved});
  return kWords.contains(name);
}

bool is_wgsl_name(std::string_view name) {
  static const auto kWords = words_of({kTypes, kFunctions});
  return is_wgsl_reserved(name) || kWords.contains(name);
}

// ASCII only, although WGSL allows more. WGSL rejects names that begin with "__", and "_" is not a name.
bool is_identifier(std::string_view name) {
  const auto is_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !name.empty() && name != "_" && !name.starts_with("__") &&
         std::isdigit(static_cast<unsigned char>(name[0])) == 0 && std::ranges::all_of(name, is_word);
}

}  // namespace tern::wgsl
