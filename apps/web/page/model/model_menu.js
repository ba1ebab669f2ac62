// The menu of models behind the chip: the stories that come with the page, what the browser keeps, the published models
// that run here, files, addresses. One field searches all of them, and takes an address.

import {byId, make} from '../base/dom.js';
import {formatBytes} from '../base/format.js';
import {addressSource, filesSource, kDefaultModel, kDefaultModelLimits} from './model_host.js';

const kMostWasm = 3.5e9;  // bytes that a module can have
// Of a device's memory that a tab may hope for. Phones end a tab that takes more than this, without a word.
const kShare = 0.6;
const kShareOfPhone = 0.35;
const kPhoneMemory = 4;   // where a phone does not say

const defaultAddress = () => new URL(kDefaultModel, document.baseURI).href;
const isAddress = (text) => /^(https?:|hf:|\.{0,2}\/)\S+$/.test(text) || /\.gguf$/i.test(text);
const isHubName = (text) => /^[\w.-]+\/[\w.-]+(:[\w.-]+|@\S+)?$/.test(text);

/**
 * Whether a published model can be expected to run here.
 * @param {{memoryBytes: number, downloadBytes: number}} model
 * @param {{usage: {used: number, quota: number}|null, deviceMemory?: number, isPhone?: boolean, hasGpu: boolean}} here
 * @returns {string} '' if so; else why not, in words
 */
export function whyNotHere({memoryBytes, downloadBytes}, {usage, deviceMemory, isPhone = false, hasGpu}) {
  const need = formatBytes(memoryBytes);
  if (!hasGpu && memoryBytes > kMostWasm) return `needs ${need} of memory, more than a tab has without a GPU`;
  const mostOfPhone = (deviceMemory ?? kPhoneMemory) * 1e9 * kShareOfPhone;
  if (isPhone && memoryBytes > mostOfPhone) {
    return `needs ${need} of memory; a tab gets about ${formatBytes(mostOfPhone)} on this device`;
  }
  // Browsers say at most 8, which may be any number.
  if (deviceMemory < 8 && memoryBytes > deviceMemory * 1e9 * kShare) {
    return `needs ${need} of memory; this device has about ${deviceMemory} GB`;
  }
  const free = usage?.quota > 0 ? usage.quota - usage.used : Infinity;
  if (downloadBytes > free) return `needs ${formatBytes(downloadBytes)} of storage; ${formatBytes(free)} is left`;
  return '';
}

/** Whether the device is one whose system ends tabs that take much: a phone, or a tablet. */
function isPhone() {
  const {userAgentData, userAgent, platform, maxTouchPoints} = navigator;
  const isIPad = platform === 'MacIntel' && maxTouchPoints > 1;  // which says that it is a Mac
  return userAgentData?.mobile || isIPad || /Android|iPhone|iPad|Mobile/.test(userAgent);
}

export class ModelMenu {
  #Tern;
  #host;
  #settings;
  #menu = byId('model-menu');
  #list = byId('models-list');
  #search = byId('model-search');
  #stored = [];
  #published = [];
  #usage = null;

  /**
   * @param {object} Tern the package's class; `published()` gives the published models
   * @param {import('./model_host.js').ModelHost} host
   * @param {import('../base/settings.js').Settings} settings
   */
  constructor(Tern, host, settings) {
    this.#Tern = Tern;
    this.#host = host;
    this.#settings = settings;
    host.addEventListener('phase', () => {
      if (this.#menu.open && host.phase !== 'loading') this.showStored();
    });
    byId('model-menu-close').addEventListener('click', () => this.#menu.close());
    this.#menu.addEventListener('click', ({target}) => target === this.#menu && this.#menu.close());
    this.#search.addEventListener('input', () => this.#show());
    byId('model-form').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#take();
    });
    for (const kind of ['file', 'folder']) {
      const input = byId(`model-${kind}`);
      byId(`model-${kind}-button`).addEventListener('click', () => input.click());
      input.addEventListener('change', () => {
        if (input.files.length > 0) this.loadFiles([...input.files]);
        input.value = '';  // the same file chosen again is a change too
      });
    }
  }

