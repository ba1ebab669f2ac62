// Formulas as MathML, by Temml (vendor/), which makes nodes and never HTML. Nothing of a formula is trusted: it
// may not define macros, and its length, depth, sizes and number of nodes are bounded.

const kLongest = 4000;      // characters
const kMostNodes = 6000;
const kDeepest = 120;       // nodes in one another
const kMostBraces = 40;     // in one another, before anything recurses
const kSizes = [20, 40];    // em and points that a formula may ask for
const kExpansions = 1000;   // of the macros that Temml has itself
const kDefines = /\\(?:[egx]?def|(?:future)?let|(?:re|provide)?(?:new)?command|global|long|Declare\w+)(?![A-Za-z])/;
const kOptions = {throwOnError: true, trust: false, strict: false, maxSize: kSizes, maxExpand: kExpansions};

const kMarks = [['```math\n', '\n```', true], ['$$', '$$', true], ['\\[', '\\]', true], ['\\(', '\\)', false],
  ['$', '$', false]];

/** Has Temml and its style sheet. @param {(tag: string, properties: object) => Promise<void>} load into the page */
export async function bring(load) {
  const at = (name) => new URL(`../vendor/temml-0.13.5/${name}`, import.meta.url).href;
  await Promise.all([load('link', {rel: 'stylesheet', href: at('Temml-Local.css')}),
    globalThis.temml ?? load('script', {src: at('temml.min.js')})]);
}

/**
 * @param {string} source with what it stands between
 * @returns {{tex: string, display: boolean}|null} null: it has not ended
 */
export function unwrap(source) {
  const text = source.trim();
  const [begin, end, display] = kMarks.find(([mark]) => text.startsWith(mark)) ?? [];
  if (!begin || !text.endsWith(end) || text.length <= begin.length + end.length) return null;
  return {tex: text.slice(begin.length, -end.length).replace(/\n\s*\n/g, '\n'), display};
}

/**
 * @param {string} tex
 * @param {boolean} display
 * @returns {object|null} a tree of Temml's, null where the formula is wrong or asks for too much
 */
export function treeOf(tex, display) {
  if (tex.length > kLongest || kDefines.test(tex) || depthOfBraces(tex) > kMostBraces) return null;
  try {
    const tree = globalThis.temml.__renderToMathMLTree(tex, {...kOptions, displayMode: display,
      wrap: display ? 'none' : 'tex'});
    return isSmall(tree) ? tree : null;
  } catch {
    return null;  // the source, which is shown instead, says more than the parser's message
  }
}

function depthOfBraces(tex) {
  let depth = 0, most = 0;
  for (const [mark] of tex.matchAll(/\\left(?![a-z])|\\right(?![a-z])|\\begin|\\end|\\[^]|[{}]/g)) {
    if (mark === '{' || mark === '\\left' || mark === '\\begin') most = Math.max(most, ++depth);
    else if (mark === '}' || mark === '\\right' || mark === '\\end') depth--;
  }
  return most;
}

function isSmall(tree) {
  let nodes = 0;
  const left = [[tree, 0]];
  while (left.length > 0) {
    const [node, depth] = left.pop();
    setStyle(node);
    if (++nodes > kMostNodes || depth > kDeepest) return false;
    for (const child of node.children ?? []) left.push([child, depth + 1]);
  }
  return true;
}

/** The page's policy takes properties of a style, and no text of one. */
function setStyle({attributes, style}) {
  for (const part of attributes?.style?.split(';') ?? []) {
    const [name, value] = part.split(':');
    if (value) style[name.trim()] = value.trim();
  }
  if (attributes) delete attributes.style;
}

/**
 * @param {Document} document
 * @param {string} source
 * @returns {Element|null} the formula as it is shown; null: the source stays
 */
export function formula(document, source) {
  const found = unwrap(source);
  const tree = found && treeOf(found.tex, found.display);
  if (!tree) return null;
  const box = document.createElement('span');
  // Tables do not break into lines: one within a line scrolls by itself.
  box.className = found.display ? 'formula display' : /\\begin/.test(found.tex) ? 'formula table' : 'formula';
  if (found.display) box.tabIndex = 0;
  box.append(tree.toNode());
  return box;
}
