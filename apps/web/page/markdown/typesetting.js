// Sets formulas and colors code in what MarkdownView has made. What was set stays while the text around it grows.

import {load} from '../base/dom.js';
import {color, replaceCode, tokens} from './colors.js';
import {isColored} from './later.js';

export {tokens};

const kSliceMs = 8;  // a frame has time for more than this

/** @type {WeakMap<Element, string>} the source of each formula that is set */
const sources = new WeakMap();
/** @type {WeakMap<Element, string>} what could not be set, so that it is not tried again */
const refused = new WeakMap();
/** @type {typeof import('./formulas.js')|null} */
let formulas = null;
let isComing = false;
/** @type {[Element, (() => void)|undefined][]} */
const queue = [];
let timer = 0;

const style = new URL('../style/typesetting.css', import.meta.url).href;
load('link', {rel: 'stylesheet', href: style}).catch(() => {});  // what is set can be read without it, too

/**
 * Colors code at once and sets formulas within the time that a frame has, the rest in the next ones.
 * @param {Element[]} blocks
 * @param {() => void} [done] called whenever some were set
 */
export function set(blocks, done) {
  for (const block of blocks) {
    for (const figure of matching(block, '.code')) colorFigure(figure);
    for (const host of matching(block, '.math')) {
      if (refused.get(host) !== host.textContent && isWhole(host.textContent)) queue.push([host, done]);
    }
  }
  if (queue.length > 0 && !timer) work();
}

const matching = (block, selector) => block.matches(selector) ? [block] : [...block.querySelectorAll(selector)];
const isWhole = (source) => /^(?:```math\n[^]+\n```|\$[^]+\$|\\\([^]+\\\)|\\\[[^]+\\\])$/.test(source.trim());

function colorFigure(figure) {
  const language = figure.querySelector('span').textContent;
  if (isColored(language)) color(figure.querySelector('code'), language);
}

function work() {
  timer = 0;
  if (!formulas) {
    bring();
    return;
  }
  const end = performance.now() + kSliceMs;
  const changed = new Set();
  while (queue.length > 0 && performance.now() < end) {
    const [host, done] = queue.shift();
    if (host.parentNode && setFormula(host)) changed.add(done);
  }
  for (const done of changed) done?.();
  if (queue.length > 0) timer = setTimeout(work);
}

async function bring() {
  if (isComing) return;
  isComing = true;
  try {
    const module = await import('./formulas.js');
    await module.bring(load);
    formulas = module;
    work();
  } catch {
    queue.length = 0;  // without a network: the next formula tries again
  } finally {
    isComing = false;
  }
}

function setFormula(host) {
  const source = host.textContent;
  const node = formulas.formula(host.ownerDocument, source);
  if (!node) {
    refused.set(host, source);
    return false;
  }
  sources.set(node, source);
  host.replaceWith(node);
  return true;
}

/**
 * Makes `shown` like `fresh` where only their insides differ.
 * @param {Node} shown
 * @param {Node} fresh what MarkdownView made of the same block, now longer; nothing in it is set
 * @returns {boolean} whether it could
 */
export function change(shown, fresh) {
  if (sources.has(shown)) return fresh.nodeType === 1 && fresh.matches('.math') && sources.get(shown) ===
    fresh.textContent;
  if (shown.nodeType !== fresh.nodeType) return false;
  if (shown.nodeType !== 1) {
    if (shown.data !== fresh.data) shown.data = fresh.data;
    return true;
  }
  if (!shown.cloneNode(false).isEqualNode(fresh.cloneNode(false))) return false;
  if (fresh.matches('pre > code')) changeCode(shown, fresh.textContent);
  else changeChildren(shown, fresh);
  return true;
}

function changeCode(code, text) {
  const before = code.textContent;
  if (!text.startsWith(before)) replaceCode(code, text);
  else if (text !== before) code.append(text.slice(before.length));
}

function changeChildren(shown, fresh) {
  const wanted = [...fresh.childNodes];
  wanted.forEach((node, i) => {
    const there = shown.childNodes[i];
    if (!there) shown.append(node);
    else if (!change(there, node)) there.replaceWith(node);
  });
  while (shown.childNodes.length > wanted.length) shown.lastChild.remove();
}
