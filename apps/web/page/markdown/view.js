// Markdown in a document: nodes are made one by one from the parsed tree and text only ever becomes text nodes, so
// nothing a model writes is read as HTML.

import {BlockStream} from './blocks.js';
import {parseInline} from './inline.js';
import {added, change} from './later.js';

/** @typedef {import('./blocks.js').Block} Block */
/** @typedef {import('./inline.js').Inline} Inline */

const kInlineTags = {strong: 'strong', em: 'em', del: 'del'};
const kTextTags = {code: 'code', math: 'code', sup: 'sup'};

/** A growing Markdown text inside an element. Only the blocks that may still change are made anew. */
export class MarkdownView {
  #stream = new BlockStream();
  #root;
  #document;
  #resized;
  /** @type {{block: Block, rank: number}[]} each one's node is the root's child of the same index */
  #shown = [];

  /**
   * @param {Element} root empty
   * @param {() => void} [resized] called when formulas have taken the place of their source. Without it none does.
   */
  constructor(root, resized) {
    this.#resized = resized;
    this.#root = root;
    this.#document = root.ownerDocument;
  }

  /** The Markdown so far. */
  get text() {
    return this.#stream.text;
  }

  /** @param {string} more */
  append(more) {
    this.#show(this.#stream.append(more), true);
  }

  /** Nothing more comes: what was shown as begun is now shown as written. */
  finish() {
    this.#show(this.#stream.append(''), false);
  }

  #show({keep, blocks}, open) {
    const nodes = this.#root.childNodes;
    for (let i = 0; i < blocks.length; i++) {
      const last = open && i === blocks.length - 1;
      const old = this.#shown[keep + i];
      const there = nodes[keep + i];
      if (old && growCode(there, old, blocks[i])) continue;
      const rank = this.#rankOf(blocks[i], keep + i);
      const node = renderBlock(this.#document, blocks[i], last, rank);
      if (!old) this.#root.append(node);
      else if (!change(there, node)) there.replaceWith(node);
      this.#shown[keep + i] = {block: blocks[i], rank};
    }
    this.#shown.length = keep + blocks.length;
    while (nodes.length > this.#shown.length) nodes[nodes.length - 1].remove();
    if (this.#resized) added([...nodes].slice(keep), this.#resized);
  }

  /**
   * Which of h3 to h6 a heading is. The page's own are h1 and h2, and whatever a text begins with or leaves out, its
   * headings leave out none.
   */
  #rankOf(block, index) {
    if (block.type !== 'heading') return 0;
    const before = this.#shown.slice(0, index).findLast(({block: {type}}) => type === 'heading');
    if (!before) return 3;
    return Math.min(Math.max(before.rank + block.level - before.block.level, 3), before.rank + 1, 6);
  }
}

/** Long code grows in place: its copy button keeps the focus, and the reader's selection stays. */
function growCode(node, old, block) {
  const same = old.block.type === 'code' && block.type === 'code' && old.block.language === block.language;
  if (!same || isMath(block) || !block.text.startsWith(old.block.text)) return false;
  const code = node.querySelector('code');
  const more = block.text.slice(old.block.text.length);
  if (code.lastChild?.appendData) code.lastChild.appendData(more);
  else if (more) code.append(more);
  old.block = block;
  return true;
}

/** A formula between fences, once it has ended. */
const isMath = ({type, language, closed}) => type === 'code' && language === 'math' && closed;

/**
 * @param {Document} document
 * @param {Block} block
 * @param {boolean} open whether its text still grows
 * @param {number} [rank] of a heading
 * @returns {Element}
 */
export function renderBlock(document, block, open = false, rank = 0) {
  const make = (tag, ...children) => {
    const node = document.createElement(tag);
    node.append(...children);
    return node;
  };
  const inline = (text) => renderInline(document, parseInline(text, {open}));
  switch (block.type) {
    case 'heading':
      // One in a list or a quote is not one of the text's own.
      return rank ? make(`h${rank}`, ...inline(block.text)) : make('p', make('strong', ...inline(block.text)));
    case 'code':
    case 'math': {
      if (block.type === 'code' && !isMath(block)) return renderCode(document, block);
      const formula = make('pre', block.type === 'math' ? block.text : `\`\`\`math\n${block.text}\n\`\`\``);
      formula.className = 'math';
      formula.tabIndex = 0;
      return formula;
    }
    case 'note':
      return make('p', make('sup', block.mark), ' ', ...inline(block.text));
    case 'rule':
      return make('hr');
    case 'quote':
      return make('blockquote', ...block.blocks.map((b) => renderBlock(document, b, open)));
    case 'list': {
      const list = make(block.ordered ? 'ol' : 'ul');
      if (block.ordered && block.first !== 1) list.setAttribute('start', String(block.first));
      list.append(...block.items.map((item) => {
        const entry = make('li', ...item.flatMap((b) => (
          b.type === 'paragraph' && !block.loose ? inline(b.text) : [renderBlock(document, b, open)])));
        if (item.task) entry.className = 'task';
        return entry;
      }));
      return list;
    }
    case 'table':
      return renderTable(document, block, make, inline);
    default:
      return make('p', ...inline(block.text));
  }
}

function renderCode(document, block) {
  const figure = document.createElement('figure');
  figure.className = 'code';
  const caption = document.createElement('figcaption');
  const language = document.createElement('span');
  language.textContent = block.language.slice(0, 30) || 'text';
  const copy = document.createElement('button');
  copy.type = 'button';
  copy.className = 'quiet';
  copy.setAttribute('data-action', 'copy-code');
  copy.textContent = 'Copy';
  copy.setAttribute('aria-label', 'Copy this code');
  caption.append(language, copy);
  const pre = document.createElement('pre');
  pre.tabIndex = 0;  // it scrolls sideways, so the keyboard must reach it
  const code = document.createElement('code');
  code.append(document.createTextNode(block.text));
  pre.append(code);
  figure.append(caption, pre);
  return figure;
}

function renderTable(document, block, make, inline) {
  const row = (tag, texts) => make('tr', ...texts.map((text, i) => {
    const cell = make(tag, ...inline(text));
    if (block.align[i]) cell.className = `align-${block.align[i]}`;
    return cell;
  }));
  const table = make('table', make('thead', row('th', block.head)),
      make('tbody', ...block.rows.map((texts) => row('td', texts))));
  const scroller = make('div', table);
  scroller.className = 'table';
  scroller.tabIndex = 0;
  return scroller;
}

/**
 * @param {Document} document
 * @param {Inline[]} nodes
 * @returns {Node[]}
 */
export function renderInline(document, nodes) {
  return nodes.map((node) => {
    if (typeof node === 'string') return document.createTextNode(node);
    if (node.type === 'break') return document.createElement('br');
    if (kTextTags[node.type]) {
      const element = document.createElement(kTextTags[node.type]);
      if (node.type === 'math') element.className = 'math';
      element.append(document.createTextNode(node.text));
      return element;
    }
    const element = document.createElement(node.type === 'link' ? 'a' : kInlineTags[node.type]);
    if (node.type === 'link') {
      element.setAttribute('href', node.href);
      element.setAttribute('rel', 'noopener noreferrer');
      element.setAttribute('target', '_blank');
    }
    element.append(...renderInline(document, node.children));
    return element;
  });
}
