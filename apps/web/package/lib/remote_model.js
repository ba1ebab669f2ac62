// A model by its address: from storage where it is complete, from the network where it is not, and both where it is in
// parts or damaged. Tabs that want the same model wait for the one that downloads it.

import {CorruptionError, InvalidArgumentError, NetworkError, NotFoundError, asTernError} from './errors.js';
import {downloadModel} from './download.js';
import {holdShared, withLock} from './environment.js';
import {ChangedError} from './file_download.js';
import {checkIntegrity, checksums} from './integrity.js';
import {locateModel} from './locate_model.js';
import {findModel, keyOf, keyWithSha256, lockOf, newManifest, writeManifest} from './model_store.js';
import {openStorages} from './storage/storage.js';
import {checkSha256, findDamage} from './verify.js';

/**
 * A model whose files can be read.
 * @typedef {object} OpenModel
 * @property {string} name
 * @property {string} entry what the engine opens: a file's path, or '' for the folder
 * @property {Map<string, import('./storage/storage.js').Reader>} files by path
 * @property {boolean} fromCache nothing was downloaded
 * @property {string} storage 'opfs', 'cache', 'memory' or 'file'
 * @property {string[]} notes what the caller may want to know
 * @property {() => Promise<boolean>} [repair] hashes all of it and downloads what is damaged; whether anything was. The
 *   model is closed afterwards
 * @property {() => void | Promise<void>} close
 */

/** What a load of one address is made of. */
class RemoteModel {
  #env;
  #where;
  #options;
  #storages;
  #key;
  #wanted;
  #notes = [];
  #downloaded = false;
  #checkAll;

  constructor(env, where, options) {
    this.#env = env;
    this.#where = where;
    this.#options = options;
    this.#checkAll = options.verify === true;
    this.#wanted = checksums(options.sha256);
  }

  async open() {
    const {storages, note} = await openStorages(this.#env, {enabled: this.#options.storage !== false});
    this.#storages = storages;
    if (note) this.#notes.push(note);
    // What nobody else can see needs no lock, and must not wait for one.
    if (storages.every(({kind}) => kind === 'memory')) this.#env = {...this.#env, locks: undefined};
    this.#key = await keyOf(this.#env, this.#where);
    if (this.#wanted['']) this.#key = (await keyWithSha256(storages, this.#wanted[''])) ?? this.#key;
    return this.#obtain();
  }

  async #obtain() {
    // Somebody else may delete the model between the locks, so more than one turn may be needed.
    for (let turn = 0; turn < 4; ++turn) {
      const opened = await this.#openStored();
      if (opened) return opened;
      if (this.#downloaded && turn === 2) this.#keepInMemory();
      await this.#alone(() => this.#fetch());
    }
    throw new CorruptionError(`${this.#where}: the stored copy is damaged again and again; ` +
      'the storage of this device may be failing');
  }

  /** For storage from which what was written is gone. */
  #keepInMemory() {
    const [storage] = this.#storages;
    if (storage.kind === 'memory') return;
    this.#storages = this.#storages.filter(({kind}) => kind === 'memory');
    this.#notes.push('the model is kept in memory only, ' +
      `because this browser's storage (${storage.kind}) lost it twice`);
  }

  /** Runs `work` while nobody else reads or writes the stored model. */
  #alone(work) {
    return withLock(this.#env, lockOf(this.#key), this.#waiting(), work);
  }

  #waiting() {
    const {signal, onProgress} = this.#options;
    const waits = {phase: 'wait', loaded: 0, total: 0, file: this.#where, fromCache: false};
    return {signal, onWait: () => onProgress(waits)};
  }

