// What the device of web/ asks of the browser's WebGPU: buffers, pipelines, bind groups, command lists, read-back.
//
// Objects are known by small numbers. A command list comes as one array of numbers and is encoded here, so that a token
// is one call. Nothing waits but what is marked __async, which suspends the C++ stack (JSPI). Errors that the browser
// tells later are kept until C++ asks (tern_gpu_take_error); the loss of the device stays.
addToLibrary({
  $ternGpu: {
    device: null, objects: [null], free: [], error: null, lost: null, pending: [], staging: [],

    add(object) {
      const id = ternGpu.free.length ? ternGpu.free.pop() : ternGpu.objects.length;
      ternGpu.objects[id] = object;
      return id;
    },
    remove(id) {
      ternGpu.objects[id] = null;
      ternGpu.free.push(id);
    },
    // Codes as in web/device.cc: 1 out of memory, 2 anything else, 3 the device is lost.
    fail(code, message) {
      if (!ternGpu.error) ternGpu.error = { code, message: String(message).split('\n')[0] };
    },
    // Runs `work`, whose errors, now or later, are told as those of `what`.
    scoped(what, work) {
      const { device } = ternGpu;
      const filters = ['validation', 'internal', 'out-of-memory'];
      for (const filter of filters) device.pushErrorScope(filter);
      let result = null;
      try {
        result = work();
      } catch (thrown) {
        ternGpu.fail(2, `${what}: ${thrown.message}`);
      }
      for (const filter of filters.reverse()) {
        device.popErrorScope().then((error) => {
          if (error) ternGpu.fail(filter === 'out-of-memory' ? 1 : 2, `${what}: ${error.message}`);
        }, () => {});
      }
      return result;
    },
    async open(without, onlyHardware) {
      const gpu = Module['gpu'] ?? globalThis.navigator?.gpu;
      if (!gpu) return 'error=no GPU: this browser has no WebGPU, or its page is not served from https or localhost';
      const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
      if (!adapter) return 'error=no GPU: the browser has WebGPU, but no adapter for it; chrome://gpu says why';
      const info = adapter.info ?? {};
      if (onlyHardware && info.isFallbackAdapter) return 'error=no GPU: the only adapter draws on the CPU';
      const wanted = ['shader-f16', 'subgroups', 'timestamp-query', 'chromium-experimental-subgroup-matrix'];
      const requiredFeatures = wanted.filter((name, bit) => !(without >> bit & 1) && adapter.features.has(name));
      const requiredLimits = {};
      if (!(without >> 8 & 1)) {
        for (const name of ['maxBufferSize', 'maxStorageBufferBindingSize', 'maxUniformBufferBindingSize',
          'maxComputeWorkgroupStorageSize', 'maxComputeInvocationsPerWorkgroup', 'maxComputeWorkgroupSizeX',
          'maxComputeWorkgroupsPerDimension', 'maxStorageBuffersPerShaderStage']) {
          if (adapter.limits[name] !== undefined) requiredLimits[name] = adapter.limits[name];
        }
      }
      const device = await adapter.requestDevice({ requiredFeatures, requiredLimits });
      Object.assign(ternGpu, { device, error: null, lost: null, pending: [], staging: [] });
      device.addEventListener?.('uncapturederror', (event) => ternGpu.fail(2, event.error.message));
      device.lost.then((why) => {
        if (ternGpu.device === device) ternGpu.lost = why.message || 'the browser or its driver reset it';
      });
      const has = (name) => (device.features.has(name) ? 1 : 0);
      const packedDot = gpu.wgslLanguageFeatures?.has('packed_4x8_integer_dot_product') ? 1 : 0;
      const matrices = !has(wanted[3]) ? '' : (info.subgroupMatrixConfigs ?? [])
        .map((c) => [c.componentType, c.resultComponentType, c.M, c.N, c.K].join(' ')).join(',');
      const limits = device.limits;
      return Object.entries({
        name: info.description || info.device || [info.vendor, info.architecture].filter(Boolean).join(' ') || 'GPU',
        vendor: info.vendor, driver: [info.architecture, info.device].filter(Boolean).join(' '),
        software: info.isFallbackAdapter || adapter.isFallbackAdapter ||
          /swiftshader|llvmpipe/i.test(info.description + info.architecture) ? 1 : 0,
        f16: has(wanted[0]), subgroups: has(wanted[1]), timestamps: has(wanted[2]), packed_dot: packedDot,
        subgroup_min: info.subgroupMinSize ?? 0, subgroup_max: info.subgroupMaxSize ?? 0, matrices,
        binding_bytes: limits.maxStorageBufferBindingSize, uniform_bytes: limits.maxUniformBufferBindingSize,
        buffer_bytes: limits.maxBufferSize,
        offset_alignment: Math.max(limits.minStorageBufferOffsetAlignment, limits.minUniformBufferOffsetAlignment),
        workgroups: limits.maxComputeWorkgroupsPerDimension, invocations: limits.maxComputeInvocationsPerWorkgroup,
        workgroup_bytes: limits.maxComputeWorkgroupStorageSize, storage_buffers: limits.maxStorageBuffersPerShaderStage,
      }).map(([key, value]) => `${key}=${String(value).replace(/\n/g, ' ')}`).join('\n');
    },
    // Words of a command: pipeline, bind group, x, y, z; or 0, from, offset, to, offset, bytes.
    dispatch(pass, list, at) {
      pass.setPipeline(ternGpu.objects[list[at]].pipeline);
      pass.setBindGroup(0, ternGpu.objects[list[at + 1]]);
      pass.dispatchWorkgroups(list[at + 2], list[at + 3], list[at + 4]);
    },
    copy(encoder, list, at) {
      encoder.copyBufferToBuffer(ternGpu.objects[list[at + 1]], list[at + 2], ternGpu.objects[list[at + 3]],
        list[at + 4], list[at + 5]);
    },
    encode(encoder, pointer, words) {
      const list = HEAPU32.subarray(pointer >>> 2, (pointer >>> 2) + words);
      let pass = null;
      let pipeline = 0;
      let group = 0;
      for (let at = 0; at < words; at += 6) {
        if (list[at] === 0) {
          pass?.end();
          pass = null;
          ternGpu.copy(encoder, list, at);
          continue;
        }
        if (!pass) {
          pass = encoder.beginComputePass();
          pipeline = group = 0;
        }
        if (list[at] !== pipeline) pass.setPipeline(ternGpu.objects[pipeline = list[at]].pipeline);
        if (list[at + 1] !== group) pass.setBindGroup(0, ternGpu.objects[group = list[at + 1]]);
        pass.dispatchWorkgroups(list[at + 2], list[at + 3], list[at + 4]);
      }
      pass?.end();
    },
    // A buffer to map, of a size that is there already if one is free.
    takeStaging(bytes) {
      const found = ternGpu.staging.findIndex((buffer) => buffer.size >= bytes);
      if (found >= 0) return ternGpu.staging.splice(found, 1)[0];
      const usage = 9;  // MAP_READ, COPY_DST
      return ternGpu.device.createBuffer({ label: 'staging', size: Math.max(bytes, 256), usage });
    },
    giveBack(buffer) {
      if (ternGpu.staging.length < 8) ternGpu.staging.push(buffer);
      else buffer.destroy();
    },
    copyBack(encoder, buffer, offset, bytes) {
      const size = (bytes + 3) & ~3;
      const staging = ternGpu.takeStaging(size);
      encoder.copyBufferToBuffer(buffer, offset, staging, 0, size);
      ternGpu.device.queue.submit([encoder.finish()]);
      const back = { staging, bytes, isDropped: false };
      back.mapped = staging.mapAsync(1, 0, size).then(() => true, async (error) => {
        if (back.isDropped) return false;
        // Where the device is lost, that is told a little later, and is the better reason.
        await Promise.race([ternGpu.device?.lost, new Promise((resolve) => { setTimeout(resolve, 100); })]);
        ternGpu.fail(2, `reading back: ${error.message}`);
        return false;
      });
      return back;
    },
    // Seconds of each dispatch (copies: 0), or with `whole` of all of them as one.
    async time(pointer, words, whole) {
      const { device } = ternGpu;
      const list = HEAPU32.slice(pointer >>> 2, (pointer >>> 2) + words);
      const starts = [];
      for (let at = 0; at < words; at += 6) starts.push(at);
      const dispatches = whole ? 1 : starts.filter((at) => list[at] !== 0).length;
      const perSet = 4096;
      const sets = [];
      for (let first = 0; first < 2 * dispatches; first += perSet) {
        sets.push(device.createQuerySet({ type: 'timestamp', count: Math.min(perSet, 2 * dispatches - first) }));
      }
      const writes = (i) => ({
        querySet: sets[Math.floor(2 * i / perSet)],
        beginningOfPassWriteIndex: 2 * i % perSet, endOfPassWriteIndex: 2 * i % perSet + 1,
      });
      const resolved = device.createBuffer({ size: Math.max(16 * dispatches, 16), usage: 0x200 | 4 });  // QUERY_RESOLVE
      const encoder = device.createCommandEncoder();
      if (whole) {
        const pass = encoder.beginComputePass({ timestampWrites: writes(0) });
        for (const at of starts) ternGpu.dispatch(pass, list, at);
        pass.end();
      } else {
        let i = 0;
        for (const at of starts) {
          if (list[at] === 0) {
            ternGpu.copy(encoder, list, at);
            continue;
          }
          const pass = encoder.beginComputePass({ timestampWrites: writes(i++) });
          ternGpu.dispatch(pass, list, at);
          pass.end();
        }
      }
      sets.forEach((set, i) => encoder.resolveQuerySet(set, 0, set.count, resolved, i * perSet * 8));
      const back = ternGpu.copyBack(encoder, resolved, 0, 16 * dispatches);
      const ok = await back.mapped;
      const ticks = ok ? new BigUint64Array(back.staging.getMappedRange(0, 16 * dispatches).slice(0)) : [];
      if (ok) back.staging.unmap();
      ternGpu.giveBack(back.staging);
      resolved.destroy();
      sets.forEach((set) => set.destroy());
      if (!ok) return null;
      const seconds = (i) => Math.max(0, Number(ticks[2 * i + 1] - ticks[2 * i]) * 1e-9);
      if (whole) return [seconds(0)];
      let i = 0;
      return starts.map((at) => (list[at] === 0 ? 0 : seconds(i++)));
    },
  },

  // "key=value" lines, in memory that the caller frees; "error=…" where no device can be opened.
  tern_gpu_open__deps: ['$ternGpu', '$stringToNewUTF8'],
  tern_gpu_open__async: true,
  tern_gpu_open__sig: 'pii',
  tern_gpu_open: (without, onlyHardware) => ternGpu.open(without, onlyHardware)
    .catch((error) => `error=the GPU cannot be opened: ${error.message}`).then((text) => stringToNewUTF8(text)),

  tern_gpu_close__deps: ['$ternGpu'],
  tern_gpu_close__sig: 'v',
  tern_gpu_close: () => {
    const { device } = ternGpu;
    Object.assign(ternGpu, { device: null, objects: [null], free: [], pending: [], staging: [] });
    device?.destroy();
  },

  // As if the driver had reset it.
  tern_gpu_lose__deps: ['$ternGpu'],
  tern_gpu_lose__sig: 'v',
  tern_gpu_lose: () => {
    ternGpu.lost = 'lost on request';
    ternGpu.device.destroy();
  },

  // 0: no error; else its code, and its text in memory that the caller frees.
  tern_gpu_take_error__deps: ['$ternGpu', '$stringToNewUTF8'],
  tern_gpu_take_error__sig: 'ip',
  tern_gpu_take_error: (text) => {
    const { lost, error } = ternGpu;
    if (lost === null && error === null) return 0;
    if (lost === null) ternGpu.error = null;
    HEAPU32[text >>> 2] = stringToNewUTF8(lost ?? error.message);
    return lost !== null ? 3 : error.code;
  },

  tern_gpu_new_buffer__deps: ['$ternGpu', '$UTF8ToString'],
  tern_gpu_new_buffer__sig: 'ipdi',
  tern_gpu_new_buffer: (label, size, usage) => {
    const name = UTF8ToString(label);
    const make = () => ternGpu.device.createBuffer({ label: name, size, usage });
    return ternGpu.add(ternGpu.scoped(`GPU buffer ${name} of ${size} bytes`, make));
  },

  tern_gpu_free_buffer__deps: ['$ternGpu'],
  tern_gpu_free_buffer__sig: 'vi',
  tern_gpu_free_buffer: (id) => {
    ternGpu.objects[id]?.destroy();
    ternGpu.remove(id);
  },

  tern_gpu_free__deps: ['$ternGpu'],
  tern_gpu_free__sig: 'vi',
  tern_gpu_free: (id) => ternGpu.remove(id),

  tern_gpu_write__deps: ['$ternGpu'],
  tern_gpu_write__sig: 'vidpp',
  tern_gpu_write: (id, offset, pointer, bytes) => {
    const buffer = ternGpu.objects[id];
    if (buffer) ternGpu.device.queue.writeBuffer(buffer, offset, HEAPU8, pointer, bytes);
  },

  // From a file to the GPU, past the module's memory. Null, or what went wrong, in memory that the caller frees.
  tern_gpu_write_file__deps: ['$ternGpu', '$ternFiles', '$UTF8ToString'],
  tern_gpu_write_file__async: true,
  tern_gpu_write_file__sig: 'pidpdd',
  tern_gpu_write_file: async (id, offset, path, from, bytes) => {
    const name = UTF8ToString(path);
    const piece = new Uint8Array(Math.min(bytes, 4 << 20));
    try {
      for (let at = 0; at < bytes; at += piece.length) {
        const part = piece.subarray(0, Math.min(piece.length, bytes - at));
        await Module['files'].read(name, from + at, part);
        const buffer = ternGpu.objects[id];
        if (buffer) ternGpu.device.queue.writeBuffer(buffer, offset + at, part);
      }
      return 0;
    } catch (error) {
      return ternFiles.failed(name, error);
    }
  },

  // `access` has a digit for each binding: 0 read, 1 read and write, 2 uniform. Compiles behind the caller's back; what
  // goes wrong is told by tern_gpu_settle.
  tern_gpu_new_pipeline__deps: ['$ternGpu', '$UTF8ToString'],
  tern_gpu_new_pipeline__sig: 'ippp',
  tern_gpu_new_pipeline: (name, text, access) => {
    const { device } = ternGpu;
    const label = UTF8ToString(name);
    const types = ['read-only-storage', 'storage', 'uniform'];
    const entries = Array.from(UTF8ToString(access), (digit, binding) => (
      { binding, visibility: 4, buffer: { type: types[digit] } }));
    const made = { pipeline: null, layout: null };
    const compiling = ternGpu.scoped(`kernel ${label}`, () => {
      made.layout = device.createBindGroupLayout({ label, entries });
      const module = device.createShaderModule({ label, code: UTF8ToString(text) });
      const layout = device.createPipelineLayout({ bindGroupLayouts: [made.layout] });
      return device.createComputePipelineAsync({ label, layout, compute: { module, entryPoint: label } }).then(
        (pipeline) => { made.pipeline = pipeline; },
        async (error) => {
          const info = await module.getCompilationInfo().catch(() => null);
          const first = info?.messages.find((message) => message.type === 'error');
          const where = first ? `line ${first.lineNum}:${first.linePos}: ${first.message}` : error.message;
          ternGpu.fail(2, `kernel ${label}, ${where}`);
        });
    });
    if (compiling) ternGpu.pending.push(compiling);
    return ternGpu.add(made);
  },

  // Waits for the pipelines that are being compiled.
  tern_gpu_settle__deps: ['$ternGpu'],
  tern_gpu_settle__async: true,
  tern_gpu_settle__sig: 'v',
  tern_gpu_settle: () => Promise.all(ternGpu.pending.splice(0)).then(() => {}),

  // `entries` has three numbers for each binding: buffer, offset, bytes.
  tern_gpu_bind__deps: ['$ternGpu', '$UTF8ToString'],
  tern_gpu_bind__sig: 'iippi',
  tern_gpu_bind: (pipeline, name, pointer, count) => {
    const label = UTF8ToString(name);
    const entries = Array.from({ length: count }, (_, binding) => {
      const [buffer, offset, size] = HEAPU32.subarray((pointer >>> 2) + 3 * binding, (pointer >>> 2) + 3 * binding + 3);
      return { binding, resource: { buffer: ternGpu.objects[buffer], offset, size } };
    });
    const make = () => ternGpu.device.createBindGroup({ label, layout: ternGpu.objects[pipeline].layout, entries });
    return ternGpu.add(ternGpu.scoped(`kernel ${label}`, make));
  },

  tern_gpu_submit__deps: ['$ternGpu'],
  tern_gpu_submit__sig: 'vpi',
  tern_gpu_submit: (pointer, words) => {
    if (ternGpu.lost !== null) return;
    const encoder = ternGpu.device.createCommandEncoder();
    ternGpu.encode(encoder, pointer, words);
    ternGpu.device.queue.submit([encoder.finish()]);
  },

  // The commands and a copy as one submit; the number of what is on its way back.
  tern_gpu_read_later__deps: ['$ternGpu'],
  tern_gpu_read_later__sig: 'ipiidi',
  tern_gpu_read_later: (pointer, words, id, offset, bytes) => {
    if (ternGpu.lost !== null) return ternGpu.add({ staging: null, mapped: Promise.resolve(false), bytes });
    const encoder = ternGpu.device.createCommandEncoder();
    ternGpu.encode(encoder, pointer, words);
    return ternGpu.add(ternGpu.copyBack(encoder, ternGpu.objects[id], offset, bytes));
  },

  // 1: the bytes are at `out`; 0: they did not come, and an error says why.
  tern_gpu_finish_read__deps: ['$ternGpu'],
  tern_gpu_finish_read__async: true,
  tern_gpu_finish_read__sig: 'iip',
  tern_gpu_finish_read: (id, out) => {
    const back = ternGpu.objects[id];
    return back.mapped.then((ok) => {
      if (!ok) return 0;
      HEAPU8.set(new Uint8Array(back.staging.getMappedRange(0, (back.bytes + 3) & ~3), 0, back.bytes), out);
      back.staging.unmap();
      ternGpu.giveBack(back.staging);
      back.staging = null;
      return 1;
    });
  },

  tern_gpu_end_read__deps: ['$ternGpu'],
  tern_gpu_end_read__sig: 'vi',
  tern_gpu_end_read: (id) => {
    const back = ternGpu.objects[id];
    if (back?.staging) {  // nobody waited for it
      back.isDropped = true;
      back.staging.destroy();
    }
    ternGpu.remove(id);
  },

  // 1: `out` has the seconds (f64).
  tern_gpu_time__deps: ['$ternGpu'],
  tern_gpu_time__async: true,
  tern_gpu_time__sig: 'ipiip',
  tern_gpu_time: (pointer, words, whole, out) => ternGpu.time(pointer, words, whole).then((seconds) => {
    if (!seconds) return 0;
    HEAPF64.set(seconds, out >>> 3);
    return 1;
  }, (error) => {
    ternGpu.fail(2, `measuring times: ${error.message}`);
    return 0;
  }),

  tern_gpu_wait__deps: ['$ternGpu'],
  tern_gpu_wait__async: true,
  tern_gpu_wait__sig: 'v',
  tern_gpu_wait: () => ternGpu.device.queue.onSubmittedWorkDone().catch(() => {}),
});
