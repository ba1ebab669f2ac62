#include "backend/gpu/wgsl/writer.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <utility>

namespace tern::wgsl {
namespace {

// WGSL's keywords, reserved words, and the names of builtin types and functions (W3C, WebGPU Shading Language, §15 and
// §17), as far as a kernel could want them as a name. Shadowing a builtin is legal WGSL, and then some later use of it
// means something else.
constexpr std::string_view kTaken[] = {"alias",
                                       "break",
                                       "case",
                                       "const",
                                       "const_assert",
                                       "continue",
                                       "continuing",
                                       "default",
                                       "diagnostic",
                                       "discard",
                                       "else",
                                       "enable",
                                       "false",
                                       "fn",
                                       "for",
                                       "if",
                                       "let",
                                       "loop",
                                       "override",
                                       "requires",
                                       "return",
                                       "struct",
                                       "switch",
                                       "true",
                                       "var",
                                       "while",
                                       "active",
                                       "and",
                                       "as",
                                       "asm",
                                       "async",
                                       "auto",
                                       "await",
                                       "become",
                                       "bool",
                                       "break_if",
                                       "cast",
                                       "catch",
                                       "class",
                                       "common",
                                       "compile",
                                       "concept",
                                       "demote",
                                       "do",
                                       "enum",
                                       "explicit",
                                       "export",
                                       "extends",
                                       "extern",
                                       "filter",
                                       "final",
                                       "from",
                                       "get",
                                       "goto",
                                       "groupshared",
                                       "handle",
                                       "impl",
                                       "import",
                                       "inline",
                                       "interface",
                                       "invariant",
                                       "lowp",
                                       "macro",
                                       "match",
                                       "meta",
                                       "mod",
                                       "module",
                                       "move",
                                       "namespace",
                                       "new",
                                       "nil",
                                       "null",
                                       "of",
                                       "operator",
                                       "or",
                                       "package",
                                       "partition",
                                       "pass",
                                       "patch",
                                       "precise",
                                       "precision",
                                       "private",
                                       "protected",
                                       "ptr",
                                       "public",
                                       "ref",
                                       "regardless",
                                       "register",
                                       "self",
                                       "set",
                                       "shared",
                                       "sizeof",
                                       "smooth",
                                       "static",
                                       "super",
                                       "target",
                                       "template",
                                       "this",
                                       "type",
                                       "typedef",
                                       "union",
                                       "unsigned",
                                       "use",
                                       "using",
                                       "varying",
                                       "virtual",
                                       "void",
                                       "volatile",
                                       "where",
                                       "with",
                                       "yield",
                                       "f16",
                                       "f32",
                                       "i32",
                                       "u32",
                                       "vec2",
                                       "vec3",
                                       "vec4",
                                       "vec2f",
                                       "vec3f",
                                       "vec4f",
                                       "vec2u",
                                       "vec4u",
                                       "vec2i",
                                       "vec4i",
                                       "mat2x2",
                                       "mat4x4",
                                       "array",
                                       "atomic",
                                       "bitcast",
                                       "all",
                                       "any",
                                       "select",
                                       "arrayLength",
                                       "abs",
                                       "acos",
                                       "asin",
                                       "atan",
                                       "atan2",
                                       "ceil",
                                       "clamp",
                                       "cos",
                                       "cosh",
                                       "countLeadingZeros",
                                       "countOneBits",
                                       "countTrailingZeros",
                                       "cross",
                                       "degrees",
                                       "determinant",
                                       "distance",
                                       "dot",
                                       "dot4I8Packed",
                                       "dot4U8Packed",
                                       "exp",
                                       "exp2",
                                       "extractBits",
                                       "faceForward",
                                       "firstLeadingBit",
                                       "firstTrailingBit",
                                       "floor",
                                       "fma",
                                       "fract",
                                       "frexp",
                                       "insertBits",
                                       "inverseSqrt",
                                       "ldexp",
                                       "length",
                                       "log",
                                       "log2",
                                       "max",
                                       "min",
                                       "mix",
                                       "modf",
                                       "normalize",
                                       "pow",
                                       "quantizeToF16",
                                       "radians",
                                       "reflect",
                                       "refract",
                                       "reverseBits",
                                       "round",
                                       "saturate",
                                       "sign",
                                       "sin",
                                       "sinh",
                                       "smoothstep",
                                       "sqrt",
                                       "step",
                                       "tan",
                                       "tanh",
                                       "transpose",
                                       "trunc",
                                       "pack2x16float",
                                       "unpack2x16float",
                                       "pack4xI8",
                                       "unpack4xI8",
                                       "pack4xU8",
                                       "unpack4xU8",
                                       "storageBarrier",
                                       "workgroupBarrier",
                                       "workgroupUniformLoad",
                                       "atomicLoad",
                                       "atomicStore",
                                       "atomicAdd",
                                       "atomicMax",
                                       "atomicMin",
                                       "subgroupAdd",
                                       "subgroupMax",
                                       "subgroupMin",
                                       "subgroupBroadcast",
                                       "subgroupShuffle",
                                       "subgroupShuffleXor",
                                       "subgroupElect",
                                       "storage",
                                       "workgroup",
                                       "uniform",
                                       "function",
                                       "read",
                                       "write",
                                       "read_write",
                                       "immediate"};

void refuse_wgsl_name(std::string_view name) {
  if (is_wgsl_name(name)) trace_error(cat(name, " is a name of WGSL's own; choose another"));
}

}  // namespace

void trace_error(std::string_view what) {
  const std::string kernel = writer ? writer->name() : "?";
  std::fprintf(stderr, "tern: internal error: kernel %s: %.*s\n", kernel.c_str(), static_cast<int>(what.size()),
               what.data());
  std::abort();
}

bool is_wgsl_name(std::string_view name) { return std::ranges::find(kTaken, name) != std::end(kTaken); }

Writer::Writer(std::string name) {
  module_.name = std::move(name);
  claim(module_.name);
}

void Writer::line(std::string_view text) {
  body_ += cat(std::string(static_cast<size_t>(2 * indent_), ' '), text, "\n");
}

void Writer::open(std::string_view head) {
  line(head);
  ++indent_;
  wrote();  // what was read before a block may have changed in its second round
}

void Writer::close() {
  --indent_;
  line("}");
  wrote();
}

void Writer::reopen(std::string_view between) {
  --indent_;
  open(between);
}

void Writer::declare(std::string_view text) { declarations_ += cat(text, "\n"); }

void Writer::declare_once(const std::string& text) {
  if (declared_.insert(text).second) declare(text);
}

void Writer::builtin(std::string_view parameter) { builtins_ += cat(builtins_.empty() ? "" : ", ", parameter); }

void Writer::bind(BindingDecl binding, std::string_view declaration_tail) {
  declare(cat("@group(0) @binding(", std::to_string(module_.bindings.size()), ") ", declaration_tail));
  if (binding.access != Access::kUniform) ++module_.needs.storage_buffers;
  module_.bindings.push_back(std::move(binding));
}

std::string Writer::fresh(std::string_view base) {
  refuse_wgsl_name(base);
  std::string name(base);
  for (int k = 1; !names_.insert(name).second; ++k) name = cat(base, "_", std::to_string(k));
  return name;
}

void Writer::claim(std::string_view name) {
  refuse_wgsl_name(name);
  if (!names_.insert(std::string(name)).second) trace_error(cat("the name ", name, " is taken"));
}

void Writer::begin_function() { outer_bodies_.push_back(std::exchange(body_, {})); }

void Writer::end_function(std::string_view head) {
  const std::string body = std::exchange(body_, std::move(outer_bodies_.back()));
  outer_bodies_.pop_back();
  declare(cat(head, " {\n", body, "}"));
}

Module Writer::finish(uint32_t workgroup_size) {
  Requirements& needs = module_.needs;
  needs.invocations = workgroup_size;
  std::string head;
  if (needs.f16) head += "enable f16;\n";
  if (needs.subgroups) head += "enable subgroups;\n";
  if (needs.subgroup_matrix) head += "enable chromium_experimental_subgroup_matrix;\n";
  if (needs.packed_dot) head += "requires packed_4x8_integer_dot_product;\n";
  if (needs.immediate_bytes > 0) head += "requires immediate_address_space;\n";
  for (const std::string& rule : diagnostics_) head += cat("diagnostic(off, ", rule, ");\n");
  module_.text = cat(head, head.empty() ? "" : "\n", declarations_, "\n@compute @workgroup_size(",
                     std::to_string(workgroup_size), ")\nfn ", module_.name, "(", builtins_, ") {\n", body_, "}\n");
  return std::move(module_);
}

}  // namespace tern::wgsl
