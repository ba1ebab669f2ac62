#include "backend/gpu/wgsl/writer.h"

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <utility>

namespace tern::wgsl {
namespace {

void refuse_wgsl_name(std::string_view name) {
  if (!is_identifier(name)) trace_error(cat("\"", name, "\" is no name"));
  if (is_wgsl_name(name)) trace_error(cat(name, " is a name of WGSL's own; choose another"));
}

// A deque never moves its elements, so Texts stay valid.
thread_local std::deque<std::string> kept_texts;

}  // namespace

Text keep(std::string text) { return Text(kept_texts.emplace_back(std::move(text))); }
void forget_texts() { kept_texts.clear(); }

Text put_together(std::initializer_list<std::string_view> parts) {
  size_t size = 0;
  for (const std::string_view part : parts) size += part.size();
  std::string text;
  text.reserve(size);
  for (const std::string_view part : parts) text += part;
  return keep(std::move(text));
}

void trace_error(std::string_view what) {
  const std::string kernel = writer ? writer->name() : "?";
  std::fprintf(stderr, "tern: internal error: kernel %s: %.*s\n", kernel.c_str(), static_cast<int>(what.size()),
               what.data());
  std::abort();
}

Writer::Writer(std::string name) {
  module_.name = std::move(name);
  claim(module_.name);
}

void Writer::line(std::string_view text) {
  body_.append(static_cast<size_t>(2 * indent_), ' ').append(text).append("\n");
}

void Writer::open(std::string_view head) {
  line(head);
  ++indent_;
  wrote();  // an expression read before a loop may be stale in its second iteration
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

void Writer::declare(std::string_view text) { declarations_.append(text).append("\n"); }

void Writer::declare_once(std::string_view text) {
  if (declared_.emplace(text).second) declare(text);
}

void Writer::builtin(std::string_view parameter) { builtins_ += cat(builtins_.empty() ? "" : ", ", parameter); }

void Writer::bind(BindingDecl binding, std::string_view declaration_tail) {
  declare(cat("@group(0) @binding(", std::to_string(module_.bindings.size()), ") ", declaration_tail));
  if (binding.access != Access::kUniform) ++module_.needs.storage_buffers;
  module_.bindings.push_back(std::move(binding));
}

Text Writer::fresh(std::string_view base) {
  refuse_wgsl_name(base);
  Text name = cat(base);
  for (int k = 1; !names_.emplace(name).second; ++k) name = cat(base, "_", std::to_string(k));
  return name;
}

void Writer::claim(std::string_view name) {
  refuse_wgsl_name(name);
  if (!names_.emplace(name).second) trace_error(cat("the name ", name, " is taken"));
}

void Writer::refuse_in_function(std::string_view what) const {
  if (!outer_bodies_.empty())
    trace_error(cat(what, " inside a function: a call would do it wherever its value is used"));
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
  // Drivers want matrices to start at multiples of 16 bytes, but place a workgroup's arrays as they like.
  if (needs.subgroup_matrix && has_odd_memory_)
    trace_error("workgroup memory beside matrices is no multiple of 16 bytes");
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
