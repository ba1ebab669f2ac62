// Block Markdown as data: paragraphs, headings, lists, quotes, code, tables and rules. A subset of CommonMark and GFM
// that covers what language models write; raw HTML has no meaning here and stays text.

/**
 * @typedef {{start: number} & (
 *     {type: 'paragraph', text: string}
 *   | {type: 'heading', level: number, text: string}
 *   | {type: 'code', language: string, text: string, closed: boolean}
 *   | {type: 'math', text: string}
 *   | {type: 'note', mark: string, text: string}
 *   | {type: 'quote', blocks: Block[]}
 *   | {type: 'list', ordered: boolean, first: number, loose: boolean, items: (Block[] & {task?: boolean})[]}
 *   | {type: 'table', align: ('left'|'center'|'right'|null)[], head: string[], rows: string[][]}
 *   | {type: 'rule'})} Block
 * start: where the block's first line begins in the text
 */

const kFence = /^( {0,3})(`{3,}|~{3,})[ \t]*([^`]*)$/;
const kHeading = /^ {0,3}(#{1,6})[ \t]+(.*)$/;
const kRule = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
const kQuote = /^ {0,3}>/;
const kMath = /^ {0,3}(\$\$|\\\[)/;
const kNote = /^ {0,3}\[\^([^\]\s]{1,40})\]:[ \t]*(.*)$/;
const kTask = /^\[([ xX])\] /;
const kItem = /^( *)([-*+]|\d{1,9}[.)])(?:( +)|$)/;
const kDelimiterRow = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;
const kMaxDepth = 8;  // of quotes and lists in one another; deeper ones stay text

/**
 * @param {string} text
 * @returns {Block[]}
 */
export function parseBlocks(text, depth = 0) {
  let start = 0;
  const lines = text.split('\n').map((line) => {
    const entry = {text: (line.endsWith('\r') ? line.slice(0, -1) : line).replaceAll('\t', '    '), start};
    start += line.length + 1;
    return entry;
  });
  return new BlockParser(lines, depth).parse();
}

class BlockParser {
  constructor(lines, depth) {
    this.lines = lines;
    this.depth = depth;
    this.at = 0;
  }

