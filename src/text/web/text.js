// What the tokenizers need of the browser: its regular expressions (web/pre_tokenizer.cc) and its tables of Unicode
// (web/unicode.cc). A library for Emscripten's linker.
addToLibrary({
  $ternText: {
    patterns: {}, // RegExp by the address of its source: one of a few constants
    passes: [null], // one object for every pass over a text that has begun; 0 is none
    free: [],

    // A browser's TextDecoder takes no memory that threads share, so the bytes are copied.
    decode: (at, length) =>
      new TextDecoder('utf-8', {ignoreBOM: true}).decode(HEAPU8.slice(at >>> 0, (at >>> 0) + length)),

    // Bytes of the UTF-8 form of text[from, to), which has no half of a pair.
    utf8Length: (text, from, to) => {
      let n = to - from;
      for (let i = from; i < to; ++i) {
        const unit = text.charCodeAt(i);
        if (unit >= 0x80) n += unit >= 0x800 && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1; // a pair: 2 + 2
      }
      return n;
    },
  },

  tern_words_begin__deps: ['$ternText', '$UTF8ToString'],
  tern_words_begin: (pattern, text, length) => {
    const {patterns, passes, free} = ternText;
    try {
      // Sticky: each word begins where the last one ended.
      patterns[pattern] ??= new RegExp(UTF8ToString(pattern), 'uy');
      const id = free.pop() ?? passes.length;
      passes[id] = {words: patterns[pattern], text: ternText.decode(text, length), at: 0};
      return id;
    } catch {
      return 0;
    }
  },

  tern_words_next__deps: ['$ternText'],
  tern_words_next: (id, lengths, most) => {
    const pass = ternText.passes[id];
    if (!pass) return 0;
    const {words, text} = pass;
    let n = 0;
    try {
      while (n < most && pass.at < text.length) {
        words.lastIndex = pass.at;
        // Every character is in some alternative; never stand still all the same.
        const end = words.test(text) && words.lastIndex > pass.at
          ? words.lastIndex : pass.at + (text.codePointAt(pass.at) > 0xffff ? 2 : 1);
        HEAPU32[(lengths >>> 2) + n++] = ternText.utf8Length(text, pass.at, end);
        pass.at = end;
      }
    } catch {
      // The expression ran out of stack; the words so far count, and 0 of them are a sign.
    }
    return n;
  },

  tern_words_end__deps: ['$ternText'],
  tern_words_end: (id) => {
    ternText.passes[id] = null;
    ternText.free.push(id);
  },

  tern_is_word_category: (c) => /[\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}]/u.test(String.fromCodePoint(c)),

  tern_is_letter: (c) => /\p{L}/u.test(String.fromCodePoint(c)),

  tern_to_case: (c, isUpper) => {
    const from = String.fromCodePoint(c);
    const to = isUpper ? from.toUpperCase() : from.toLowerCase();
    return to.length === String.fromCodePoint(to.codePointAt(0)).length ? to.codePointAt(0) : c;
  },

  // JavaScript tells no combining classes. U+0345 has the highest, 240: behind it, a mark of any class but 0 moves.
  tern_is_combining_mark: (c) => {
    const mark = String.fromCodePoint(c);
    return /\p{M}/u.test(mark) && (c === 0x345 || ('\u0345' + mark).normalize('NFD')[0] !== '\u0345');
  },

  tern_nfc__deps: ['$ternText', 'malloc'],
  tern_nfc: (text, length, out) => {
    const bytes = new TextEncoder().encode(ternText.decode(text, length).normalize('NFC'));
    const at = _malloc(bytes.length || 1) >>> 0;
    if (!at) return -1;
    HEAPU8.set(bytes, at);
    HEAPU32[out >>> 2] = at;
    return bytes.length;
  },
});
