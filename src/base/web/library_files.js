// Files of a page: whatever Module.files (list, size, read) says is there. read() may give a promise where the browser
// can suspend the C++ stack meanwhile (JSPI).
addToLibrary({
  $ternFiles__deps: ['$stringToNewUTF8'],
  $ternFiles: {
    // What a page's read() threw, in memory that C++ frees.
    failed(path, error) {
      return stringToNewUTF8(`${path}: ${error?.message ?? error}`.split('\n')[0]);
    },
    // Names directly in a folder.
    names(folder) {
      const start = folder.endsWith('/') ? folder : `${folder}/`;
      const inside = Module['files'].list().filter((path) => path.startsWith(start));
      return [...new Set(inside.map((path) => path.slice(start.length).split('/')[0]))];
    },
  },

  // −1 where there is no such file.
  tern_file_size__deps: ['$ternFiles', '$UTF8ToString'],
  tern_file_size__sig: 'dp',
  tern_file_size: (path) => {
    const name = UTF8ToString(path);
    return Module['files'].list().includes(name) ? Module['files'].size(name) : -1;
  },

  // The names in a folder, a line each, in memory that the caller frees.
  tern_file_names__deps: ['$ternFiles', '$UTF8ToString', '$stringToNewUTF8'],
  tern_file_names__sig: 'pp',
  tern_file_names: (folder) => stringToNewUTF8(ternFiles.names(UTF8ToString(folder)).join('\n')),

  // Null, or what went wrong, in memory that the caller frees.
  tern_file_read__deps: ['$ternFiles', '$UTF8ToString'],
  tern_file_read__async: true,
  tern_file_read__sig: 'ppdpp',
  tern_file_read: (path, offset, pointer, bytes) => {
    const name = UTF8ToString(path);
    // Whoever reads keeps this memory meanwhile; it may be moved only by what C++ does, and C++ waits.
    try {
      const reading = Module['files'].read(name, offset, HEAPU8.subarray(pointer, pointer + bytes));
      return reading?.then ? reading.then(() => 0, (error) => ternFiles.failed(name, error)) : 0;
    } catch (error) {
      return ternFiles.failed(name, error);
    }
  },
});
