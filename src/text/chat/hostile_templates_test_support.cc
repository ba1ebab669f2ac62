#include "text/chat/hostile_templates_test_support.h"

#include <string_view>

namespace tern {
namespace {

using Templates = std::vector<HostileTemplate>;

std::string repeated(std::string_view unit, size_t n) {
  std::string out;
  for (size_t i = 0; i < n; ++i) out += unit;
  return out;
}

// `inside`, repeated 10^`n` times.
std::string in_loops(size_t n, const std::string& inside) {
  return repeated("{% for i in range(10) %}", n) + inside + repeated("{% endfor %}", n);
}

const std::string kThousand = "{% set l = range(1000) | list %}";

// Sources that make a parser search, recurse or use much memory.
void add_hard_to_parse(Templates& all) {
  const auto add = [&](const std::string& name, std::string source) {
    all.push_back({"parse: " + name, std::move(source)});
  };
  for (const std::string unit :
       {"{#", "{%", "{{", "{% if 1 %}", "{% elif 0 %}", "{% for x in y %}", "{% raw %}", "{{ '", "{{ (", "{", "}}",
        "#}", "{%-", "{{ x }}", "{# #}", "{%+ raw", "{% endraw %}"}) {
    add("30,000 times " + unit, repeated(unit, 30'000));
    all.back().source.resize(std::min<size_t>(all.back().source.size(), 250'000));
  }
  add("an unclosed comment", "{#" + std::string(65'000, 'c'));
  add("an unclosed text", "{{ '" + std::string(65'000, 'c'));
  add("2,000 elif", "{% if 0 %}" + repeated("{% elif 0 %}", 2'000) + "{% endif %}");
  add("8,000 comment begins", repeated("{#", 8'000));
  add("blanks", "{{ x }}" + std::string(200'000, ' ') + "{%- if 1 %}");
  add("blanks before tags that do not strip", repeated(std::string(1'000, ' ') + "{{ x }}", 200));
  add("blanks in a raw block", "{% raw %}" + repeated("{%" + std::string(1'000, ' '), 200));
  add("brackets", "{{ " + repeated("(", 50'000) + repeated(")", 50'000) + " }}");
  add("lists", "{{ " + repeated("[", 63) + repeated("]", 63) + " }}");
  add("not", "{{ " + repeated("not ", 50'000) + "1 }}");
  add("minus", "{{ " + repeated("-", 50'000) + "1 }}");
  add("if else", "{{ " + repeated("1 if 0 else ", 20'000) + "1 }}");
  add("if if", "{{ 1" + repeated(" if 1", 40'000) + " }}");
  add("filters", "{{ x" + repeated("|trim", 40'000) + " }}");
  add("attributes", "{{ x" + repeated(".a", 100'000) + " }}");
  add("calls", "{{ x" + repeated("()", 100'000) + " }}");
  add("tests", "{{ x" + repeated(" is defined", 20'000) + " }}");
  add("indexes", "{{ x" + repeated("[0]", 60'000) + " }}");
  add("additions", "{{ 1" + repeated("+1", 100'000) + " }}");
  add("powers", "{{ 9" + repeated("**9", 60'000) + " }}");
  add("comparisons", "{{ 1" + repeated("<2", 100'000) + " }}");
  add("a large list", "{{ [" + repeated("1,", 120'000) + "] | tojson }}");
  add("a large dict", "{% set d = {" + repeated("1:1,", 60'000) + "} %}");
  add("a dict of many keys", [] {
    std::string source = "{% set d = {";
    for (int i = 0; i < 30'000; ++i) source += std::to_string(i) + ":1,";
    return source + "} %}";
  }());
  add("many variables", [] {
    std::string source;
    for (int i = 0; i < 12'000; ++i) source += "{% set v" + std::to_string(i) + "=1 %}";
    return source;
  }());
  add("many texts in quotes", "{{ " + repeated("'a' ", 60'000) + " }}");
  add("a macro with many parameters", "{% macro f(" + repeated("a,", 60'000) + "b) %}{% endmacro %}{{ f() }}");
  add("blocks", repeated("{% if 1 %}", 15'000) + repeated("{% endif %}", 15'000));
  add("set blocks", repeated("{% set x %}", 12'000) + repeated("{% endset %}", 12'000));
  add("megabytes", std::string(5'000'000, 'x'));
  add("zeros", std::string(100'000, '\0'));
  add("a long name", "{{ " + std::string(200'000, 'a') + " }}");
  add("a long number", "{{ " + std::string(200'000, '9') + " }}");
  add("a long fraction", "{{ 0." + std::string(200'000, '9') + " }}");
}

// Sources that run endlessly.
void add_slow(Templates& all) {
  const auto add = [&](const std::string& name, std::string source) {
    all.push_back({"time: " + name, std::move(source)});
  };
  add("loops in loops", in_loops(20, "x"));
  add("empty loops", in_loops(20, ""));
  add("a loop over a large range", "{% for i in range(2000000000) %}{% endfor %}");
  add("a large range backwards", "{% for i in range(0, -2000000000, -1) %}{% endfor %}");
  add("a range to the end", "{% for i in range(9223372036854775800, 9223372036854775807, 4) %}{% endfor %}{{ i }}");
  add("a macro that calls itself", "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}");
  add("a macro that calls itself twice",
      "{% macro f(n) %}{% if n %}{{ f(n-1) }}{{ f(n-1) }}{% endif %}{% endmacro %}{{ f(40) }}");
  add("a macro that calls its argument", "{% macro f(g) %}{{ g(g) }}{% endmacro %}{{ f(f) }}");
  add("a macro as its own default", "{% macro f(a=f()) %}{% endmacro %}{{ f() }}");
  add("callers of callers", "{% macro f() %}{% call f() %}{{ caller() }}{% endcall %}{% endmacro %}{{ f() }}");
  add("sorting", kThousand + in_loops(5, "{% set x = l | sort(reverse=true) %}"));
  add("sorting texts", kThousand + in_loops(5, "{% set x = l | map('string') | sort %}"));
  add("sorting long texts",
      "{% set a = 'a' * 100000 %}{% set l = [a ~ 1, a ~ 2, a ~ 3, a ~ 4] * 100 %}{{ l | sort(case_sensitive=true) | "
      "length }}");
  add("tojson", kThousand + in_loops(5, "{% set x = l | tojson %}"));
  add("tojson of a large list", "{% set l = range(900) | list %}{% set m = [l] * 900 %}{{ m | tojson(indent=64) }}");
  add("unique", "{{ range(100000) | unique | length }}");
  add("searching", kThousand + in_loops(5, "{{ 1001 in l }}"));
  add("searching a text", "{% set a = 'a' * 300000 %}{% set b = 'a' * 200 ~ 'b' %}" + in_loops(6, "{{ b in a }}"));
  add("searching a long text",
      "{% set a = 'a' * 3000000 %}{% set b = 'a' * 1500000 ~ 'b' %}" + in_loops(6, "{{ b in a }}"));
  add("counting characters", "{% set a = 'a' * 3000000 %}" + in_loops(6, "{{ a | length }}{{ a[2999999] }}"));
  add("stripping", "{% set a = ' ' * 3000000 %}" + in_loops(6, "{% set b = a.strip() %}"));
  add("stripping a set",
      "{% set a = 'a' * 3000000 %}{% set s = 'b' * 100000 ~ 'a' %}" + in_loops(6, "{% set b = a.strip(s) %}"));
  add("splitting", "{% set a = 'a ' * 1000000 %}" + in_loops(6, "{% set b = a.split() %}"));
  add("replacing", "{% set a = 'a' * 3000000 %}" + in_loops(6, "{% set b = a.replace('a', '') %}"));
  add("comparing lists", kThousand + "{% set m = range(1000) | list %}" + in_loops(6, "{{ l == m }}"));
  add("comparing lists of lists", "{% set l = [1] %}{% for i in range(60) %}{% endfor %}" +
                                      repeated("{% set l = [l, l] %}", 60) + "{{ l == l[:] }}");
  add("joining", kThousand + in_loops(6, "{% set x = l | join %}"));
  add("maps", kThousand + in_loops(6, "{% set x = l | map('string') | list %}"));
  add("attribute paths", "{{ [1] | map(attribute='" + std::string(60'000, '.') + "') | list }}");
  add("looking up a name", repeated("{% with %}", 60) + in_loops(3, "{{ y }}{{ y }}") + repeated("{% endwith %}", 60));
  add("30 KB macro", "{% macro f() %}" + std::string(30'000, 'x') + "{% endmacro %}" +
                         "{% for a in range(100) %}{% for b in range(100) %}" + repeated("{{ f() }}", 8) +
                         "{% endfor %}{% endfor %}");
  add("changing a namespace", "{% set ns = namespace(a=0) %}" + in_loops(9, "{% set ns.a = ns.a + 1 %}"));
}

// Sources that make large outputs of small inputs.
void add_large(Templates& all) {
  const auto add = [&](const std::string& name, std::string source) {
    all.push_back({"memory: " + name, std::move(source)});
  };
  const auto doubled = [](const std::string& start, const std::string& twice) {
    return "{% set ns = namespace(s=" + start + ") %}{% for i in range(80) %}{% set ns.s = " + twice +
           " %}{% endfor %}";
  };
  add("doubling a text", doubled("'x'", "ns.s + ns.s") + "{{ ns.s }}");
  add("doubling by ~", doubled("'x'", "ns.s ~ ns.s"));
  add("doubling a list", doubled("[1]", "ns.s + ns.s"));
  add("doubling by nesting", doubled("[1]", "[ns.s, ns.s]") + "{{ ns.s }}");
  add("doubling a dict", doubled("{}", "{'a': ns.s, 'b': ns.s}") + "{{ ns.s | tojson }}");
  add("doubling by join", doubled("'x'", "[ns.s, ns.s] | join(ns.s)"));
  add("doubling by replace", doubled("'xx'", "ns.s.replace('x', ns.s)"));
  add("replacing nothing", "{% set a = 'a' * 30000 %}{{ a.replace('', a) }}");
  add("doubling by escapes", doubled("'\"'", "ns.s | tojson"));
  add("doubling by str", doubled("[1]", "[ns.s | string]"));
  add("doubling by a macro",
      "{% macro f(s, n) %}{% if n %}{{ f(s + s, n - 1) }}{% endif %}{% endmacro %}{{ f('x', 60) }}");
  add("doubling by blocks", repeated("{% set x %}{{ x }}{{ x }}y{% endset %}", 60));
  add("multiplying a text", "{{ 'x' * 1000000000000 }}");
  add("multiplying nothing", "{{ '' * 9223372036854775807 }}{{ [] * 9223372036854775807 }}");
  add("multiplying a list", "{{ [1] * 9223372036854775807 }}");
  add("indenting", "{{ ('a\\n' * 100000) | indent(64) }}");
  add("indenting by a lot", "{{ 'a\\nb' | indent(2000000000) }}");
  add("indenting by a text", "{% set a = 'a\\n' * 3000 %}{{ a | indent(a) }}");
  add("tojson with a wide indent", "{{ [1] | tojson(indent=2000000000) }}");
  add("a namespace in itself", "{% set ns = namespace() %}{% set ns.a = ns %}{{ ns }}{{ ns | tojson }}");
  add("a list in itself", "{% set l = [] %}{% set _ = l.append(l) %}{{ l }}");
  add("nesting",
      "{% set ns = namespace(l=1) %}{% for i in range(100000) %}{% set ns.l = [ns.l] %}{% endfor %}{{ ns.l }}");
  add("lists of a text", "{{ ('x' * 10000000) | list | length }}");
  add("a huge power", "{{ 9 ** 9 ** 9 ** 9 }}{{ 2.0 ** 100000 }}");
  add("the smallest number", "{% set m = -9223372036854775807 - 1 %}{{ m // -1 }}{{ m % -1 }}{{ m * -1 }}");
  add("division by zero", "{{ 1 // 0 }}{{ 1 % 0 }}");
  add("slices far away",
      "{{ 'abc'[9223372036854775807:-9223372036854775807:-9223372036854775807] }}{{ 'abc'[9:0:-1] }}");
  add("a wide date", "{{ strftime_now('%999999999d') }}{{ strftime_now('%c' * 100000) }}");
  add("looks at Python", "{{ ''.__class__.__mro__[1].__subclasses__() }}");
  add("includes a file", "{% include '/etc/passwd' %}");
}

}  // namespace

std::vector<HostileTemplate> hostile_templates() {
  Templates all;
  add_hard_to_parse(all);
  add_slow(all);
  add_large(all);
  return all;
}

}  // namespace tern