  /** Those that are here, beside the one that is loaded. @returns {Promise<{name: string, load: () => void}[]>} */
  async others() {
    const stored = await this.#Tern.models.list();
    return stored.filter(({complete, url}) => complete && url !== this.#host.source?.from)
        .map(({name, url}) => ({name, load: () => this.loadAddress(url)}));
  }

  open() {
    this.#search.value = '';
    this.showStored();
    if (!this.#menu.open) this.#menu.showModal();
    this.#search.focus();
  }

  /** Loads a model, and has the next visit begin with it if it can be loaded. @param {string} address */
  async loadAddress(address) {
    this.#menu.close();
    const source = addressSource(address, document.baseURI);
    await this.#host.load(source);
    if (this.#host.phase !== 'ready' || this.#host.source !== source) return;
    this.#settings.set('model', source.from === defaultAddress() ? '' : address);
  }

  /** @param {File[]} files of one model */
  loadFiles(files) {
    this.#menu.close();
    this.#host.load(filesSource(files));
  }

  /** Asks the package again what it keeps. */
  async showStored() {
    try {
      [this.#stored, this.#usage, this.#published] = await Promise.all(
          [this.#Tern.models.list(), this.#Tern.models.usage(), this.#Tern.published().catch(() => [])]);
      const {used, quota} = this.#usage ?? {};
      const meter = byId('usage-meter');
      meter.hidden = !(quota > 0);
      if (quota > 0) meter.value = used / quota;
      byId('usage-text').textContent = quota > 0 ? `${formatBytes(used)} used of ${formatBytes(quota)} that the ` +
        'browser offers' : 'The browser does not say how much it can keep.';
    } catch (error) {
      byId('usage-text').textContent = `What is stored cannot be read: ${error.message}`;
    }
    this.#show();
  }

  /** The field's text taken at its word, or the first model found. */
  #take() {
    const text = this.#search.value.trim();
    if (isAddress(text)) return void this.loadAddress(text);
    if (isHubName(text)) return void this.loadAddress(`hf:${text}`);
    this.#list.querySelector('.model-load')?.click();
  }

  #show() {
    const words = this.#search.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const isFound = (...texts) => words.every((word) => texts.join(' ').toLowerCase().includes(word));
    const stored = this.#stored.filter(({url}) => url !== defaultAddress());
    const own = this.#stored.find(({url}) => url === defaultAddress());
    const isHere = ({address}) => stored.some(({url, complete}) => complete && url === address);
    const isOffered = (model) => !isHere(model) && isFound(model.name, model.address, model.format);
    const text = this.#search.value.trim();
    const asked = isAddress(text) ? text : isHubName(text) ? `hf:${text}` : '';
    const sections = [
      ['From this address', asked ? [this.#item({url: asked, name: asked, about: ['load it']})] : []],
      ['With this page', isFound('Tern Stories children small') ? [this.#item({
        url: defaultAddress(), name: 'Tern Stories',
        about: [kDefaultModelLimits, own ? formatBytes(own.bytes) : '16 MB'],
      })] : []],
      ['Opened from this device', this.#openedFile().filter(({name}) => isFound(name)).map((one) => this.#item(one))],
      ['Kept in this browser', stored.filter(({name, url}) => isFound(name, url)).map((model) => this.#item({
        ...model, about: [model.complete ? formatBytes(model.bytes) : `${formatBytes(model.bytes)}, not complete`],
      }))],
      ['Published models', this.#published.filter(isOffered).map((model) => this.#publishedItem(model))],
    ].filter(([, items]) => items.length > 0);
    this.#list.replaceChildren(...sections.map(([title, items]) => make('section', {},
        make('h3', {}, title), make('ul', {'aria-label': title}, ...items))));
    byId('model-none').hidden = sections.length > 0;
  }

  #publishedItem(model) {
    const {name, address, license, downloadBytes, memoryBytes} = model;
    const why = whyNotHere(model, {usage: this.#usage, deviceMemory: navigator.deviceMemory, isPhone: isPhone(),
      hasGpu: this.#host.backend === 'webgpu'});
    return this.#item({url: address, name, why,
      about: [`${formatBytes(downloadBytes)} to fetch`, `${formatBytes(memoryBytes)} of memory`, license,
        ...(why ? [] : ['fits here'])]});
  }

  /** A model of files that are not kept, and can be. */
  #openedFile() {
    const {phase, source, tern, info} = this.#host;
    if (phase !== 'ready' || typeof source?.from === 'string' || !this.#Tern.models.keep) return [];
    return [{url: source.from, name: info.name, about: ['for this visit'], keep: tern}];
  }

  #item({id = null, url, name, bytes, complete = true, about, why = '', keep = null}) {
    const isLoaded = this.#host.phase === 'ready' && this.#host.source?.from === url;
    const title = typeof url === 'string' ? url : '';
    const item = make('li', {data: {testid: 'model-item', url: title}},
        make('button', {type: 'button', class: 'model-load', title, disabled: isLoaded,
          data: {testid: 'model-item-load'}, onclick: () => this.loadAddress(url)},
        make('span', {class: 'model-name'}, name || title),
        make('span', {class: 'small'}, [...about, isLoaded ? 'in use' : complete ? '' : 'go on with it']
            .filter(Boolean).join(' · ')),
        why && make('span', {class: 'small why-not'}, why)));
    if (id !== null && !isLoaded) item.append(this.#deleteButton(id, name, bytes));
    if (keep) item.append(this.#keepButton(keep));
    return item;
  }

  #keepButton(tern) {
    const button = make('button', {type: 'button', class: 'quiet', data: {testid: 'model-keep'}}, 'Keep it here');
    button.addEventListener('click', async () => {
      button.disabled = true;
      const onProgress = ({loaded, total}) => {
        button.textContent = `Keeping: ${Math.floor(loaded / total * 100)} %`;
      };
      try {
        const {url} = await this.#Tern.models.keep(tern, {onProgress});
        if (this.#host.tern === tern) this.#host.source.from = url;
        this.#settings.set('model', url);
        await this.showStored();
      } catch (error) {
        button.disabled = false;
        button.textContent = 'Keep it here';
        byId('usage-text').textContent = error.message;
      }
    });
    return button;
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
      button.setAttribute('aria-label', on ? `Delete ${formatBytes(bytes)}? ${name}` : `Delete ${name}`);
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
}
