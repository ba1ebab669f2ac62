// The panel's part on how replies are written.

import {byId, make} from '../base/dom.js';
import {kRanges} from '../base/settings.js';

/** setting, label, what it does */
const kRows = [
  ['temperature', 'Temperature', 'Higher is bolder, 0 always takes the likeliest word'],
  ['topK', 'Top-k', 'Only the k likeliest words; 0 is all'],
  ['topP', 'Top-p', 'Only the likeliest words that add up to p; 1 is all'],
  ['minP', 'Min-p', 'Only words at least this likely beside the likeliest'],
  ['repeatPenalty', 'Repetition penalty', 'Above 1, words that came lately come less'],
  ['maxTokens', 'Longest reply', 'In tokens, about three quarters of a word each'],
];

const kebab = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

export class SettingsPanel {
  #settings;
  #host;

  /**
   * @param {import('../base/settings.js').Settings} settings
   * @param {import('../model/model_host.js').ModelHost} host
   */
  constructor(settings, host) {
    this.#settings = settings;
    this.#host = host;
    byId('settings').append(...kRows.map((row) => this.#row(...row)), this.#seedRow());
    const system = byId('setting-system');
    system.addEventListener('input', () => settings.set('systemPrompt', system.value));
    byId('setting-own').addEventListener('change', ({target}) => settings.setOwn(target.checked ? {} : null));
    byId('settings-reset').addEventListener('click', () => settings.reset());
    settings.addEventListener('change', ({detail}) => this.#show(detail.names));
    host.addEventListener('phase', () => this.#showHelp());
    this.#show([...kRows.map(([name]) => name), 'seed', 'systemPrompt']);
    this.#showHelp();
  }

  #row(name, label, help) {
    return make('div', {class: 'setting'}, make('label', {for: `setting-${kebab(name)}`}, label), this.#number(name),
        make('p', {class: 'small', id: `help-${kebab(name)}`}, help));
  }

  #seedRow() {
    const random = make('input', {type: 'checkbox', id: 'setting-random-seed', data: {testid: 'setting-random-seed'},
      onchange: () => this.#settings.set('randomSeed', random.checked)});
    const seed = this.#number('seed');
    // Who writes a seed wants it to be used.
    seed.addEventListener('input', () => this.#settings.set('randomSeed', false));
    return make('div', {class: 'setting'}, make('label', {for: 'setting-seed'}, 'Seed'), seed,
        make('label', {class: 'check'}, random, 'a new one each time'),
        make('p', {class: 'small', id: 'help-seed'}, 'The same seed and settings write the same text'));
  }

  #number(name) {
    const {min, max, step} = kRanges[name];
    const id = `setting-${kebab(name)}`;
    const isWhole = Number.isInteger(step);
    const input = make('input', {type: 'number', id, min, max, required: true,
      step: isWhole ? step : 'any', inputmode: isWhole ? 'numeric' : 'decimal',
      'aria-describedby': `help-${kebab(name)}`, data: {testid: id}});
    input.addEventListener('input', () => {
      const taken = input.value.trim() !== '' && this.#settings.set(name, Number(input.value));
      input.setAttribute('aria-invalid', String(!taken));
      input.setCustomValidity(taken ? '' : `From ${min} to ${max}`);
    });
    // What cannot be is not left standing as if it held.
    input.addEventListener('change', () => {
      if (input.getAttribute('aria-invalid') === 'true') this.#show([name]);
    });
    if (!isWhole) stepWithArrows(input, min, max, step);
    return input;
  }

  #show(names) {
    for (const name of names) {
      if (name === 'systemPrompt') {
        const field = byId('setting-system');
        if (field.value !== this.#settings.get(name)) field.value = this.#settings.get(name);
      } else if (name === 'randomSeed') {
        continue;
      } else {
        const input = document.getElementById(`setting-${kebab(name)}`);
        if (!input || !(name in kRanges) || Number(input.value || NaN) === this.#settings.get(name)) continue;
        input.value = String(this.#settings.get(name));
        input.setAttribute('aria-invalid', 'false');
        input.setCustomValidity('');
      }
    }
    byId('setting-own').checked = this.#settings.own !== null;
    byId('settings-reset').textContent = this.#settings.own ? 'As for all conversations' : 'Back to the defaults';
    byId('setting-random-seed').checked = this.#settings.get('randomSeed');
  }

  #showHelp() {
    const {source, values} = this.#host.tern?.info.sampling ?? {};
    const advised = kRows.filter(([name]) => values?.[name] !== undefined).map(
        ([name, label]) => `${label.toLowerCase()} ${Number(values[name].toPrecision(6))}`);
    byId('sampling-help').textContent =
        advised.length > 0 && source ? `The model’s makers recommend ${advised.join(', ')} (${source}).` : '';
    byId('setting-system').disabled = this.#host.isStory;
    byId('setting-system').placeholder = this.#host.isStory ? '' : 'How the model shall behave';
    byId('system-help').textContent = this.#host.isStory ?
      'This model only continues text and takes no system prompt.' : 'Goes before the conversation, with each message.';
  }
}

/** With step="any" any number may be typed, but the arrow keys would step by one. */
function stepWithArrows(input, min, max, step) {
  input.addEventListener('keydown', (event) => {
    const direction = {ArrowUp: 1, ArrowDown: -1}[event.key];
    if (!direction) return;
    event.preventDefault();
    const next = Math.min(max, Math.max(min, Number(input.value) + direction * step));
    input.value = String(Number((Math.round(next / step) * step).toFixed(2)));
    input.dispatchEvent(new Event('input'));
  });
}
