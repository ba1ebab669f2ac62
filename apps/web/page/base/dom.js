// A few words for making and finding elements.

/**
 * An element. Properties that begin with "on" are listeners, `data` and `class` are what they say, the rest are
 * attributes (true: present, false, null and undefined: absent).
 * @param {string} tag
 * @param {Record<string, any>} [properties]
 * @param {...(Node|string|null|false|undefined)} children
 * @returns {HTMLElement}
 */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'data') Object.assign(element.dataset, value);
    else if (name === 'class') element.className = value;
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== false && child !== undefined));
  return element;
}

/** @param {string} id of an element that index.html has @returns {HTMLElement} */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`index.html has no element #${id}`);
  return element;
}

/** An icon out of index.html's symbols, invisible to screen readers. @param {string} name */
export function icon(name) {
  const kSvg = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(kSvg, 'svg');
  svg.setAttribute('class', 'icon');
  svg.setAttribute('aria-hidden', 'true');
  const use = document.createElementNS(kSvg, 'use');
  use.setAttribute('href', `#icon-${name}`);
  svg.append(use);
  return svg;
}

/** Puts a script or a style sheet into the page. @param {'script'|'link'} tag @param {object} properties */
export function load(tag, properties) {
  return new Promise((resolve, reject) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.addEventListener('load', resolve);
    element.addEventListener('error', () => {
      element.remove();
      reject(new Error(`${tag} could not be loaded`));
    });
    document.head.append(element);
  });
}

/** Copies a text and says so on the button that was pressed. @param {HTMLElement} button @param {string} text */
export async function copyFrom(button, text) {
  let said = 'Copied';
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    said = 'Not allowed';
  }
  const label = button.querySelector('.label') ?? button;
  const before = label.dataset.label ??= label.textContent;
  label.textContent = said;
  announce(said);
  setTimeout(() => {
    label.textContent = before;
  }, 1500);
}

/** Has screen readers say something once, when they are done with what they say now. @param {string} text */
export function announce(text) {
  const region = byId('announcer');
  region.textContent = '';
  // An unchanged text would not be read again.
  setTimeout(() => {
    region.textContent = text;
  }, 50);
}
