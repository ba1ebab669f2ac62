// What the last reply took: speed as it is written, and the figures that the engine gives.

import {byId, make} from '../base/dom.js';
import {formatBytes, formatCount, formatDuration, formatRate} from '../base/format.js';

const kPeriod = 50;  // ms at least between two points of the line
const kPoints = 120;
const kLeast = 4;  // points: fewer say nothing
const kReadable = 250;  // ms between two changes of the figures

/** name (also its data-testid, stats-NAME), label, and the text from the engine's stats and the model's info */
const kReadings = [
  ['time-to-first-token', 'first token', (s) => formatDuration(s.timeToFirstTokenMs || NaN)],
  ['prompt-tokens-per-second', 'prompt', (s) => s.promptTokensPerSecond > 0 ?
    `${formatRate(s.promptTokensPerSecond)} tokens/s` : '–'],
  ['tokens', 'tokens', (s) => s.nPrompt > 0 ?
    `${formatCount(s.nPrompt)} read${s.nReused > 0 ? ` (${formatCount(s.nReused)} kept)` : ''}, ` +
    `${formatCount(s.nGenerated)} written` : '–'],
  ['context', 'context', (s, i) => `${formatCount(s.nPrompt + s.nGenerated)} of ${formatCount(i.nCtx)}`],
  ['dispatches', 'dispatches', (s) => s.dispatchesPerToken > 0 ? `${s.dispatchesPerToken} a token` : '–'],
  ['gpu-memory', 'GPU memory', (s) => s.gpuBytes > 0 ? formatBytes(s.gpuBytes) : '–'],
  ['heap', 'heap', (s) => s.heapBytes > 0 ? formatBytes(s.heapBytes) : '–'],
  ['load-time', 'loaded in', (s) => formatDuration(s.loadMs || NaN)],
  ['backend', 'runs on', (s, i) => i.backend.startsWith('webgpu') ? 'WebGPU' : i.backend],
  ['threads', 'threads', (s) => s.threads > 0 ? String(s.threads) : '–'],
  ['adapter', 'adapter', (s, i) => i.adapter?.name || i.adapter?.vendor || '–'],
  ['features', 'features', (s, i) => i.adapter?.features?.join(', ') || '–'],
];

export class Readings {
  #host;
  #chat;
  /** @type {Map<string, HTMLElement>} */
  #values = new Map();
  #speeds = [];
  #timer = 0;
  /** Tokens written at the line's last point, and when that and the figures were drawn. */
  #tokensBefore = 0;
  #pointAt = 0;
  #figuresAt = 0;

  /** @param {import('../model/model_host.js').ModelHost} host @param {import('../chat/chat.js').Chat} chat */
  constructor(host, chat) {
    this.#host = host;
    this.#chat = chat;
    byId('readings').append(...kReadings.flatMap(([name, label]) => {
      const value = make('dd', {data: {testid: `stats-${name}`}}, '–');
      this.#values.set(name, value);
      return [make('dt', {}, label), value];
    }));
    host.addEventListener('phase', () => this.#show());
    this.#stateChanged();
    chat.addEventListener('state', () => this.#stateChanged());
  }

  #stateChanged() {
    clearInterval(this.#timer);
    if (this.#chat.state === 'writing') {
      this.#speeds = [];
      this.#tokensBefore = 0;
      this.#pointAt = 0;
      this.#drawLine();
      this.#timer = setInterval(() => this.#tick(), kPeriod);
    } else {
      this.#show();
    }
  }

  #tick() {
    const tokens = this.#host.tern?.stats.nGenerated ?? 0;
    const now = performance.now();
    if (tokens > this.#tokensBefore) {  // slow models: a point for each token
      if (this.#pointAt) this.#speeds.push((tokens - this.#tokensBefore) / (now - this.#pointAt) * 1000);
      if (this.#speeds.length > kPoints) this.#speeds.shift();
      this.#tokensBefore = tokens;
      this.#pointAt = now;
      this.#drawLine();
    }
    if (now - this.#figuresAt < kReadable) return;
    this.#figuresAt = now;
    this.#show();
  }

  #show() {
    const {tern, info} = this.#host;
    const stats = tern?.stats ?? {};
    for (const [name, , text] of kReadings) {
      const value = this.#values.get(name);
      const now = info ? text({nPrompt: 0, nGenerated: 0, ...stats}, info) : '–';
      if (value.textContent !== now) value.textContent = now;
      value.hidden = value.previousElementSibling.hidden = now === '–';
    }
    const speed = byId('stats-speed');
    speed.textContent = formatRate(stats.tokensPerSecond);
    speed.classList.toggle('none', !(stats.tokensPerSecond > 0));
  }

  #drawLine() {
    const isLine = this.#speeds.length >= kLeast;  // a reply may be over before there are enough
    const top = Math.max(...this.#speeds, 1) * 1.1;
    const points = this.#speeds.map((speed, i) =>
      `${(i * 120 / (this.#speeds.length - 1)).toFixed(1)},${(31 - speed / top * 30).toFixed(1)}`);
    byId('stats-line').style.visibility = isLine ? '' : 'hidden';
    byId('stats-line').firstElementChild.setAttribute('points', isLine ? points.join(' ') : '');
  }
}
