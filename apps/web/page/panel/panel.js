// The panel of instruments: beside the conversation where there is room, over it where there is not.

import {byId} from '../base/dom.js';

const kRoom = matchMedia('(min-width: 68rem)');  // as in style/panel.css

export class Panel {
  #panel = byId('panel');
  #toggle = byId('panel-toggle');
  #settings;
  #fill;
  #isOpen = false;

  /**
   * @param {import('../base/settings.js').Settings} settings
   * @param {() => Promise<void>} fill puts into the panel what it shows; called whenever it opens
   */
  constructor(settings, fill) {
    this.#settings = settings;
    this.#fill = fill;
    this.#toggle.addEventListener('click', () => this.#choose(!this.#isOpen));
    byId('panel-close').addEventListener('click', () => this.#choose(false));
    this.#panel.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || kRoom.matches) return;
      event.preventDefault();
      this.#choose(false);
    });
    kRoom.addEventListener('change', () => this.#show(this.#wanted()));
    this.#show(this.#wanted());
  }

  #wanted() {
    return kRoom.matches && this.#settings.get('panel') === 'open';
  }

  async #choose(open) {
    // Over the conversation it is open for the moment; beside it, for good.
    if (kRoom.matches) this.#settings.set('panel', open ? 'open' : 'closed');
    await this.#show(open);
    if (!kRoom.matches) (open ? this.#panel : this.#toggle).focus();
  }

  async #show(open) {
    this.#isOpen = open;
    if (open) await this.#fill();
    if (this.#isOpen !== open) return;
    this.#panel.hidden = !open;
    this.#toggle.setAttribute('aria-expanded', String(open));
    document.documentElement.dataset.panel = open ? 'open' : 'closed';
    // What lies under it is out of reach, for the keyboard too.
    document.querySelector('main').inert = open && !kRoom.matches;
  }
}
