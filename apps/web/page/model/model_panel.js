// The panel's part on the model: what is loaded, and what it runs on.

import {byId, make} from '../base/dom.js';
import {formatBytes, formatCount} from '../base/format.js';
import {kDefaultModelLimits} from './model_host.js';

export class ModelPanel {
  #host;
  #settings;

  /**
   * @param {import('./model_host.js').ModelHost} host
   * @param {import('../base/settings.js').Settings} settings
   */
  constructor(host, settings) {
    this.#host = host;
    this.#settings = settings;
    host.addEventListener('phase', () => this.#showFacts());
    this.#connectBackend();
    this.#showFacts();
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
    threads.placeholder = 'fast ones';
    threads.value = this.#settings.get('threads') || '';
    threads.disabled = !globalThis.crossOriginIsolated;
    byId('threads-help').textContent = globalThis.crossOriginIsolated ?
      'Empty: one thread for each fast processor.' :
      'One thread: this page is not cross-origin isolated, so the browser withholds threads.';
    threads.addEventListener('change', () => {
      if (!this.#settings.set('threads', Number(threads.value))) threads.value = this.#settings.get('threads') || '';
      else if (this.#host.backend !== 'webgpu') this.#host.reload();
    });
    const awake = byId('setting-stay-awake');
    byId('awake').hidden = !('wakeLock' in navigator);
    awake.checked = this.#settings.get('stayAwake');
    awake.addEventListener('change', () => this.#settings.set('stayAwake', awake.checked));
    this.#settings.addEventListener('change', () => {
      awake.checked = this.#settings.get('stayAwake');
      backend.value = this.#settings.get('backend');
    });
  }

  #showFacts() {
    const {info, phase} = this.#host;
    const facts = info ? {
      'name': info.name, 'family': info.architecture, 'parameters': formatCount(info.nParams),
      'file': formatBytes(info.fileBytes), 'context': `${formatCount(info.nCtx)} tokens`,
      'kind': info.hasChatTemplate ? 'chat' : 'continues text',
      ...(this.#host.isStoryteller ? {'limits': kDefaultModelLimits} : {}),
    } : {'name': this.#host.source?.label ?? 'none', 'state': phase === 'loading' ? 'loading' : 'not loaded'};
    byId('model-facts').replaceChildren(...Object.entries(facts).flatMap(([term, text]) => [
      make('dt', {}, term), make('dd', {data: {testid: `fact-${term}`}}, text)]));
    const why = byId('model-why');
    why.hidden = !info?.why;
    why.textContent = info?.why ? `${info.why[0].toUpperCase()}${info.why.slice(1)}.` : '';
  }
}
