// The API key, where the server asks for one. It is forgotten with the page, unless somebody wants it kept; it goes
// into one header of requests to the page's own server, and nowhere else.

import {byId, make} from '../base/dom.js';

const kKey = 'tern.api-key';

export class ApiKey {
  #storage;
  #value = '';

  /** @param {Storage|null} storage */
  constructor(storage) {
    this.#storage = storage;
    try {
      this.#value = storage?.getItem(kKey) ?? '';
    } catch {
      // Then it is asked for.
    }
  }

  /** '' for none */
  get value() {
    return this.#value;
  }

  get isKept() {
    return Boolean(this.#storage?.getItem(kKey));
  }

  /** @param {string} value @param {boolean} keep for the next visits */
  set(value, keep) {
    this.#value = value;
    try {
      if (keep && value) this.#storage?.setItem(kKey, value);
      else this.#storage?.removeItem(kKey);
    } catch {
      // Not kept, then.
    }
  }
}

/** Sends 'key' when one was given. */
export class KeyDialog extends EventTarget {
  #key;
  #dialog;
  #field = make('input', {id: 'api-key', type: 'password', autocomplete: 'off', spellcheck: 'false', required: true,
    'aria-describedby': 'api-key-help api-key-wrong', data: {testid: 'api-key'}});
  #keep = make('input', {type: 'checkbox', data: {testid: 'api-key-keep'}});
  #wrong = make('p', {class: 'wrong', id: 'api-key-wrong', role: 'alert', data: {testid: 'api-key-wrong'}});
  /** In the instruments, once a key has been asked for. */
  #again = make('button', {type: 'button', class: 'quiet', data: {testid: 'api-key-open'},
    onclick: () => this.ask()}, 'API key…');

  /** @param {ApiKey} key */
  constructor(key) {
    super();
    this.#key = key;
    const form = make('form', {}, make('label', {for: 'api-key'}, 'API key'), this.#field, this.#wrong,
      make('label', {class: 'check'}, this.#keep, 'Keep it in this browser'),
      make('p', {class: 'small', id: 'api-key-help'}, 'Whoever runs the server can give you one. It goes to this ' +
        'server only, and is forgotten when the page is closed or loaded again, unless it is kept.'),
      make('div', {class: 'buttons'}, make('button', {type: 'submit', data: {testid: 'api-key-use'}}, 'Use this key'),
        make('button', {type: 'button', class: 'quiet', onclick: () => this.#dialog.close()}, 'Cancel')));
    this.#dialog = make('dialog', {class: 'key', 'aria-labelledby': 'api-key-title', data: {testid: 'api-key-dialog'}},
      make('h2', {id: 'api-key-title'}, 'This server asks for a key'), form);
    this.#dialog.addEventListener('click', ({target}) => target === this.#dialog && this.#dialog.close());
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#take();
    });
    document.body.append(this.#dialog);
    this.#again.hidden = !key.value;
    byId('report').after(this.#again);
  }

  /** @param {boolean} [isWrong] the one that was given is not taken */
  ask(isWrong = false) {
    this.#again.hidden = false;
    this.#keep.checked = this.#key.isKept;
    this.#say(isWrong ? 'The server does not take this key.' : '');
    this.#field.value = this.#key.value;
    if (!this.#dialog.open) this.#dialog.showModal();
    this.#field.select();
  }

  #say(text) {
    this.#wrong.textContent = text;
    this.#field.setAttribute('aria-invalid', String(text !== ''));
  }

  #take() {
    const value = this.#field.value.trim();
    if (!/^[\x21-\x7e]+$/.test(value)) return this.#say('A key has no spaces, and no letters but those of English.');
    this.#key.set(value, this.#keep.checked);
    this.#field.value = '';
    this.#dialog.close();
    this.dispatchEvent(new Event('key'));
  }
}