  /** The complete model, checked; null where there is none or it is damaged. */
  async #openStored() {
    const {signal, onProgress} = this.#options;
    const release = await holdShared(this.#env, lockOf(this.#key), this.#waiting());
    let readers = [];
    const close = async () => {
      for (const reader of readers) reader?.close();
      readers = [];
      await release();
    };
    try {
      const found = await findModel(this.#storages, this.#key);
      if (found?.manifest.state !== 'complete') {
        await close();
        return null;
      }
      const {storage, manifest} = found;
      readers = await this.#openReaders(storage, manifest);
      // What was hashed while it came needs no second look.
      const damage = this.#downloaded && !this.#checkAll ? [] :
        await findDamage(this.#env, manifest, readers, {full: this.#checkAll, signal, onProgress});
      if (damage.length > 0) {
        await close();
        await this.#forget(storage, manifest, damage);
        return null;
      }
      this.#checkAll = false;
      await this.#checkWanted(storage, manifest, readers);
      return this.#result(storage, manifest, readers, close);
    } catch (error) {
      await close();
      throw error;
    }
  }

  async #openReaders(storage, manifest) {
    const readers = [];
    for (const [index, file] of manifest.files.entries()) {
      const open = file.absent ? null : storage.openRead(this.#key, index, manifest.pieceBytes);
      readers.push(await open?.catch(() => null) ?? null);
    }
    return readers;
  }

  async #checkWanted(storage, manifest, readers) {
    const wanted = {...this.#wanted};
    if (wanted['']) {
      if (manifest.files.length !== 1) {
        const n = manifest.files.length;
        throw new InvalidArgumentError(`${this.#where}: it has ${n} files; give sha256 as {PATH: HEX}`);
      }
      wanted[manifest.files[0].path] = wanted[''];
      delete wanted[''];
    }
    try {
      const checked = await checkSha256(manifest, readers, wanted, this.#options);
      this.#notes.push(...await this.#checkIntegrity(manifest, readers));
      manifest.used = Date.now();
      if (storage.canWrite || checked) await writeManifest(storage, manifest);
    } catch (error) {
      if (error instanceof CorruptionError) {
        for (const reader of readers) reader?.close();
        await storage.remove(this.#key).catch(() => {});
      }
      if (asTernError(error) === error) throw error;  // else: when it was last used is no reason to fail
    }
  }

  #checkIntegrity({files}, readers) {
    const indexOf = (path) => files.findIndex((file) => file.path === path);
    return checkIntegrity({get: (path) => readers[indexOf(path)]}, this.#options.integrity,
      {...this.#options, urlOf: (path) => files[indexOf(path)].url});
  }

  #result(storage, manifest, readers, close) {
    const files = new Map();
    for (const [index, file] of manifest.files.entries()) {
      if (!file.absent) files.set(file.path, readers[index]);
    }
    const repair = async () => {
      const damage = await findDamage(this.#env, manifest, readers, {full: true, ...this.#options});
      await close();
      if (damage.length > 0) await this.#forget(storage, manifest, damage);
      return damage.length > 0;
    };
    const {name, entry} = manifest;
    return {name, entry, files, fromCache: !this.#downloaded, storage: storage.kind, notes: this.#notes, repair, close};
  }

  /** Damaged pieces are missing from now on, and must become what they were. */
  async #forget(storage, manifest, damage) {
    if (!storage.canWrite) {
      this.#storages = this.#storages.filter((one) => one !== storage);  // it cannot be mended from here
      return;
    }
    for (const {file, piece} of damage) {
      const damaged = manifest.files[file];
      damaged.expected ??= [];
      damaged.expected[piece] = damaged.pieces[piece];
      damaged.pieces[piece] = null;
      damaged.complete = false;
    }
    manifest.state = 'partial';
    this.#notes.push(`${damage.length} damaged ${damage.length === 1 ? 'piece' : 'pieces'} downloaded again`);
    await this.#alone(() => writeManifest(storage, manifest));
  }

  /** Makes the stored model complete. */
  async #fetch() {
    let found = await findModel(this.#storages, this.#key);
    if (found?.manifest.state === 'complete') return;
    const mends = found?.manifest.files.some((file) => file.expected) ?? false;
    for (let fresh = 0; fresh < 2; ++fresh) {
      found ??= await this.#begin();
      this.#downloaded = true;
      try {
        return await downloadModel(this.#env, found.storage, found.manifest, this.#options);
      } catch (error) {
        const isEmpty = !found.manifest.files.some(({complete, tails, pieces}) => {
          return complete || tails.length > 0 || pieces.some(Boolean);
        });
        if (error instanceof ChangedError || isEmpty) await found.storage.remove(this.#key).catch(() => {});
        if (!(error instanceof ChangedError)) throw mends ? this.#explainMend(error) : error;
      }
      found = null;
    }
    throw new NetworkError(`${this.#where}: the file on the server changed while it was downloaded, twice; ` +
      'try again later');
  }

  async #begin() {
    const storage = this.#storages.find((one) => one.canWrite);
    const located = await locateModel(this.#env, this.#where, this.#options);
    const {pieceBytes} = this.#env;
    return {storage, manifest: newManifest({key: this.#key, url: this.#where, pieceBytes, ...located})};
  }

  #explainMend(error) {
    if (!(error instanceof NetworkError) && !(error instanceof NotFoundError)) return error;
    return new CorruptionError(`${this.#where}: the stored copy is damaged, and what is damaged cannot be downloaded ` +
      `again (${error.message})`, {cause: error});
  }
}

/**
 * @param {import('./environment.js').Environment} env
 * @param {string} where an absolute address, or hf:OWNER/NAME[/FILE]
 * @param {{signal?: AbortSignal, onProgress: (progress: object) => void, storage?: boolean, hub: string,
 *   sha256?: string | Record<string, string>, integrity?: import('./integrity.js').Integrity,
 *   verify?: boolean}} options
 * @returns {Promise<OpenModel>}
 */
export function openRemoteModel(env, where, options) {
  return new RemoteModel(env, where, options).open();
}
