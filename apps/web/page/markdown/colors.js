// Code in colors: words, strings, numbers and comments of the common languages, enough to read it by. Every expression
// takes time proportional to the text, and none looks past the end of a line for what a token of that line is.

/** @typedef {''|'comment'|'string'|'attribute'|'number'|'keyword'|'type'|'call'} Kind */

const kSlashes = '//[^\\n]*', kHash = '(?<![^\\s;(])#[^\\n]*', kBlock = '/\\*[^]*?(?:\\*/|(?![^]))';
const kDouble = '"(?:[^"\\\\\\n]|\\\\[^]?)*"?', kSingle = '\'(?:[^\'\\\\\\n]|\\\\[^]?)*\'?';
const kTemplate = '`(?:[^`\\\\]|\\\\[^]?)*`?', kChar = '\'(?:[^\'\\\\\\n]|\\\\[^\\n]{1,9}?)\'';
const kTriple = '"""[^]*?(?:"""|(?![^]))|\'\'\'[^]*?(?:\'\'\'|(?![^]))';
const kAt = '@[A-Za-z_]\\w*', kInclude = '(?<=^[ \\t]*)#[ \\t]*\\w+';
const kNumber = '\\b(?:0[xXbBoO][\\da-fA-F_]+|\\d[\\d_]*(?:\\.(?!\\.)\\d*)?(?:[eE][+-]?\\d+)?)\\w*';
const kWord = '[A-Za-z_$][\\w$]*';

const set = (words) => new Set(words.split(' '));
const kFlow = 'break case catch continue default do else finally for if return switch throw try while ';
const kClasses = 'abstract class enum extends final implements import interface new null override package private ' +
  'protected public static super this true false void ';

