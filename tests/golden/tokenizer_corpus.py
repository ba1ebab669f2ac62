"""Texts that tokenizers disagree about. Used by make_tokenizer_goldens.py.

Characters whose class differs between Unicode versions are avoided: the libraries compared carry Unicode 14 to 17.
"""

ENGLISH = """The old lighthouse keeper counted the steps again: one hundred and ninety-nine. "That can't be right," he said; \
yesterday there'd been two hundred. He'd painted each one himself, hadn't he? It's the sort of thing you'd remember...

Down in the village nobody believed him. They'll say I've lost my mind, he thought -- and maybe they're right. \
But the sea (which had swallowed bigger things than a step) kept its own accounts, to the cent: $1,204.50, 37% off, \
no. 12/B, at 10:45 a.m. on 3/14/2015.
"""

CODE = '''#include <stdint.h>
static inline uint32_t rotl(uint32_t x, int k) {
\treturn (x << k) | (x >> (32 - k));   /* k in 1..31 */
}

def fib(n: int) -> list[int]:
    """First n numbers."""
    a, b = 0, 1
    out = []
    while len(out) < n:
        out.append(a); a, b = b, a + b
    return out


if __name__ == "__main__":
    print(f"{fib(10)!r}", end="\\n")

SELECT u.id, COUNT(*) AS n FROM users u WHERE u.name LIKE '%o''Brien%' GROUP BY 1 HAVING n>=2;
<a href="https://example.org/?q=1&amp;r=%20x#top" class='x-y'>link</a>
const f = async (x) => ({...x, y: x?.y ?? 0x1F_FFn, z: `t${1+1}`});
$ grep -rnE '^\\s*(foo|bar)[0-9]{2,}' ./src | sed 's/\\t/    /g' >> out.txt && echo "$?"
'''

