// The parts of a browser that the package uses, in memory: storage, locks, files, a worker.

import {environment, sleep} from '../lib/environment.js';
import {serve} from '../lib/worker_server.js';

function named(name, message = name) {
  return Object.assign(new Error(message), {name});
}

class FakeFileHandle {
  kind = 'file';
  bytes = new Uint8Array(0);
  writers = 0;
  readers = 0;

  constructor(disk) {
    this.disk = disk;
  }

  async getFile() {
    return new Blob([this.bytes]);
  }

  async createSyncAccessHandle({mode = 'readwrite'} = {}) {
    const isReader = mode === 'read-only' && this.disk.hasModes;
    if (this.writers > 0 || (!isReader && this.readers > 0)) throw named('NoModificationAllowedError');
    if (isReader) ++this.readers;
    else ++this.writers;
    let isOpen = true;
    return {
      ...(this.disk.hasModes ? {mode} : {}),
      getSize: () => this.bytes.length,
      read: (into, {at = 0} = {}) => {
        const part = this.bytes.subarray(at, at + into.length);
        into.set(part);
        return part.length;
      },
      write: (bytes, {at = 0} = {}) => {
        const end = at + bytes.length;
        const grows = Math.max(0, end - this.bytes.length);
        if (this.disk.usage() + grows > this.disk.hardQuota) throw named('QuotaExceededError');
        if (grows > 0) {
          const longer = new Uint8Array(end);
          longer.set(this.bytes);
          this.bytes = longer;
        }
        this.bytes.set(bytes, at);
        return bytes.length;
      },
      truncate: (size) => {
        this.bytes = this.bytes.slice(0, size);
      },
      flush: () => {},
      close: () => {
        if (isOpen && isReader) --this.readers;
        if (isOpen && !isReader) --this.writers;
        isOpen = false;
      },
    };
  }
}

class FakeFolder {
  kind = 'directory';
  children = new Map();

  constructor(disk) {
    this.disk = disk;
  }

  #get(name, kind, create) {
    if (!this.children.has(name)) {
      if (!create) throw named('NotFoundError', `${name} is not there`);
      this.children.set(name, new kind(this.disk));
    }
    return this.children.get(name);
  }

  async getDirectoryHandle(name, {create = false} = {}) {
    return this.#get(name, FakeFolder, create);
  }

  async getFileHandle(name, {create = false} = {}) {
    return this.#get(name, FakeFileHandle, create);
  }

  async *entries() {
    yield* this.children.entries();
  }

  async removeEntry(name) {
    if (!this.children.has(name)) throw named('NotFoundError');
    for (const file of filesBelow(this.children.get(name))) {
      if (file.readers + file.writers > 0) throw named('NoModificationAllowedError');
    }
    this.children.delete(name);
  }
}

function filesBelow(handle) {
  return handle.kind === 'file' ? [handle] : [...handle.children.values()].flatMap(filesBelow);
}

/** The disk of one site, which outlives its pages. */
export class FakeDisk {
  quota = Infinity;      // what estimate() says
  hardQuota = Infinity;  // where writing fails
  hasModes = true;       // handles for several readers
  root = new FakeFolder(this);

  usage() {
    return filesBelow(this.root).reduce((sum, file) => sum + file.bytes.length, 0);
  }

  /** The files whose names begin so, with their bytes. */
  files(prefix) {
    const all = [];
    const walk = (folder, path) => {
      for (const [name, handle] of folder.children) {
        if (handle.kind === 'directory') walk(handle, `${path}${name}/`);
        else if (name.startsWith(prefix)) all.push(handle);
      }
    };
    walk(this.root, '');
    return all;
  }
}

/** Web Locks of one site. */
export class FakeLocks {
  #held = new Map();
  #waiting = [];

