// The kernels that the GPU ran for the last token: how often, how long, and their text.

import {byId, copyFrom, load, make} from '../base/dom.js';

/**
 * @typedef {{name: string, wgsl: string, dispatches: number, us: number}} Kernel
 * us: of all its dispatches, 0: not measured
 */

export class KernelsView {
  #host;
  #chat;
  #dialog = byId('kernels');
  #button = byId('kernels-open');
  #isAsking = false;
  #tokens = null;  // of WGSL: fetched, as is the style of this, when it is first shown

  /** @param {import('../model/model_host.js').ModelHost} host @param {import('../chat/chat.js').Chat} chat */
  constructor(host, chat) {
    this.#host = host;
    this.#chat = chat;
    this.#button.addEventListener('click', () => this.#open());
    byId('kernels-close').addEventListener('click', () => this.#dialog.close());
    byId('kernel-copy').addEventListener('click', (event) => (
      copyFrom(event.currentTarget, byId('kernel-source').textContent)));
    this.#dialog.addEventListener('click', (event) => {
      if (event.target === this.#dialog) this.#dialog.close();  // beside it
    });
    host.addEventListener('phase', () => this.#enable());
    chat.addEventListener('state', () => this.#enable());
    this.#enable();
  }

  #enable() {
    const {backend, info, tern} = this.#host;
    const hasRun = (tern?.stats?.nGenerated ?? 0) > 0;
    this.#button.disabled = backend !== 'webgpu' || !hasRun || this.#chat.state === 'writing';
    byId('kernels-why').textContent = !info ? '' : backend !== 'webgpu' ?
      'The CPU runs this model, so there are no GPU kernels to see.' :
      hasRun ? '' : 'Once something was written, its last token’s kernels are here.';
  }

  async #open() {
    if (this.#isAsking) return;
    this.#isAsking = true;  // a button that is disabled loses the focus
    const why = byId('kernels-why');
    why.textContent = 'Asking the GPU…';
    let kernels = [];
    try {
      kernels = await this.#host.tern.kernels();
      if (!this.#tokens) {
        const {tokens} = await import('../markdown/typesetting.js');
        await load('link', {rel: 'stylesheet', href: 'style/kernels.css'});
        this.#tokens = tokens;
      }
    } catch (error) {
      this.#enable();
      why.textContent = `The kernels could not be read: ${error.message}`;
      return;
    } finally {
      this.#isAsking = false;
    }
    this.#enable();
    if (kernels.length === 0) why.textContent = 'The engine names no kernels for the last token.';
    else this.#show(kernels);
  }

  /** @param {Kernel[]} kernels */
  #show(kernels) {
    const sum = (key) => kernels.reduce((total, kernel) => total + kernel[key], 0);
    const timed = sum('us') > 0;
    const key = timed ? 'us' : 'dispatches';
    const sorted = kernels.toSorted((a, b) => b[key] - a[key]);
    const most = Math.max(...sorted.map((kernel) => kernel[key]), 1);
    byId('kernels-sum').textContent = `${kernels.length} kernels, ${sum('dispatches')} dispatches` +
        (timed ? `, ${(sum('us') / 1000).toFixed(2)} ms` : '; this GPU gives no times, bars are counts of dispatches');
    byId('kernels-list').replaceChildren(...sorted.map((kernel, i) => {
      const share = timed ? `${Math.round(kernel.us)} µs` : '';
      const percent = `${(kernel[key] / sum(key) * 100).toFixed(kernel[key] / sum(key) < 0.0995 ? 1 : 0)} %`;
      const bar = make('span', {class: 'kernel-bar', 'aria-hidden': 'true'});
      bar.style.setProperty('--share', String(kernel[key] / most));
      const select = () => this.#select(button, kernel);
      const cell = (name, text) => make('span', {class: `kernel-${name}`}, text);
      const button = make('button', {type: 'button', data: {testid: 'kernel'}, onclick: select},
          cell('name', kernel.name), cell('count', `${kernel.dispatches}×`), cell('time', share),
          cell('share', percent), bar);
      if (i === 0) this.#select(button, kernel);
      return make('li', {}, button);
    }));
    this.#dialog.showModal();
  }

  #select(button, kernel) {
    for (const other of byId('kernels-list').querySelectorAll('[aria-current]')) other.removeAttribute('aria-current');
    button.setAttribute('aria-current', 'true');
    byId('kernel-name').textContent = kernel.name;
    const source = byId('kernel-source');
    source.replaceChildren(...this.#tokens(kernel.wgsl, 'wgsl').map(({kind, text}) => (
      kind ? make('span', {class: `code-${kind}`}, text) : document.createTextNode(text))));
    source.scrollTop = 0;
  }
}
