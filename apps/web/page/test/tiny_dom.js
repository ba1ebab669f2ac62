// As much of a document as the page's renderers use, so that their tests run without a browser. It knows no innerHTML:
// code that used it would fail here.

class TinyNode {
  constructor(document) {
    this.ownerDocument = document;
    this.parent = null;
  }

  remove() {
    if (this.parent) this.parent.childNodes.splice(this.parent.childNodes.indexOf(this), 1);
    this.parent = null;
  }

  replaceWith(node) {
    this.parent.childNodes[this.parent.childNodes.indexOf(this)] = node;
    node.parent = this.parent;
    this.parent = null;
  }
}

class TinyText extends TinyNode {
  constructor(document, data) {
    super(document);
    this.data = String(data);
  }

  get textContent() {
    return this.data;
  }

  appendData(more) {
    this.data += more;
  }
}

class TinyElement extends TinyNode {
  constructor(document, tag) {
    super(document);
    this.tagName = tag.toLowerCase();
    this.attributes = {};
    this.childNodes = [];
  }

  append(...nodes) {
    for (const node of nodes) {
      const child = node instanceof TinyNode ? node : new TinyText(this.ownerDocument, node);
      child.remove();
      child.parent = this;
      this.childNodes.push(child);
    }
  }

  setAttribute(name, value) {
    this.attributes[name] = String(value);
  }

  get firstChild() {
    return this.childNodes[0] ?? null;
  }

  get textContent() {
    return this.childNodes.map((child) => child.textContent).join('');
  }

  set textContent(text) {
    this.childNodes = [];
    this.append(text);
  }

  set className(name) {
    this.setAttribute('class', name);
  }

  /** Only by tag name. */
  querySelector(tag) {
    for (const child of this.childNodes) {
      if (child.tagName === tag) return child;
      const found = child.querySelector?.(tag);
      if (found) return found;
    }
    return null;
  }

  /** Every element below, in the order of the document. */
  * elements() {
    for (const child of this.childNodes) {
      if (!(child instanceof TinyElement)) continue;
      yield child;
      yield* child.elements();
    }
  }

  /** A text form for comparisons: tags and attributes in angle brackets, texts as they are. */
  outline() {
    const attributes = Object.entries(this.attributes).map(([name, value]) => ` ${name}=${JSON.stringify(value)}`);
    return `<${this.tagName}${attributes.join('')}>${this.inside()}</${this.tagName}>`;
  }

  inside() {
    return this.childNodes.map((child) => child.outline?.() ?? child.data).join('');
  }
}

export class TinyDocument {
  createElement(tag) {
    return new TinyElement(this, tag);
  }

  createTextNode(data) {
    return new TinyText(this, data);
  }
}