/** names, comment, string, attribute, keywords, types; caps: words with a capital are types */
const kLanguages = [
  {names: 'js javascript mjs cjs jsx ts typescript tsx', comment: `${kSlashes}|${kBlock}`, attribute: kAt, caps: true,
    string: `${kDouble}|${kSingle}|${kTemplate}`,
    keywords: `${kFlow}${kClasses}as async await const debugger declare delete export from function get in ` +
      'instanceof ' +
      'keyof let namespace of readonly satisfies set type typeof undefined var with yield',
    types: 'any bigint boolean never number object string symbol unknown'},
  {names: 'py python', comment: kHash, string: `\\b[rbfuRBFU]{1,2}(?:${kDouble}|${kSingle})|${kTriple}|${kDouble}|` +
      kSingle, attribute: kAt, caps: true,
    keywords: 'False None True and as assert async await break case class continue def del elif else except finally ' +
      'for from global if import in is lambda match nonlocal not or pass raise return try while with yield self',
    types: 'bool bytes dict float int list object set str tuple'},
  {names: 'c h cpp c++ cc hpp', comment: `${kSlashes}|${kBlock}`, string: `${kDouble}|${kChar}`, attribute: kInclude,
    keywords: `${kFlow}alignas alignof auto class co_await co_return co_yield concept const consteval constexpr ` +
      'constinit delete enum explicit export extern false final friend goto inline mutable namespace new noexcept ' +
      'nullptr operator override private protected public register requires sizeof static static_assert ' +
      'struct template this true typedef typename union using virtual volatile',
    types: 'bool char char8_t double float int int8_t int16_t int32_t int64_t long short signed size_t uint8_t ' +
      'uint16_t uint32_t uint64_t unsigned void wchar_t string vector', caps: true},
  {names: 'java kotlin cs csharp swift', comment: `${kSlashes}|${kBlock}`, string: `${kTriple}|${kDouble}|${kChar}`,
    attribute: kAt, caps: true,
    keywords: `${kFlow}${kClasses}as async await base companion const data defer delegate extension fallthrough ` +
      'foreach fun func guard in init inout instanceof internal is it let lock mutating namespace nil object open ' +
      'operator out params protocol readonly record ref sealed self struct suspend synchronized throws transient ' +
      'typealias using val var volatile when where yield',
    types: 'bool boolean byte char decimal double float int long short string uint ulong'},
  {names: 'go', comment: `${kSlashes}|${kBlock}`, string: `${kDouble}|${kChar}|\`[^\`]*\`?`,
    keywords: `${kFlow}chan const defer fallthrough false func go goto import interface iota map nil package range ` +
      'select struct true type var',
    types: 'any bool byte complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint ' +
      'uint8 uint16 uint32 uint64 uintptr'},
  {names: 'rust rs', comment: `${kSlashes}|${kBlock}`, string: `${kDouble}|${kChar}`, caps: true,
    attribute: '#!?\\[[^\\]\\n]*\\]?',
    keywords: 'as async await break const continue crate dyn else enum extern false fn for if impl in let loop match ' +
      'mod move mut pub ref return self static struct super trait true type unsafe use where while',
    types: 'bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize'},
  {names: 'php', comment: `${kSlashes}|${kHash}|${kBlock}`, string: `${kDouble}|${kSingle}`, attribute: '<\\?php|\\?>',
    keywords: `${kFlow}${kClasses}and array as clone const echo elseif empty endforeach endif fn foreach function ` +
      'global include instanceof isset match namespace or print readonly require trait unset use var yield',
    types: 'bool float int iterable mixed object string', caps: true},
  {names: 'rb ruby', comment: kHash, string: `${kDouble}|${kSingle}`, attribute: '(?<!:):[A-Za-z_]\\w*', caps: true,
    keywords: 'alias and begin break case class def defined do else elsif end ensure false for if in module next nil ' +
      'not or redo require rescue retry return self super then true undef unless until when while yield', types: ''},
  {names: 'sh bash shell zsh', comment: kHash, string: '"(?:[^"\\\\]|\\\\[^]?)*"?|\'[^\']*\'?',
    attribute: '\\$(?:\\w+|\\{[^}\\n]*\\}?|[@#?*!$-])',
    keywords: 'case do done elif else esac exit export fi for function if in local readonly return select set shift ' +
      'source then trap until while', types: 'alias cd curl echo git grep mkdir npm pip printf python read rm sudo'},
  {names: 'json jsonc', comment: `${kSlashes}|${kBlock}`, string: kDouble, attribute: `${kDouble}(?=[ \\t]*:)`,
    keywords: 'true false null', types: ''},
  {names: 'html xml svg', comment: '<!--[^]*?(?:-->|(?![^]))', string: `(?<==)(?:"[^"]*"?|'[^']*'?)`,
    attribute: '\\b[\\w:-]{1,60}(?==)', keyword: '</?[A-Za-z][\\w:-]*|/?>|<[!?]\\w+', keywords: '', types: ''},
  {names: 'css', comment: kBlock, string: `${kDouble}|${kSingle}`, attribute:
    '@[\\w-]+|--[\\w-]+|(?<=[{;\\s])[a-z-]+(?=:)',
    number: '#[\\da-fA-F]{3,8}\\b|-?\\b\\d+(?:\\.\\d+)?(?:%|\\w*)', keywords: 'important', types: ''},
  {names: 'sql', comment: `--[^\\n]*|${kBlock}`, string: '\'(?:[^\']|\'\')*\'?', anyCase: true,
    keywords: 'add all alter and as asc begin between by case check column commit constraint create cross default ' +
      'delete desc distinct drop else end except exists false foreign from full group having if in index inner ' +
        'insert ' +
      'intersect into is join key left like limit not null offset on or order outer over partition primary ' +
        'references ' +
      'right rollback select set table then true union unique update using values view when where with',
    types: 'bigint boolean char date decimal float int integer numeric real serial text timestamp varchar'},
  {names: 'yaml yml toml', comment: kHash, string: `${kDouble}|${kSingle}`,
    attribute: '(?<=^[ \\t]*(?:- )?)[\\w.-]+(?=[ \\t]*[:=])|(?<=^)\\[[^\\]\\n]*\\]', keywords: 'true false null yes no',
    types: ''},
  {names: 'wgsl glsl', comment: `${kSlashes}|${kBlock}`, attribute: `${kAt}|${kInclude}`,
    keywords: 'alias break case const const_assert continue continuing default diagnostic discard else enable false ' +
      'fn ' +
      'for if let loop override requires return struct switch true var while void in out inout precision layout',
    types: 'array atomic bool f16 f32 i32 u32 mat2x2 mat3x3 mat4x4 ptr vec2 vec3 vec4 vec2f vec3f vec4f vec2h vec4h ' +
      'vec2u vec3u vec4u vec2i vec3i vec4i mat2 mat3 mat4 float int storage uniform workgroup private function read ' +
      'write read_write'},
];
const kByName = new Map(kLanguages.flatMap((language) => language.names.split(' ').map((name) => [name, language])));

