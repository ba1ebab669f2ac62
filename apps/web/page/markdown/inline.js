// Inline Markdown as data: text in, a tree of plain objects out. Nothing here touches a document, so what a model
// wrote can only ever become one of the node types below.

/**
 * @typedef {string
 *   | {type: 'strong'|'em'|'del', children: Inline[]}
 *   | {type: 'code'|'math'|'sup', text: string} math: LaTeX, with what it stands between
 *   | {type: 'link', href: string, children: Inline[]}
 *   | {type: 'break'}} Inline
 */

const kPunctuation = /[!-/:-@[-`{-~]/;
const kWord = /[\p{L}\p{N}]/u;
const kMaxDepth = 6;        // of links and emphasis in one another
const kMaxOpeners = 64;     // of emphasis that has not closed: bounds the search for what a closing run matches
const kMaxLabel = 1000;     // characters between [ and ]: bounds the search for the closing bracket
const kMostSearched = 16;    // characters of searches for the ends of links, for each character of the text
const kStops = /[\\`*_~[!<\nh$&]/g;  // where something may begin; h for bare https://
const kMaxTarget = 2000;    // characters of an address with its title
const kMaxMath = 2000;       // characters of a formula in a line
const kEntity = /^&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([A-Za-z]\w{1,9}));/;
const kEntities = new Map(('amp & lt < gt > quot " apos \' nbsp \u00a0 copy © reg ® trade ™ hellip … mdash — ndash – ' +
  'lsquo ‘ rsquo ’ ldquo “ rdquo ” laquo « raquo » bull • middot · times × divide ÷ minus − plusmn ± deg ° le ≤ ge ≥ ' +
  'ne ≠ asymp ≈ infin ∞ larr ← rarr → uarr ↑ darr ↓ harr ↔ euro € pound £ yen ¥ cent ¢ sect § para ¶ frac12 ½ ' +
  'sup2 ² sup3 ³ micro µ pi π').split(' ')
    .map((word, k, words) => [word, words[k + 1]]).filter((_, k) => k % 2 === 0));

/**
 * The address if a click on it may be offered: http, https or mailto, absolute. Everything else (javascript:, data:,
 * file:, relative ones) gives null.
 * @param {string} text
 * @returns {string|null}
 */
export function safeHref(text) {
  let url;
  try {
    url = new URL(text);
  } catch {
    return null;
  }
  return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : null;
}

/**
 * @param {string} text
 * @param {{open?: boolean}} [options] open: the text still grows, so that a ** or ` without its end counts as begun
 * @returns {Inline[]}
 */
export function parseInline(text, {open = false} = {}, depth = 0) {
  return new InlineParser(text, open, depth).parse();
}

class InlineParser {
  constructor(text, open, depth) {
    this.text = text;
    this.open = open;
    this.depth = depth;
    this.at = 0;
    /** @type {Inline[]} */
    this.out = [];
    /** @type {{char: string, count: number, index: number}[]} */
    this.openers = [];
    this.left = kMostSearched * (text.length + kMaxLabel);  // to search for the ends of links
    this.noEnd = new Set();  // lengths of backtick runs, and ends of formulas, that do not come any more
  }

  parse() {
    const {text} = this;
    while (this.at < text.length) {
      kStops.lastIndex = this.at;
      const stop = kStops.exec(text);
      const end = stop ? stop.index : text.length;
      this.#write(text.slice(this.at, end));
      this.at = end;
      if (stop && !this.#special(text[end])) this.#write(text[this.at++]);
    }
    if (this.open) this.#closeOpenStrong();
    return this.out.filter((node) => node !== '');
  }

  #special(char) {
    switch (char) {
      case '\\': return this.#math() || this.#escape();
      case '$': return this.#math();
      case '&': return this.#entity();
      case '`': return this.#code();
      case '*': case '_': case '~': return this.#delimiters(char);
      case '[': return this.#footnote() || this.#link(this.at);
      case '!': return this.text[this.at + 1] === '[' && this.#link(this.at + 1);
      case '<': return this.#angleLink();
      case '\n': return this.#lineBreak();
      default: return this.#bareLink();
    }
  }

  #write(text) {
    if (!text) return;
    const last = this.out.length - 1;
    const isDelimiters = this.openers.length > 0 && this.openers.at(-1).index === last;
    if (last >= 0 && typeof this.out[last] === 'string' && !isDelimiters) this.out[last] += text;
    else this.out.push(text);
  }

  #escape() {
    const next = this.text[this.at + 1];
    if (!next || !kPunctuation.test(next)) return false;
    this.#write(next);
    this.at += 2;
    return true;
  }

  /** A formula stays as it was written: \(…\), \[…\], $$…$$ and $…$. */
  #math() {
    const {text, at} = this;
    const begin = /^(?:\$\$?|\\[([])/.exec(text.slice(at, at + 2))?.[0];
    if (!begin) return false;
    let end = this.#mathEnd(at + begin.length, {'\\(': '\\)', '\\[': '\\]'}[begin] ?? begin);
    const unfinished = end < 0 && this.open && this.depth === 0 && begin !== '$';
    if (unfinished) end = text.length;
    const isMath = end > at + (unfinished ? 1 : 2) * begin.length &&
      (begin === '$' ? isFormula(text.slice(at + 1, end - 1), text[end]) : begin !== '\\[' || text[end] !== '(');
    if (!isMath) return false;
    this.out.push({type: 'math', text: text.slice(at, end)});
    this.at = end;
    return true;
  }

  /** Where the text goes on after a formula's `end`; -1 where that does not come. */
  #mathEnd(from, end) {
    const {text} = this;
    const last = this.noEnd.has(end) ? -1 : text.indexOf(end, from);
    if (last < 0) this.noEnd.add(end);
    const limit = Math.min(text.length, from + kMaxMath);
    for (let i = last < 0 ? limit : from; i < limit; i++) {
      if (text.startsWith(end, i)) return i + end.length;
      if (text[i] === '\\') i++;
    }
    return -1;
  }

  #entity() {
    const found = kEntity.exec(this.text.slice(this.at, this.at + 12));
    if (!found) return false;
    const [all, decimal, hex, name] = found;
    const code = Number(decimal ?? (hex && `0x${hex}`));
    const text = name ? kEntities.get(name) : code > 0 && code < 0x110000 ? String.fromCodePoint(code) : '\ufffd';
    if (!text) return false;
    this.#write(text);
    this.at += all.length;
    return true;
  }

  /** A mark that leads to a note below. */
  #footnote() {
    const found = /^\[\^([^\]\s]{1,40})\]/.exec(this.text.slice(this.at, this.at + 43));
    if (!found) return false;
    this.out.push({type: 'sup', text: found[1]});
    this.at += found[0].length;
    return true;
  }

  #lineBreak() {
    const last = this.out.length - 1;
    if (typeof this.out[last] === 'string') this.out[last] = this.out[last].trimEnd();
    this.out.push({type: 'break'});
    this.at++;
    while (this.text[this.at] === ' ') this.at++;
    return true;
  }

  #runLength(char) {
    let n = 1;
    while (this.text[this.at + n] === char) n++;
    return n;
  }

  #code() {
    const n = this.#runLength('`');
    const begin = this.at + n;
    const end = this.noEnd.has(n) ? -1 : findRun(this.text, begin, n);
    if (end < 0) this.noEnd.add(n);
    const unfinished = end < 0 && this.open && n === 1 && this.depth === 0 && begin < this.text.length;
    if (end < 0 && !unfinished) {
      this.#write(this.text.slice(this.at, begin));
      this.at = begin;
      return true;
    }
    let inside = this.text.slice(begin, unfinished ? this.text.length : end).replaceAll('\n', ' ');
    if (inside.startsWith(' ') && inside.endsWith(' ') && inside.trim()) inside = inside.slice(1, -1);
    this.out.push({type: 'code', text: inside});
    this.at = unfinished ? this.text.length : end + n;
    return true;
  }

  #delimiters(char) {
    const {text} = this;
    const n = this.#runLength(char);
    const before = text[this.at - 1] ?? ' ', after = text[this.at + n] ?? ' ';
    const inWord = char === '_' && kWord.test(before) && kWord.test(after);
    const canClose = !/\s/.test(before) && !inWord;
    const canOpen = !/\s/.test(after) && !inWord && this.depth < kMaxDepth;
    this.at += n;
    let left = n;
    while (canClose && left > 0) {
      const used = this.#close(char, left);
      if (used === 0) break;
      left -= used;
    }
    if (left === 0) return true;
    this.out.push(char.repeat(left));
    if (canOpen && (char !== '~' || left === 2)) {
      this.openers.push({char, count: left, index: this.out.length - 1});
      if (this.openers.length > kMaxOpeners) this.openers.shift();
    }
    return true;
  }

  /** Wraps what came since the nearest opener of this kind; returns how many characters of the closing run it took. */
  #close(char, n) {
    let i = this.openers.length - 1;
    while (i >= 0 && (this.openers[i].char !== char || (char === '~' && n !== 2))) i--;
    if (i < 0) return 0;
    const opener = this.openers[i];
    if (opener.index === this.out.length - 1) return 0;  // nothing between: ** ** stays text
    const used = Math.min(2, n, opener.count);
    this.#wrap(opener, used, char === '~' ? 'del' : used === 2 ? 'strong' : 'em');
    this.openers.length = opener.count > 0 ? i + 1 : i;
    return used;
  }

  #wrap(opener, used, type) {
    const children = this.out.splice(opener.index + 1).filter((node) => node !== '');
    opener.count -= used;
    this.out[opener.index] = opener.char.repeat(opener.count);
    this.out.push({type, children});
  }

  #closeOpenStrong() {
    const opener = this.openers.find((o) => o.char === '*' && o.count === 2 && o.index < this.out.length - 1);
    if (opener) this.#wrap(opener, 2, 'strong');
  }

  #link(bracket) {
    if (this.depth >= kMaxDepth || this.left < 0) return false;
    const {text} = this;
    const close = matchingBracket(text, bracket);
    this.left -= close < 0 ? kMaxLabel : close - bracket;
    if (close < 0 || text[close + 1] !== '(') return false;
    const target = parseTarget(text, close + 2);
    if (!target) {
      this.left -= kMaxTarget;
      return false;
    }
    const label = text.slice(bracket + 1, close);
    const children = parseInline(label, {}, this.depth + 1);
    const href = safeHref(target.href);
    // An image would be fetched from somewhere, and a target we do not offer is of no use: both stay readable as text.
    if (href) this.out.push({type: 'link', href, children: children.length ? withoutLinks(children) : [href]});
    else this.out.push(...children);
    this.at = target.end;
    return true;
  }

  #angleLink() {
    const found = /^<((?:https?:\/\/|mailto:)[^\s<>]{1,2000})>/.exec(this.text.slice(this.at, this.at + 2010));
    const href = found && safeHref(found[1]);
    if (!href) return false;
    this.out.push({type: 'link', href, children: [found[1]]});
    this.at += found[0].length;
    return true;
  }

  #bareLink() {
    if (this.left < 0 || !this.text.startsWith('http', this.at)) return false;
    if (kWord.test(this.text[this.at - 1] ?? ' ')) return false;
    const found = /^https?:\/\/[^\s<>"`\\]{1,2000}/.exec(this.text.slice(this.at, this.at + 2010));
    if (!found) return false;
    this.left -= found[0].length;
    let address = found[0].replace(/[.,;:!?'*_~]{1,10}$/, '');
    // A closing bracket belongs to the sentence unless the address opened it, as Wikipedia's do.
    while (/[)\]]$/.test(address) && !/[([]/.test(address)) address = address.slice(0, -1);
    const href = safeHref(address);
    if (!href) return false;
    this.out.push({type: 'link', href, children: [address]});
    this.at += address.length;
    return true;
  }
}

/** Where a run of exactly n backticks begins at or after `from`, or -1. */
function findRun(text, from, n) {
  for (let i = text.indexOf('`', from); i >= 0; i = text.indexOf('`', i)) {
    let end = i;
    while (text[end] === '`') end++;
    if (end - i === n) return i;
    i = end;
  }
  return -1;
}

/** Whether what is between two dollars is one, and no prices. */
function isFormula(inside, next) {
  return !/^\s|[\s=<>+]$|\n/.test(inside) && !/\d/.test(next) &&
    /[\\^_{}=<>+]|^[A-Za-z](?:\w?[!']*|'*\([\w, ]{1,12}\))$|^-?\d[\d.,]*$/.test(inside);
}

function matchingBracket(text, open) {
  const limit = Math.min(text.length, open + kMaxLabel);
  let depth = 0;
  for (let i = open; i < limit; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === '[') depth++;
    else if (text[i] === ']' && --depth === 0) return i;
  }
  return -1;
}

/** The target of a link and where the text goes on, from just after its "(": address, <address>, address "title". */
function parseTarget(text, from) {
  const rest = text.slice(from, from + kMaxTarget);
  const angle = /^\s*<([^<>\n]*)>/.exec(rest);
  let href, i;
  if (angle) {
    href = angle[1];
    i = angle[0].length;
  } else {
    let depth = 0;
    i = /^\s*/.exec(rest)[0].length;
    const begin = i;
    for (; i < rest.length && !/\s/.test(rest[i]); i++) {
      if (rest[i] === '(') depth++;
      else if (rest[i] === ')' && depth-- === 0) break;
    }
    href = rest.slice(begin, i);
  }
  const tail = /^(?:\s+(?:"[^"\n]*"|'[^'\n]*'))?\s*\)/.exec(rest.slice(i));
  return tail ? {href, end: from + i + tail[0].length} : null;
}

/** Links do not nest: a link within a label becomes its text. */
function withoutLinks(nodes) {
  return nodes.flatMap((node) => {
    if (node.type === 'link') return withoutLinks(node.children);
    return node.children ? [{...node, children: withoutLinks(node.children)}] : [node];
  });
}
