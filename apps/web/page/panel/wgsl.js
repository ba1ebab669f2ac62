// WGSL in colors: enough to read a kernel by.

const kToken = new RegExp([
  /(?<comment>\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$))/,
  /(?<attribute>@\w+)/,
  /(?<number>\b(?:0[xX][\da-fA-F]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+)[iufh]?\b)/,
  /(?<word>[A-Za-z_]\w*)/,
].map((part) => part.source).join('|'), 'g');

const kKeywords = new Set(('alias break case const const_assert continue continuing default diagnostic discard else ' +
    'enable false fn for if let loop override requires return struct switch true var while').split(' '));
const kTypes = new Set(('array atomic bool f16 f32 i32 u32 mat2x2 mat3x3 mat4x4 ptr vec2 vec3 vec4 vec2f vec3f vec4f ' +
    'vec2h vec4h vec2u vec3u vec4u vec2i vec3i vec4i storage uniform workgroup private ' +
    'function read write read_write').split(' '));

/**
 * @param {string} text
 * @returns {{kind: ''|'comment'|'attribute'|'number'|'keyword'|'type'|'call', text: string}[]} the whole text
 */
export function tokens(text) {
  const found = [];
  let at = 0;
  const plain = (to) => {
    if (to > at) found.push({kind: '', text: text.slice(at, to)});
  };
  for (const match of text.matchAll(kToken)) {
    const kind = kindOf(match, text);
    if (!kind) continue;
    plain(match.index);
    found.push({kind, text: match[0]});
    at = match.index + match[0].length;
  }
  plain(text.length);
  return found;
}

function kindOf({groups, index, 0: all}, text) {
  if (groups.comment) return 'comment';
  if (groups.attribute) return 'attribute';
  if (groups.number) return 'number';
  if (kKeywords.has(all)) return 'keyword';
  if (kTypes.has(all) || all.startsWith('subgroup_matrix')) return 'type';
  return text[index + all.length] === '(' ? 'call' : '';
}
