// Keeps the end of the conversation in view while it grows, unless the reader has scrolled up to read.

const kNear = 80;  // pixels from the end that still count as the end

export class Follow {
  #log;
  #jump;
  #following = true;
  #hasBegun = false;

  /** @param {HTMLElement} log that scrolls @param {HTMLElement} jump a button */
  constructor(log, jump) {
    this.#log = log;
    this.#jump = jump;
    log.addEventListener('scroll', () => this.#scrolled(), {passive: true});
    jump.addEventListener('click', () => this.toEnd());
    // The field below grows and shrinks, fonts load, windows turn.
    new ResizeObserver(() => this.grown()).observe(log);
  }

  toEnd() {
    this.#hasBegun = this.#following = true;
    this.grown();
  }

  /** Nothing was said yet: what is there is read from its beginning. */
  toBeginning() {
    this.#hasBegun = false;
    this.#log.scrollTop = 0;
    this.#jump.hidden = true;
  }

  /** What is in view stays there, though what is below it has changed. */
  stay() {
    this.#scrolled();
  }

  grown() {
    if (!this.#hasBegun) return;
    if (this.#following) this.#log.scrollTop = this.#log.scrollHeight;
    this.#jump.hidden = this.#atEnd();
  }

  #atEnd() {
    const {scrollHeight, scrollTop, clientHeight} = this.#log;
    return scrollHeight - scrollTop - clientHeight < kNear;
  }

  #scrolled() {
    this.#following = this.#atEnd();
    this.#jump.hidden = this.#following || !this.#hasBegun;
  }
}
