#include "backend/gpu/wgsl/statements.h"

#include "backend/gpu/wgsl/memory.h"

namespace tern::wgsl {

Text detail::let(std::string_view name, const Expression& value) {
  const Text text = text_of(value);
  const Text fresh = writer->fresh(name);
  writer->line(cat("let ", fresh, " = ", text, ";"));
  return fresh;
}

Text detail::var(std::string_view name, std::string_view type, const Expression& value) {
  const Text text = text_of(value);
  const Text fresh = writer->fresh(name);
  writer->line(cat("var ", fresh, ": ", type, " = ", text, ";"));
  return fresh;
}

void detail::assign(std::string_view place, std::string_view op, const Expression& value) {
  writer->line(cat(place, " ", op, " ", text_of(value), ";"));
  writer->wrote();
}

void detail::open_if(const Expression& condition) { writer->open(cat("if (", text_of(condition), ") {")); }

Text detail::open_loop(std::string_view name, const Expression& from, const Expression& to, const Expression& step) {
  const Text first = text_of(from);
  const Text end = fixed_text("end", to);
  const Text by = fixed_text("by", step);
  const Text i = writer->fresh(name);
  writer->open(cat("for (var ", i, " = ", first, "; ", i, " < ", end, "; ", i, " += ", by, ") {"));
  return i;
}

Text detail::fixed_text(std::string_view name, const Expression& value) {
  return value.epoch == 0 ? value.text : let(name, value);
}

void workgroupBarrier() {
  writer->refuse_in_function("a barrier");
  raw_statement("workgroupBarrier();");
}

void storageBarrier() {
  writer->refuse_in_function("a barrier");
  raw_statement("storageBarrier();");
}

void note(std::string_view text) {
  CHECK(!text.contains('\n'));
  writer->line(cat("// ", text));
}

void raw_statement(std::string_view text) {
  writer->line(text);
  writer->wrote();
}

// ---- Memory

Text detail::element_text(std::string_view array, const Expression& index) {
  return cat(array, "[", fixed_text("at", index), "]");
}

Text detail::written_element_text(std::string_view array, const Expression& index) {
  writer->refuse_in_function(cat("memory that can change (", array, ")"));
  return element_text(array, index);
}

void detail::declare_array(std::string_view name, Access access, std::string_view type, uint32_t element_bytes) {
  writer->claim(name);
  const std::string_view mode = access == Access::kRead ? "read" : "read_write";
  writer->bind({std::string(name), access, element_bytes},
               cat("var<storage, ", mode, "> ", name, ": array<", type, ">;"));
}

void detail::declare_struct(std::string_view type_name, std::span<const NameAndType> fields) {
  writer->claim(type_name);
  std::string list;
  for (const auto& [name, type] : fields) {
    if (!is_identifier(name) || is_wgsl_reserved(name)) trace_error(cat("\"", name, "\" is no name for a field"));
    list.append(list.empty() ? " " : ", ").append(name).append(": ").append(type);
  }
  writer->declare(cat("struct ", type_name, " {", list, " }"));
}

Text detail::declare_shared(std::string_view name, std::string_view type, uint32_t n, uint32_t bytes) {
  const Text fresh = writer->fresh(name);
  writer->declare(cat("var<workgroup> ", fresh, ": array<", type, ", ", std::to_string(n), ">;"));
  writer->workgroup_memory(bytes);
  return fresh;
}

Text detail::atomic_text(std::string_view function, std::string_view place, const Expression& value) {
  return cat(function, "(&", place, ", ", text_of(value), ")");
}

}  // namespace tern::wgsl
