// The menu of a reply: what is done with one now and then. Fetched when it is first opened.

import {icon, make} from '../base/dom.js';

/** @typedef {import('./conversation.js').Message} Message */

const kEdge = 8;  // pixels between the menu and the window's edge

export class MoreMenu {
  #chat;
  #edit;
  #others;
  #menu = make('div', {class: 'more-menu', id: 'more-menu', popover: 'auto', role: 'menu', 'aria-label': 'This reply',
    data: {testid: 'more-menu'}});
  /** @type {HTMLElement|null} */
  #button = null;

  /**
   * @param {import('./chat.js').Chat} chat
   * @param {(message: Message) => void} edit
   * @param {() => Promise<{name: string, load: () => void}[]>} others the models that could be asked instead
   */
  constructor(chat, edit, others) {
    this.#chat = chat;
    this.#edit = edit;
    this.#others = others;
    this.#menu.addEventListener('keydown', (event) => this.#key(event));
    document.querySelector('main').append(this.#menu);
  }

  /** @param {Message} message @param {HTMLElement} button below which it opens */
  async open(message, button) {
    this.#button = button;
    const canAsk = this.#chat.state === 'idle';
    const others = canAsk ? await this.#others().catch(() => []) : [];
    const read = button.closest('.turn').querySelector('[data-testid="reply"]');
    this.#menu.replaceChildren(...[
      canAsk && this.#item('edit-reply', 'edit', 'Edit the reply', () => this.#edit(message)),
      'speechSynthesis' in globalThis && this.#speech(read),
      others.length > 0 && make('p', {class: 'small', role: 'presentation'}, 'Again, by another model'),
      ...others.map(({name, load}) => (
        this.#item('again-with', 'again', name, () => this.#chat.regenerateBy(load, message)))),
    ].filter(Boolean));
    this.#menu.showPopover();
    this.#place();
    this.#items()[0]?.focus();
  }

  #item(name, symbol, label, act) {
    return make('button', {type: 'button', role: 'menuitem', data: {testid: name}, onclick: () => {
      this.#menu.hidePopover();
      this.#button.focus();
      act();
    }}, icon(symbol), make('span', {}, label));
  }

  #speech(element) {
    const {speechSynthesis: voice} = globalThis;
    if (voice.speaking) return this.#item('read-stop', 'stop', 'Stop reading', () => voice.cancel());
    return this.#item('read', 'sound', 'Read aloud', () => readAloud(element));
  }

  #place() {
    const {left, bottom, top} = this.#button.getBoundingClientRect();
    const {width, height} = this.#menu.getBoundingClientRect();
    const isRoom = bottom + height + kEdge <= innerHeight;
    const {style} = this.#menu;
    style.left = `${Math.max(kEdge, Math.min(left, innerWidth - width - kEdge))}px`;
    style.top = `${isRoom ? bottom : Math.max(kEdge, top - height)}px`;
  }

  #items() {
    return [...this.#menu.querySelectorAll('button')];
  }

  #key(event) {
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (event.key === 'Tab') this.#menu.hidePopover();
    if (!step) return;
    event.preventDefault();
    const items = this.#items();
    items.at((items.indexOf(document.activeElement) + step) % items.length).focus();
  }
}

if ('speechSynthesis' in globalThis) addEventListener('pagehide', () => speechSynthesis.cancel());

/** Some voices break off after a long text, so each sentence is one. @param {Element} element */
function readAloud(element) {
  const copy = element.cloneNode(true);
  for (const unread of copy.querySelectorAll('figcaption, annotation')) unread.remove();
  for (const block of copy.querySelectorAll('p, li, h3, h4, h5, h6, tr, pre')) block.append('\n');
  for (const cell of copy.querySelectorAll('th, td')) cell.append(', ');
  for (const [sentence] of copy.textContent.matchAll(/[^.!?\n]+[.!?\n]*/g)) {
    if (!sentence.trim()) continue;
    const utterance = new SpeechSynthesisUtterance(sentence.trim());
    utterance.lang = navigator.language;
    speechSynthesis.speak(utterance);
  }
}