export const kNames = [...kByName.keys()];

/** Its expression and sets of words, made when it is first used. */
function compile(language) {
  if (language.expression) return language;
  const {comment, attribute, string, keyword, number = kNumber, anyCase} = language;
  const parts = {comment, attribute, string, keyword, number, word: kWord};
  const source = Object.entries(parts).filter(([, part]) => part).map(([kind,
    part]) => `(?<${kind}>${part})`).join('|');
  return Object.assign(language, {expression: new RegExp(source, anyCase ? 'gim' : 'gm'),
    keywords: set(language.keywords), types: set(language.types)});
}

/**
 * @param {string} text
 * @param {string} name of its language
 * @param {number} [from] where a token begins, since what is before is known
 * @returns {{kind: Kind, text: string}[]} the whole text from there
 */
export function tokens(text, name, from = 0) {
  const known = kByName.get(name.toLowerCase());
  if (!known) return [{kind: '', text: text.slice(from)}];
  const language = compile(known);
  const found = [];
  let at = from;
  const plain = (to) => {
    if (to > at) found.push({kind: '', text: text.slice(at, to)});
  };
  language.expression.lastIndex = from;
  for (const match of text.matchAll(language.expression)) {
    const kind = kindOf(match, language, text);
    if (!kind) continue;
    plain(match.index);
    found.push({kind, text: match[0]});
    at = match.index + match[0].length;
  }
  plain(text.length);
  return found;
}

/** @returns {Kind} */
function kindOf({groups, index, 0: all}, {keywords, types, caps, anyCase}, text) {
  if (!groups.word) return Object.keys(groups).find((kind) => groups[kind] !== undefined);
  const word = anyCase ? all.toLowerCase() : all;
  if (keywords.has(word)) return 'keyword';
  if (types.has(word) || word.startsWith('subgroup_matrix')) return 'type';
  if (text[index + all.length] === '(') return 'call';
  return caps && /^[A-Z]\w*[a-z]/.test(all) ? 'type' : '';
}

const kMost = 30_000;      // characters of a block; the rest of it stays plain
const kMostAgain = 6_000;  // of its end, which is read again as it grows

/** What is certain to stay as it is: characters, nodes, and how long the text was. @type {WeakMap<Element, object>} */
const settled = new WeakMap();

/**
 * Colors what is new in an element. Lines that have ended keep their nodes.
 * @param {Element} code @param {string} name of its language
 */
export function color(code, name) {
  const text = code.textContent;
  const state = settled.get(code) ?? {at: 0, nodes: 0, length: 0};
  if (text.length === state.length || text.length > kMost) return;
  if (state.length > 0 && text.length - state.at > kMostAgain) return;
  const document = code.ownerDocument;
  while (code.childNodes.length > state.nodes) code.lastChild.remove();
  const lastLine = text.lastIndexOf('\n') + 1;
  let {at, nodes} = state;
  const fresh = tokens(text, name, at).map(({kind, text: part}) => {
    at += part.length;
    nodes++;
    if (at <= lastLine && at < text.length) Object.assign(state, {at, nodes});
    if (!kind) return document.createTextNode(part);
    const span = document.createElement('span');
    span.className = `code-${kind}`;
    span.append(part);
    return span;
  });
  code.append(...fresh);
  state.length = text.length;
  settled.set(code, state);
}

/** The text is another one, and is colored from its beginning. @param {Element} code @param {string} text */
export function replaceCode(code, text) {
  settled.delete(code);
  code.replaceChildren(text);
}
