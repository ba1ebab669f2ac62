// Formulas are set and code is colored by modules that are fetched when the first of them appears. Until then, and
// where they cannot be had, the text stays as it was written.

const kKnown = new RegExp('^(?:js|javascript|mjs|cjs|jsx|ts|typescript|tsx|py|python|c|h|cpp|c\\+\\+|cc|hpp|' +
  'cs|csharp|java|kotlin|swift|go|rust|rs|php|rb|ruby|sh|bash|shell|zsh|json|jsonc|' +
  'html|xml|svg|css|sql|ya?ml|toml|wgsl|glsl)$',
  'i');

/** @type {typeof import('./typesetting.js')|null} */
let typesetting = null;
let isComing = false;
/** @type {[Element[], () => void][]} what was shown meanwhile */
let waiting = [];

/** @param {string} language as a fence names it */
export const isColored = (language) => kKnown.test(language);

/** Whether `shown` became like `fresh` without a part of it being made anew that was already set. */
export const change = (shown, fresh) => typesetting?.change(shown, fresh) ?? false;

/**
 * @param {Element[]} blocks that were shown or have changed
 * @param {() => void} done called when their size has changed
 */
export function added(blocks, done) {
  if (typesetting) return typesetting.set(blocks, done);
  const found = blocks.filter(isWorthwhile);
  if (found.length === 0) return;
  waiting.push([found, done]);
  if (isComing) return;
  isComing = true;
  import('./typesetting.js').then((module) => {
    typesetting = module;
    for (const [each, then] of waiting.splice(0)) typesetting.set(each, then);
  }, () => {
    isComing = false;  // without a network: the next one tries again
    waiting = [];
  });
}

function isWorthwhile(block) {
  if (block.matches('.math') || block.querySelector('.math')) return true;
  const names = block.matches('.code') ? [block.querySelector('span')] : block.querySelectorAll('.code span');
  return Array.from(names).some(({textContent}) => isColored(textContent));
}