  parse() {
    const blocks = [];
    while (this.at < this.lines.length) {
      if (isBlank(this.#line())) {
        this.at++;
        continue;
      }
      const {start} = this.lines[this.at];
      blocks.push({start, ...this.#block()});
    }
    return blocks;
  }

  #line(ahead = 0) {
    return this.lines[this.at + ahead]?.text;
  }

  #block() {
    const line = this.#line();
    const fence = kFence.exec(line);
    if (fence) return this.#code(fence);
    const heading = kHeading.exec(line);
    if (heading) {
      this.at++;
      return {type: 'heading', level: heading[1].length, text: heading[2].trim().replace(/(?:^| )#+$/, '').trim()};
    }
    if (kRule.test(line)) {
      this.at++;
      return {type: 'rule'};
    }
    if (startsMath(line)) return this.#math();
    const note = kNote.exec(line);
    if (note) {
      this.lines[this.at] = {...this.lines[this.at], text: note[2]};
      return {...this.#paragraph(), type: 'note', mark: note[1]};
    }
    if (this.depth < kMaxDepth) {
      if (kQuote.test(line)) return this.#quote();
      if (isItem(line)) return this.#list();
    }
    return this.#startsTable() ? this.#table() : this.#paragraph();
  }

  #code([, indent, fence, info]) {
    const text = [];
    let closed = false;
    for (this.at++; this.at < this.lines.length; this.at++) {
      const line = this.#line();
      const close = kFence.exec(line);
      if (close && close[2][0] === fence[0] && close[2].length >= fence.length && !close[3].trim()) {
        this.at++;
        closed = true;
        break;
      }
      text.push(stripIndent(line, indent.length));
    }
    return {type: 'code', language: info.trim().split(/\s/)[0] ?? '', text: text.join('\n'), closed};
  }

  /** Lines from one that begins a formula to one that ends it. None is empty, so an empty one ends it, too. */
  #math() {
    const end = kMath.exec(this.#line())[1] === '$$' ? '$$' : '\\]';
    const text = [];
    while (this.at < this.lines.length && !isBlank(this.#line())) {
      text.push(this.#line());
      this.at++;
      if (text.length > 1 && text.at(-1).includes(end)) break;
    }
    return {type: 'math', text: text.join('\n')};
  }

  #quote() {
    const text = [];
    for (; this.at < this.lines.length && kQuote.test(this.#line()); this.at++) {
      text.push(this.#line().replace(/^ {0,3}> ?/, ''));
    }
    return {type: 'quote', blocks: parseBlocks(text.join('\n'), this.depth + 1)};
  }

  #list() {
    const marker = kItem.exec(this.#line());
    const ordered = /\d/.test(marker[2]);
    const kind = marker[2].at(-1);
    const items = [];
    let loose = false;
    while (this.at < this.lines.length) {
      const item = kItem.exec(this.#line());
      if (!item || item[1].length > 3 || item[2].at(-1) !== kind || kRule.test(this.#line())) break;
      const {text, blankInside} = this.#item(item);
      const task = kTask.exec(text[0]);
      if (task) text[0] = `${task[1] === ' ' ? '☐' : '☑'} ${text[0].slice(4)}`;
      items.push(Object.assign(parseBlocks(text.join('\n'), this.depth + 1), task ? {task: true} : {}));
      loose ||= blankInside && items.at(-1).length > 1;
      let blanks = 0;
      while (isBlank(this.#line(blanks) ?? 'end')) blanks++;
      const next = kItem.exec(this.#line(blanks) ?? '');
      if (!next || next[1].length > 3 || next[2].at(-1) !== kind || kRule.test(this.#line(blanks))) break;
      loose ||= blanks > 0;
      this.at += blanks;
    }
    return {type: 'list', ordered, first: ordered ? Number.parseInt(marker[2], 10) : 1, loose, items};
  }

  /** The lines of one item, without the indentation that makes them the item's. */
  #item([all, indent, mark, gap]) {
    const wide = (gap ?? '').length > 4;
    const content = wide ? indent.length + mark.length + 1 : Math.max(all.length, indent.length + mark.length + 1);
    // Models often indent by two below a "1.", where CommonMark asks for three.
    const least = Math.min(content, indent.length + 2);
    const text = [this.#line().slice(content)];
    let blankInside = false;
    for (this.at++; this.at < this.lines.length; this.at++) {
      const line = this.#line();
      if (isBlank(line)) {
        let blanks = 1;
        while (isBlank(this.#line(blanks) ?? 'end')) blanks++;
        const next = this.#line(blanks);
        if (next === undefined || leadingSpaces(next) < least) break;
        blankInside = true;
        text.push('');
      } else if (leadingSpaces(line) >= least) {
        text.push(stripIndent(line, content));
      } else if (isItem(line) || startsBlock(line) || isBlank(text.at(-1))) {
        break;
      } else {
        text.push(line);
      }
    }
    return {text, blankInside};
  }

  #startsTable() {
    const head = this.#line(), delimiters = this.#line(1);
    return delimiters !== undefined && head.includes('|') && delimiters.includes('|') &&
           kDelimiterRow.test(delimiters) && cells(head).length === cells(delimiters).length;
  }

  #table() {
    const head = cells(this.#line());
    const align = cells(this.#line(1)).map((cell) => {
      if (cell.endsWith(':')) return cell.startsWith(':') ? 'center' : 'right';
      return cell.startsWith(':') ? 'left' : null;
    });
    const rows = [];
    for (this.at += 2; this.at < this.lines.length; this.at++) {
      const line = this.#line();
      if (isBlank(line) || startsBlock(line) || !line.includes('|')) break;
      const row = cells(line);
      rows.push(head.map((_, i) => row[i] ?? ''));
    }
    return {type: 'table', align, head, rows};
  }

  #paragraph() {
    const text = [this.#line().trim()];
    for (this.at++; this.at < this.lines.length; this.at++) {
      const line = this.#line();
      if (isBlank(line) || startsBlock(line) || interruptsAsItem(line) || this.#startsTable()) break;
      text.push(line.trim());
    }
    return {type: 'paragraph', text: text.join('\n')};
  }
}

const isBlank = (line) => line.trim() === '';
const leadingSpaces = (line) => line.length - line.trimStart().length;
const stripIndent = (line, n) => line.slice(Math.min(n, leadingSpaces(line)));
/** A formula of one line is part of its paragraph. */
const startsMath = (line) => {
  const found = kMath.exec(line);
  return found !== null && !line.includes(found[1] === '$$' ? '$$' : '\\]', found[0].length);
};
const kStarts = [kNote, kFence, kHeading, kRule, kQuote];
const startsBlock = (line) => startsMath(line) || kStarts.some((start) => start.test(line));

function isItem(line) {
  const item = kItem.exec(line);
  return item !== null && item[1].length <= 3 && !kRule.test(line);
}

/** Within a paragraph a lone "-" or a year that ends a sentence ("1984.") is no list. */
function interruptsAsItem(line) {
  const item = kItem.exec(line);
  return isItem(line) && item[3] !== undefined && (!/\d/.test(item[2]) || Number.parseInt(item[2], 10) === 1);
}

function cells(line) {
  const row = line.trim().replace(/^\|/, '').replace(/\|$/, '');
  return row.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}

/** A text that grows, and its blocks: what is certain to stay as it is is never parsed again. */
export class BlockStream {
  #text = '';
  #settledEnd = 0;    // where the first block begins that may still change
  #settled = 0;       // blocks before it

  get text() {
    return this.#text;
  }

  /**
   * @param {string} more
   * @returns {{keep: number, blocks: Block[]}} the first `keep` blocks stay as they were; `blocks` follow them
   */
  append(more) {
    this.#text += more;
    const keep = this.#settled;
    const base = this.#settledEnd;
    const blocks = parseBlocks(this.#text.slice(base));
    for (const block of blocks) block.start += base;
    // A block is settled once the first line of the next is complete: until then that may turn out to be part of it.
    for (let i = 1; i < blocks.length && this.#text.indexOf('\n', blocks[i].start) >= 0; i++) {
      this.#settledEnd = blocks[i].start;
      this.#settled = keep + i;
    }
    return {keep, blocks};
  }
}