CORPUS = [
    "",
    " ",
    "a",
    "Hello, world!",
    ENGLISH,
    CODE,
    # contractions, all cases, with other apostrophes and the long s
    "I'm you're he's she'd we'll they've don't 'tis 'S 'LL 'lL 'Ll 'VE 'rE 'M 'D 'T x'sx X'S'S 's't're've'm'll'd",
    "it\u2019s don\u2019t '\u017f '\u017f\u017f x'\u017fy 'ſt \u017fteamboat 'K '\u212a 'l'l ''s '' 'sure",
    # digits
    "1 12 123 1234 12345 123456 1234567 3.14159 1e-10 0xDEADBEEF 1,000,000 2024-11-21T07:03:48Z v1.2.3-rc4 007",
    "\u0661\u0662\u0663\u0664 \u0967\u0968\u0969\u096a \uff11\uff12\uff13\uff14 \u00bd\u00be\u2153 \u2163\u2174 \u2460\u2461 x\u00b2y\u00b3 10\u207b\u2075",
    # blanks
    "  two   three    four     five          ten                    twenty",
    "a\nb\n\nc\n\n\nd\n\n\n\n\n\n\n\ne \n f  \n\n  g\t\n\th",
    "a\r\nb\r\n\r\nc\r\rd \r\n e\t\r\n",
    "\t\ttabs\t and \t spaces \t\t\t\t\t\t\t\tend\t",
    " leading", "trailing ", "trailing  ", "\n", "\n\n", " \n", "\n ", "\r\n", "\t", "   ", " \t \n \r \v \f ",
    " " * 64 + "x" + " " * 127 + "\n" * 40 + " " * 17,
    "a\u00a0b\u00a0\u00a0c\u2003d\u3000e\u2028f\u2029g\u0085h\u1680i\u202fj\u205fk\u2009\u200al",
    "\u180ea\u180e\u180e b\u200bc\u200b\u200bd\u2060e\ufefff\u00adg",
    # control characters
    "\x00\x01\x02 a\x07b\x08c\x0bd\x0ce\x1b[31mred\x1b[0m\x1c\x1d\x1e\x1f\x7f",
    "\u0080\u0081\u009f\u0000\u0000",
    # emoji: plain, skin tones, ZWJ sequences, flags, keycaps, tags
    "\U0001f600 \U0001f44d\U0001f3fd \U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 \U0001f3f3\ufe0f\u200d\U0001f308 \U0001f1e9\U0001f1ea\U0001f1ef\U0001f1f5 1\ufe0f\u20e3 \u2764\ufe0f\u200d\U0001f525 \U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    "wow\U0001f600\U0001f600\U0001f600!!!\U0001f680\u2728 \u270c\U0001f3ff\u270c ok\u2714\ufe0f",
    # East Asia
    "\u6211\u559c\u6b22\u5728\u56fe\u4e66\u9986\u8bfb\u4e66\uff0c\u4e5f\u559c\u6b22\u542c\u97f3\u4e50\u3002\u4eca\u5929\u662f2024\u5e7411\u670821\u65e5\uff01",
    "\u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8\u3067\u3059\u3002\u300c\u304b\u304e\u62ec\u5f27\u300d\u3068\u3001\u534a\u89d2\uff76\uff85\u3002\u30fc\u30fc\u30fc\uff57\uff57\uff57",
    "\ud55c\uad6d\uc5b4 \ubb38\uc7a5\uc785\ub2c8\ub2e4. \u1112\u1161\u11ab\u1100\u116e\u11a8 \u314b\u314b\u314b",
    "\u7e41\u9ad4\u4e2d\u6587\u548c\U00020bb7\u91ce\u5bb6 \u845b\U000e0100 \u2f00\uf900",
    # Arabic, Hebrew with points, Indic, Thai, others
    "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645\u060c \u0643\u064a\u0641 \u062d\u0627\u0644\u064f\u0643\u064e\u061f \u0661\u0662\u0663 \u200f\u0627\u0644\u0652\u0639\u064e\u0631\u064e\u0628\u0650\u064a\u0651\u064e\u0629\u064f\u200e",
    "\u05d1\u05bc\u05b0\u05e8\u05b5\u05d0\u05e9\u05c1\u05b4\u05d9\u05ea \u05d1\u05bc\u05b8\u05e8\u05b8\u05d0 \u05d0\u05b1\u05dc\u05b9\u05d4\u05b4\u05d9\u05dd \u05e9\u05dc\u05d5\u05dd!",
    "\u0928\u092e\u0938\u094d\u0924\u0947 \u0926\u0941\u0928\u093f\u092f\u093e\u0964 \u0995\u09cb\u09a5\u09be\u09af\u09bc \u0ba4\u0bae\u0bbf\u0bb4\u0bcd \u0c24\u0c46\u0c32\u0c41\u0c17\u0c41",
    "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e0a\u0e32\u0e27\u0e42\u0e25\u0e01 \u0e01\u0e33\u0e25\u0e31\u0e07\u0e19\u0e49\u0e33\u0e17\u0e48\u0e27\u0e21 \u0e56\u0e57",
    "\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440! \u0401\u043b\u043a\u0430 \u0395\u03bb\u03bb\u03b7\u03bd\u03b9\u03ba\u03ac \u03c3\u03c2 \u0531\u0580\u0574\u0565\u0576 \u10e5\u10d0\u10e0\u10d7\u10e3\u10da\u10d8 \u1270\u1230\u134b \u1f08\u03b8\u03ae\u03bd\u03b1\u03b9",
    "Gr\u00f6\u00dfe na\u00efve fa\u00e7ade \u0141\u00f3d\u017a \u0130stanbul \u0131\u015f\u0131k \u01c5 \ufb01\ufb02\ufb06 \u1e9e Ti\u1ebfng Vi\u1ec7t",
    # normalization: composed and decomposed, reordered marks, singletons, exclusions
    "caf\u00e9 cafe\u0301 \u00c5 A\u030a \u212b \u1e69 s\u0323\u0307 s\u0307\u0323 \u0958 \u0915\u093c \u2126 \u03a9 \u1e9b\u0323 \u0344",
    "Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f\u0334\u0319\u0324\u031e\u0349\u035a\u032f\u031e\u0320\u034dA\u036b\u0357\u0334\u0362\u0335\u031c\u0330\u0354L\u0368\u0367\u0369\u0358\u0320G\u0311\u0357\u030e\u0305\u035b\u0341\u0334\u033b\u0348\u034d\u0354\u0339O\u0342\u030c\u030c\u0358\u0328\u0335\u0339\u033b\u031d\u0333",
    "\u0301leading mark, a \u0301 spaced, \u0301\u0301\u0301 x\u20d7 \u0323\u0301",
    # punctuation, symbols, mathematics
    "!!! ??? ... \u2026 -- \u2014 \u2013 \"quotes\" \u201ccurly\u201d \u00abguillemets\u00bb (a)[b]{c}<d> #$%&*+/=@\\^_`|~ \u20ac\u00a3\u00a5 \u00a7\u00b6\u2020 \u2122\u00ae",
    "\u2200x\u2208\u211d: \u2203y \u2265 x\u00b2 \u2227 \u222b\u2080^\u221e e^{-x\u00b2} dx = \u221a\u03c0/2 \u2260 \u2211_{i=1}^n \u2202f/\u2202x \u2248 \U0001d4d0\U0001d7d8\U0001d400 \u2190\u2192\u21d2",
    "=====\n-----\n*****\n///// #### ~~~~\n\n;;\n}\n\n}\n);\n\n\n",
    "https://user:pw@example.com:8080/a%20b/c.html?x=1&y=%C3%A9#frag mailto:a.b+c@d-e.co.uk www.foo_bar.io C:\\Users\\x\\y.txt 192.168.0.1 ::1",
    "camelCase PascalCase snake_case SCREAMING_SNAKE kebab-case mixED123abc456 a1b2c3 __init__ $var @user #tag",
    "abc\u65e5\u672c123\u0440\u0443\u0441\U0001f600xyz\u0639\u0631\u0628\u064a'll \u65e5's",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "ab" * 300, "\u00e9" * 200, "9" * 101, "!" * 77, "Supercalifragilisticexpialidocious" * 4,
    "Donaudampfschifffahrtselektrizit\u00e4tenhauptbetriebswerkbauunterbeamtengesellschaft",
    # special tokens of the three, whole, broken and doubled
    "<|begin_of_text|>System: You are helpful.<|eot_id|>User: Hi<|eot_id|>Assistant: ",
    "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n<tool_call>{}</tool_call>",
    "<|endoftext|><|endoftext|> a<|endoftext|>b <|endoftext|", "<|<|eot_id|>|> <|EOT_ID|> <|eot_id |> < |eot_id|>",
    "x <|reserved_special_token_25|> <|reserved_special_token_250|> 's<|im_end|>'s \u0301<think>\u0301",
]
