// What the user chose, remembered from visit to visit.

/**
 * @typedef {object} SettingValues
 * @property {number} temperature 0: always the likeliest token
 * @property {number} topK 0: no limit
 * @property {number} topP
 * @property {number} minP
 * @property {number} repeatPenalty 1: none
 * @property {number} maxTokens of one reply
 * @property {number} seed of the random numbers, where randomSeed is off
 * @property {boolean} randomSeed
 * @property {string} systemPrompt
 * @property {'auto'|'webgpu'|'cpu'} backend
 * @property {number} threads 0: one for each fast processor
 * @property {boolean} stayAwake whether the screen stays on while a reply is written
 * @property {'auto'|'light'|'dark'} theme
 * @property {'auto'|'open'|'closed'} panel auto: open where there is room
 * @property {string} model the address last loaded; empty: the default model
 */

/** @type {Readonly<SettingValues>} */
export const kDefaults = Object.freeze({
  temperature: 0.7, topK: 40, topP: 1, minP: 0, repeatPenalty: 1, maxTokens: 512, seed: 0, randomSeed: true,
  systemPrompt: '', backend: 'auto', threads: 0, stayAwake: true, theme: 'auto', panel: 'auto', model: '',
});

/** What a number may be; `step` is how fine it is asked for. */
export const kRanges = Object.freeze({
  temperature: {min: 0, max: 5, step: 0.05},
  topK: {min: 0, max: 1000, step: 1},
  topP: {min: 0, max: 1, step: 0.01},
  minP: {min: 0, max: 1, step: 0.01},
  repeatPenalty: {min: 0.5, max: 3, step: 0.01},
  maxTokens: {min: 1, max: 32768, step: 1},
  seed: {min: 0, max: 0xffffffff, step: 1},
  threads: {min: 0, max: 64, step: 1},
});

const kChoices = {
  backend: ['auto', 'webgpu', 'cpu'], theme: ['auto', 'light', 'dark'], panel: ['auto', 'open', 'closed'],
};

/** The settings that reset() puts back. */
export const kSampling = Object.freeze(
    ['temperature', 'topK', 'topP', 'minP', 'repeatPenalty', 'maxTokens', 'seed', 'randomSeed', 'systemPrompt']);

const kKey = 'tern.settings';

/** Sends 'change' with detail {names} when values change, 'own' when those of the open conversation do. */
export class Settings extends EventTarget {
  /** What was chosen. @type {Partial<SettingValues>} */
  #values = {};
  /** What the model's makers recommend. @type {Partial<SettingValues>} */
  #advice = {};
  /** @type {Partial<SettingValues>} */
  #overrides = {};
  /** What was chosen for the open conversation alone; null: nothing is. @type {Partial<SettingValues>|null} */
  #own = null;
  #storage;

  /** @param {Storage|null} storage null: nothing is remembered */
  constructor(storage) {
    super();
    this.#storage = storage;
    let stored = {};
    try {
      stored = JSON.parse(storage?.getItem(kKey) ?? '{}') ?? {};
    } catch {
      // Unreadable settings are as good as none.
    }
    // Earlier versions kept the defaults, too, as if they had been chosen.
    const isOld = Object.keys(kDefaults).every((name) => Object.hasOwn(stored, name));
    for (const name of Object.keys(kDefaults)) {
      const value = validated(name, stored[name]);
      if (value !== undefined && !(isOld && value === kDefaults[name])) this.#values[name] = value;
    }
  }

  /** @template {keyof SettingValues} K @param {K} name @returns {SettingValues[K]} */
  get(name) {
    return this.#overrides[name] ?? this.#own?.[name] ?? this.#values[name] ?? this.#advice[name] ?? kDefaults[name];
  }

  /**
   * What stands for settings that nobody chose, until the next call: a model's own sampling.
   * @param {Partial<SettingValues>} values others than settings, and what a setting cannot be, are left out
   */
  advise(values) {
    const names = new Set(Object.keys(this.#advice));
    this.#advice = {};
    for (const [name, value] of Object.entries(values)) {
      // The engine's numbers have 32 bits: 0.6 comes as 0.6000000238418579.
      const rounded = typeof value === 'number' ? Number(value.toPrecision(6)) : value;
      const valid = Object.hasOwn(kDefaults, name) ? validated(name, rounded) : undefined;
      if (valid === undefined) continue;
      this.#advice[name] = valid;
      names.add(name);
    }
    if (names.size > 0) this.#changed([...names]);
  }

  /** A copy of what holds for the open conversation alone; null: nothing does. */
  get own() {
    return this.#own && {...this.#own};
  }

  /**
   * Takes what holds for the conversation that is open now. From then on, what is set is set for it.
   * @param {object|null} values null: what is set is set for all
   */
  setOwn(values) {
    const valid = Object.entries(values ?? {}).filter(([name, value]) => (
      kSampling.includes(name) && validated(name, value) !== undefined));
    this.#own = values && Object.fromEntries(valid);
    this.dispatchEvent(new Event('own'));
    this.dispatchEvent(new CustomEvent('change', {detail: {names: [...kSampling]}}));
  }

  /**
   * A value for this visit only, until it is set. As set() otherwise.
   * @param {keyof SettingValues} name
   * @param {any} value
   */
  override(name, value) {
    const valid = validated(name, value);
    if (valid !== undefined) this.#overrides[name] = valid;
    return valid !== undefined;
  }

  /**
   * Takes a value, or says no.
   * @param {keyof SettingValues} name
   * @param {any} value numbers must be within kRanges
   * @returns {boolean} whether it was taken
   */
  set(name, value) {
    const valid = validated(name, value);
    if (valid === undefined) return false;
    const before = this.get(name);
    delete this.#overrides[name];
    const isOwn = this.#own !== null && kSampling.includes(name);
    const values = isOwn ? this.#own : this.#values;
    if (valid !== before || valid !== values[name]) {
      values[name] = valid;
      if (isOwn) this.dispatchEvent(new Event('own'));
      this.#changed([name]);
    }
    return true;
  }

  /** Sampling and system prompt as they are for all; and those as the model's makers recommend, or as at first. */
  reset() {
    if (this.#own) return this.setOwn({});
    for (const name of kSampling) {
      delete this.#values[name];
      delete this.#overrides[name];
    }
    this.#changed([...kSampling]);
  }

  /** What Tern.generate takes, with a seed drawn where it is to be random. */
  generateOptions() {
    const names = ['temperature', 'topK', 'topP', 'minP', 'repeatPenalty', 'maxTokens'];
    const seed = this.get('randomSeed') ? crypto.getRandomValues(new Uint32Array(1))[0] : this.get('seed');
    return {...Object.fromEntries(names.map((name) => [name, this.get(name)])), seed};
  }

  #changed(names) {
    try {
      this.#storage?.setItem(kKey, JSON.stringify(this.#values));
    } catch {
      // A full or forbidden storage must not stop the page; the values hold until it is closed.
    }
    this.dispatchEvent(new CustomEvent('change', {detail: {names}}));
  }
}

function validated(name, value) {
  if (typeof value !== typeof kDefaults[name]) return undefined;
  if (kChoices[name]) return kChoices[name].includes(value) ? value : undefined;
  const range = kRanges[name];
  if (!range) return value;
  if (!Number.isFinite(value) || value < range.min || value > range.max) return undefined;
  return Number.isInteger(range.step) && !Number.isInteger(value) ? undefined : value;
}
