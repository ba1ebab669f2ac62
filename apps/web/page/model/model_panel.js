// The panel's part on models: what is loaded, where others come from, and what the browser keeps.

import {byId, make} from '../base/dom.js';
import {formatBytes, formatCount} from '../base/format.js';
import {addressSource, filesSource, kDefaultModel} from './model_host.js';

const defaultAddress = () => new URL(kDefaultModel, document.baseURI).href;

export class ModelPanel {
  #Tern;
  #host;
  #settings;
  #list = byId('models-list');

  /**
   * @param {object} Tern the package's class
   * @param {import('./model_host.js').ModelHost} host
   * @param {import('../base/settings.js').Settings} settings
   */
  constructor(Tern, host, settings) {
    this.#Tern = Tern;
    this.#host = host;
    this.#settings = settings;
    host.addEventListener('phase', () => {
      this.#showFacts();
      if (host.phase !== 'loading') this.showStored();
    });
    byId('model-form').addEventListener('submit', (event) => {
      event.preventDefault();
      const address = byId('model-url').value.trim();
      if (address) this.loadAddress(address);
      else byId('model-url').focus();
    });
    for (const kind of ['file', 'folder']) {
      const input = byId(`model-${kind}`);
      byId(`model-${kind}-button`).addEventListener('click', () => input.click());
      input.addEventListener('change', () => {
        if (input.files.length > 0) this.loadFiles([...input.files]);
        input.value = '';  // the same file chosen again is a change too
      });
    }
    this.#connectBackend();
    this.#showFacts();
    this.showStored();
  }

  /** Loads a model, and has the next visit begin with it if it can be loaded. @param {string} address */
  async loadAddress(address) {
    const source = addressSource(address, document.baseURI);
    await this.#host.load(source);
    if (this.#host.phase !== 'ready' || this.#host.source !== source) return;
    this.#settings.set('model', source.from === defaultAddress() ? '' : address);
  }

  /** @param {File[]} files of one model */
  loadFiles(files) {
    this.#host.load(filesSource(files));
  }

  /** Asks the package again what it keeps. */
  async showStored() {
    let models = [], usage = null;
    try {
      [models, usage] = await Promise.all([this.#Tern.models.list(), this.#Tern.models.usage()]);
    } catch (error) {
      byId('usage-text').textContent = `What is stored cannot be read: ${error.message}`;
      return;
    }
    const items = models.map((model) => this.#item(model));
    if (!models.some(({url}) => url === defaultAddress())) {
      items.unshift(this.#item({id: null, url: defaultAddress(), name: 'Tern Stories', bytes: 0, complete: true}));
    }
    this.#list.replaceChildren(...items);
    const meter = byId('usage-meter');
    meter.hidden = !(usage?.quota > 0);
    if (usage?.quota > 0) meter.value = usage.used / usage.quota;
    byId('usage-text').textContent = usage?.quota > 0 ?
      `${formatBytes(usage.used)} used of ${formatBytes(usage.quota)} that the browser offers` :
      'The browser does not say how much it can keep.';
  }

  #item({id, url, name, bytes, complete}) {
    const isLoaded = this.#host.phase === 'ready' && this.#host.source?.from === url;
    const size = complete ? formatBytes(bytes) : `${formatBytes(bytes)}, not complete`;
    const state = id === null ? 'comes with this page' : size;
    const item = make('li', {data: {testid: 'model-item', url}},
        make('span', {class: 'model-name', title: url}, name || url),
        make('span', {class: 'small'}, isLoaded ? `${state}, in use` : state));
    const tools = make('div', {class: 'model-tools'});
    if (!isLoaded) {
      tools.append(make('button', {type: 'button', class: 'quiet', 'aria-label': `Load ${name}`,
        data: {testid: 'model-item-load'}, onclick: () => this.loadAddress(url)}, complete ? 'Load' : 'Go on'));
    }
    if (id !== null && !isLoaded) tools.append(this.#deleteButton(id, name, bytes));
    item.append(tools);
    return item;
  }

  /** Deletes at the second press: a gigabyte is slow to come back. */
  #deleteButton(id, name, bytes) {
    const button = make('button', {type: 'button', class: 'quiet', 'aria-label': `Delete ${name}`,
      data: {testid: 'model-item-delete'}}, 'Delete');
    let armed = false;
    const arm = (on) => {
      armed = on;
      button.classList.toggle('danger', on);
      button.textContent = on ? `Delete ${formatBytes(bytes)}?` : 'Delete';
      button.setAttribute('aria-label', on ? `Really delete ${name}?` : `Delete ${name}`);
    };
    button.addEventListener('click', async () => {
      if (!armed) return arm(true);
      button.disabled = true;
      try {
        await this.#Tern.models.delete(id);
        await this.showStored();
      } catch (error) {
        button.disabled = false;
        arm(false);
        byId('usage-text').textContent = `${name} could not be deleted: ${error.message}`;
      }
    });
    button.addEventListener('blur', () => arm(false));
    return button;
  }

  #connectBackend() {
    const backend = byId('backend'), threads = byId('setting-threads');
    backend.value = this.#settings.get('backend');
    backend.addEventListener('change', () => {
      this.#settings.set('backend', backend.value);
      this.#host.reload();
    });
    threads.min = 0;
    threads.max = 64;
    threads.placeholder = 'all';
    threads.value = this.#settings.get('threads') || '';
    threads.disabled = !globalThis.crossOriginIsolated;
    byId('threads-help').textContent = globalThis.crossOriginIsolated ?
      'Empty: as many threads as the browser offers.' :
      'One thread: this page is not cross-origin isolated, so the browser withholds threads.';
    threads.addEventListener('change', () => {
      if (!this.#settings.set('threads', Number(threads.value))) threads.value = this.#settings.get('threads') || '';
      else if (this.#host.backend !== 'webgpu') this.#host.reload();
    });
    this.#settings.addEventListener('change', () => {
      backend.value = this.#settings.get('backend');
    });
  }

  #showFacts() {
    const {info, phase} = this.#host;
    const facts = info ? {
      'name': info.name, 'family': info.architecture, 'parameters': formatCount(info.nParams),
      'file': formatBytes(info.fileBytes), 'context': `${formatCount(info.nCtx)} tokens`,
      'kind': info.hasChatTemplate ? 'chat' : 'continues text',
    } : {'name': this.#host.source?.label ?? '–', 'state': phase === 'loading' ? 'loading' : 'not loaded'};
    byId('model-facts').replaceChildren(...Object.entries(facts).flatMap(([term, text]) => [
      make('dt', {}, term), make('dd', {data: {testid: `fact-${term}`}}, text)]));
    const why = byId('model-why');
    why.hidden = !info?.why;
    why.textContent = info?.why ? `${info.why[0].toUpperCase()}${info.why.slice(1)}.` : '';
  }
}
