// Texts, numbers and lists in templates are as Python and Jinja have them; the results are theirs.
#include <gtest/gtest.h>

#include "text/chat/chat_template_test_support.h"

namespace tern::chat_template_test {
namespace {

std::string value_of(const std::string& expression) { return render("{{ " + expression + " }}", {}); }

TEST(PythonText, CasesOfAllScripts) {
  EXPECT_EQ(value_of("'äÖß straße ǆ ﬁ ŉ ᾳ ი' | upper"), "ÄÖSS STRASSE Ǆ FI ʼN ΑΙ Ი");
  EXPECT_EQ(value_of("'äÖß STRASSE Ǆ İ Я'.lower()"), "äöß strasse ǆ i\u0307 я");
  EXPECT_EQ(value_of("'ΣΑΣ ΟΔΟΣ, Σ' | lower"), "σας οδος, σ");
  EXPECT_EQ(value_of("'ÉTÉ été' | capitalize"), "Été été");
  EXPECT_EQ(value_of("'ßa ﬁx ǆa' | capitalize"), "Ssa ﬁx ǆa");
  EXPECT_EQ(value_of("'ǆa ﬁx ßa éa ა'.title()"), "ǅa Fix Ssa Éa ა");
  EXPECT_EQ(value_of("\"don't stop-me foo_bar {x} [y] <é>\" | title"), "Don't Stop-Me Foo_bar {X} [Y] <É>");
  EXPECT_EQ(value_of("\"don't stop-me foo_bar\".title()"), "Don'T Stop-Me Foo_Bar");
  EXPECT_EQ(value_of("'ä' is lower, 'Ä' is upper, 'Ää' is upper, '1' is lower, 'É1'.isupper(), 'ǅ'.isupper()"),
            "(True, True, False, False, True, False)");
  EXPECT_EQ(value_of("'äß'.isalpha(), 'ä1'.isalnum(), 'a-'.isalnum(), '\\u3000'.isspace(), 'é'.isascii()"),
            "(True, True, False, True, False)");
  EXPECT_EQ(value_of("'\xFFÄ\xFF' | lower"), "\xFFä\xFF");
}

TEST(PythonText, LinesAndParts) {
  EXPECT_EQ(value_of("'a\\nb\\r\\nc\\x0bd\\x1ee\\u2028f\\n'.splitlines()"), "['a', 'b', 'c', 'd', 'e', 'f']");
  EXPECT_EQ(value_of("'a\\nb\\n'.splitlines(true)"), "['a\\n', 'b\\n']");
  EXPECT_EQ(value_of("'a\\r\\nb\\n\\nc\\n' | indent(1)"), "a\n b\n\n c\n");
  EXPECT_EQ(value_of("'' | indent(2, true)"), "  ");
  EXPECT_EQ(value_of("'a\\n\\nb' | indent(1, true, true)"), " a\n \n b");
  EXPECT_EQ(value_of("'äbcäbc'.find('c'), 'äbcäbc'.find('c', 3), 'äbcäbc'.rfind('c'), 'abc'.find('c', 0, 2)"),
            "(2, 5, 5, -1)");
  EXPECT_EQ(value_of("'abc'.endswith('b', 0, 2), 'abc'.startswith('b', 1), 'abc'.index('b')"), "(True, True, 1)");
  EXPECT_EQ(value_of("'abc'.index('x')"), "error: chat template: index() of something that is not in the text");
  EXPECT_EQ(value_of("'a=b=c'.partition('='), 'a=b=c'.rpartition('='), 'a'.partition('='), 'a'.rpartition('=')"),
            "(('a', '=', 'b=c'), ('a=b', '=', 'c'), ('a', '', ''), ('', '', 'a'))");
  EXPECT_EQ(value_of("'a b c'.rsplit()"), "['a', 'b', 'c']");
  EXPECT_EQ(value_of("'a-b c_d é.' | wordcount"), "4");
}

// jinja2's Markup: what + adds to a marked text is escaped; ~ makes another text.
TEST(PythonText, SafeTexts) {
  EXPECT_EQ(value_of("'<' | safe + '>\"'"), "<&gt;&#34;");
  EXPECT_EQ(value_of("'<' + '>' | safe + '&' + \"'\""), "&lt;>&amp;&#39;");
  EXPECT_EQ(value_of("'<' | safe ~ 1 ~ ['a']"), "<1['a']");
  EXPECT_EQ(value_of("('<' | e + '<') ~ ' ' ~ ('<' | e | e) ~ ' ' ~ ('<' | e | forceescape)"),
            "&lt;&lt; &lt; &amp;lt;");
  EXPECT_EQ(value_of("'<' ~ '>' | tojson"), "<\">\"");
  EXPECT_EQ(value_of("'' | safe + '<'"), "&lt;");
  EXPECT_EQ(value_of("'<' + ('' | safe)"), "&lt;");
  EXPECT_EQ(value_of("('<' ~ '>' | safe) + '>'"), "<>>");
  const std::string same = "{% set x = '<b>' %}{% set y = x | safe %}{{ x + '<' }} {{ y + '<' }}";
  EXPECT_EQ(render(same, {}), "<b>< <b>&lt;");
}

TEST(PythonText, NumbersAndLists) {
  EXPECT_EQ(value_of("42 | round, 42.55 | round(1), 2.5 | round, -2.5 | round, 1234.5 | round(-2), 1250 | round(-2)"),
            "(42, 42.5, 2.0, -2.0, 1200.0, 1200)");
  EXPECT_EQ(value_of("2.4 | round(0, 'ceil'), -0.0, - 1.5"), "(3.0, -0.0, -1.5)");
  EXPECT_EQ(value_of("(1,) + (2,), [1] + [2], (1, 2) * 2"), "((1, 2), [1, 2], (1, 2, 1, 2))");
  EXPECT_TRUE(value_of("[1] + (2,)").starts_with("error: chat template: no + for list and tuple"));
  EXPECT_EQ(value_of("{none: 1, true: 2, 1.5: 3} | tojson"), R"({"null": 1, "true": 2, "1.5": 3})");
  EXPECT_EQ(value_of("['é', '\\u00a0', '\\u200b', '\\U000e0001', x]"),
            "['é', '\\xa0', '\\u200b', '\\U000e0001', Undefined]");
  EXPECT_EQ(render("{% for i in [1] %}{% for j in [1] %}{{ loop.depth }}{{ loop.depth0 }}{% endfor %}{% endfor %}", {}),
            "10");
}

// As in Python, the method hides the member unless it is written as an item.
TEST(PythonText, MethodsHideMembers) {
  const std::string dict = "{% set d = {'items': {'a': 1}, 'b': 2} %}";
  EXPECT_EQ(
      render(dict + "{{ d.items is callable }}{{ d.items.a is defined }}{{ d['items'].a }}{{ d.items() | length }}"
                    "{{ d.b }}{{ d.copy().b }}",
             {}),
      "TrueFalse1222");
  EXPECT_EQ(render(dict + "{% set f = d.items %}{{ f() }}", {}),
            "error: chat template: a call of items() by another name");
}

TEST(PythonText, WidthsAndWraps) {
  EXPECT_EQ(value_of("'a well-known e-mail--and superlong' | wordwrap(9)"), "a well-\nknown\ne-mail--\nand\nsuperlong");
  EXPECT_EQ(value_of("'superlong-word x' | wordwrap(6, false, '|', false)"), "superlong-word|x");
  EXPECT_EQ(value_of("'a  b\n\n c' | wordwrap(3)"), "a\nb\n\n c");
  EXPECT_EQ(value_of("'one two three' | truncate(9, leeway=0), 'one two three' | truncate(9, true, '…', 0)"),
            "('one...', 'one two …')");
  EXPECT_EQ(value_of("'one two' | truncate(4), 'é' | center(4), 'ab'.center(5, '*')"), "('one two', ' é  ', '**ab*')");
  EXPECT_EQ(value_of("'ab'.ljust(4, '.'), 'ab'.rjust(4), '-5'.zfill(4), 'a\tb'.expandtabs(4)"),
            "('ab..', '  ab', '-005', 'a   b')");
  // Numbers at the ends of their range.
  EXPECT_EQ(value_of("'one' | truncate(9223372036854775807, leeway=9223372036854775807)"), "one");
  EXPECT_EQ(value_of("-9e18 | filesizeformat, -1e30 | filesizeformat"),
            "('-9000000000000000000 Bytes', '-1000000000000000019884624838656 Bytes')");
  EXPECT_TRUE(value_of("'a' | truncate(2)").starts_with("error: chat template: truncate() to less than its end has"));
}

TEST(PythonText, AddressesSizesAndElements) {
  EXPECT_EQ(value_of("'a b/ü?' | urlencode, {'a b': '/', 'c': 1} | urlencode"), "('a%20b/%C3%BC%3F', 'a+b=%2F&c=1')");
  EXPECT_EQ(value_of("1 | filesizeformat, 999 | filesizeformat, 1500 | filesizeformat, 2048 | filesizeformat(true)"),
            "('1 Byte', '999 Bytes', '1.5 kB', '2.0 KiB')");
  EXPECT_EQ(value_of("{'a': '<', 'b': none} | xmlattr"), " a=\"&lt;\"");
  EXPECT_EQ(value_of("'0x1f' | int(0, 16), '0b11' | int(base=0), '1_0' | int, 'z' | int(7, 36), '010' | int(5, 0)"),
            "(31, 3, 10, 35, 10)");
}

TEST(PythonText, GroupsBatchesAndSlices) {
  EXPECT_EQ(value_of("[1, 2, 3, 4, 5] | batch(2, 0) | list, [1, 2, 3] | slice(2, 'x') | list"),
            "([[1, 2], [3, 4], [5, 0]], [[1, 2], [3, 'x']])");
  const std::string list = "{% set all = [{'k': 'b', 'n': 1}, {'k': 'A'}, {'k': 'B', 'n': 2}] %}";
  EXPECT_EQ(render(list + "{% for g in all | groupby('k') %}{{ g.grouper }}{{ g.list | length }}{% endfor %}", {}),
            "A1b2");
  EXPECT_EQ(
      render(list + "{% for key, items in all | groupby('n', default=0) %}{{ key }}{{ items[0].k }}{% endfor %}", {}),
      "0A1b2B");
  EXPECT_EQ(render(list + "{{ all | groupby('k', case_sensitive=true) | map('first') | list }}", {}),
            "['A', 'B', 'b']");
  EXPECT_EQ(value_of("'wordwrap' is filter, 'nothing' is filter, 'even' is test, namespace(a=1) | attr('a')"),
            "(True, False, True, 1)");
  EXPECT_EQ(value_of("{'a': 1} | attr('a') is defined"), "False");
}

}  // namespace
}  // namespace tern::chat_template_test