  async request(name, options, work) {
    if (typeof options === 'function') return this.request(name, {}, options);
    const {mode = 'exclusive', ifAvailable = false, signal} = options;
    signal?.throwIfAborted();
    if (!this.#canTake(name, mode)) {
      if (ifAvailable) return work(null);
      await new Promise((resolve, reject) => {
        const waiter = {name, mode, resolve};
        this.#waiting.push(waiter);
        signal?.addEventListener('abort', () => {
          this.#waiting = this.#waiting.filter((one) => one !== waiter);
          reject(signal.reason);
        });
      });
    }
    this.#held.set(name, [...(this.#held.get(name) ?? []), mode]);
    try {
      return await work({name, mode});
    } finally {
      const held = this.#held.get(name);
      held.splice(held.indexOf(mode), 1);
      this.#wake();
    }
  }

  #canTake(name, mode) {
    const held = this.#held.get(name) ?? [];
    return held.length === 0 || (mode === 'shared' && !held.includes('exclusive'));
  }

  #wake() {
    const next = this.#waiting.find(({name, mode}) => this.#canTake(name, mode));
    if (!next) return;
    this.#waiting = this.#waiting.filter((one) => one !== next);
    next.resolve();
  }
}

/** The cache of responses. */
export class FakeCaches {
  #entries = new Map();

  async delete() {
    this.#entries.clear();
    return true;
  }

  async open() {
    return {
      keys: async () => [...this.#entries.keys()].map((url) => ({url})),
      match: async (key) => {
        const body = this.#entries.get(key.url ?? key);
        return body && new Response(body);
      },
      put: async (key, response) => {
        this.#entries.set(key, await response.blob());
      },
      delete: async (key) => this.#entries.delete(key.url ?? key),
    };
  }
}


/**
 * An environment like a worker's in a browser.
 * @param {{server: object, engine?: object, disk?: FakeDisk, locks?: FakeLocks}} parts
 * @param {object} [more] overrides
 * @returns {import('../lib/environment.js').Environment & {waits: number[]}}
 */
export function fakeWorkerEnv({server, engine, disk = new FakeDisk(), locks = new FakeLocks()}, more = {}) {
  const waits = [];
  return {
    ...environment(),
    fetch: server.fetch,
    navigator: {
      onLine: server.isOnline,
      storage: {
        getDirectory: async () => disk.root,
        estimate: async () => ({quota: disk.quota, usage: disk.usage()}),
        persist: async () => true,
      },
    },
    locks,
    caches: undefined,
    canWriteFiles: true,
    FileReaderSync: class {},
    Worker: undefined,
    origin: server.origin,
    isNode: false,
    pieceBytes: 4096,
    connections: 1,
    stallMs: 200,
    waits,
    sleep: (ms, signal) => {
      waits.push(ms);
      return sleep(0, signal);
    },
    importModule: async () => ({default: engine?.create}),
    importEngine() {
      return this.importModule('dist/tern.js');
    },
    newWorker() {
      return new this.Worker('worker.js');
    },
    ...more,
  };
}

/** A Worker class whose workers run in this thread, behind cloned messages. */
export function fakeWorkerClass(makeEnv, made = []) {
  return class FakeWorker extends EventTarget {
    #inner = new EventTarget();
    isTerminated = false;

    constructor(url) {
      super();
      this.url = url;
      made.push(this);
      const post = (data) => {
        const copy = structuredClone(data);
        setImmediate(() => {
          if (!this.isTerminated) this.dispatchEvent(Object.assign(new Event('message'), {data: copy}));
        });
      };
      const port = {
        postMessage: post,
        addEventListener: (type, listener) => this.#inner.addEventListener(type, listener),
      };
      serve(port, makeEnv());
    }

    postMessage(data) {
      const copy = structuredClone(data);
      setImmediate(() => {
        if (!this.isTerminated) this.#inner.dispatchEvent(Object.assign(new Event('message'), {data: copy}));
      });
    }

    /** What an uncaught error in the worker looks like from outside. */
    crash(message) {
      this.dispatchEvent(Object.assign(new Event('error'), {message}));
    }

    terminate() {
      this.isTerminated = true;
    }
  };
}
