// What the panel shows, fetched when it is first open.

import {ModelPanel} from '../model/model_panel.js';
import {KernelsView} from './kernels_view.js';
import {Readings} from './readings.js';
import {SettingsPanel} from './settings_panel.js';

/**
 * @param {import('../model/model_host.js').ModelHost} host
 * @param {import('../chat/chat.js').Chat} chat
 * @param {import('../base/settings.js').Settings} settings
 * @param {boolean} hasKernels
 */
export function fill(host, chat, settings, hasKernels) {
  new ModelPanel(host, settings);
  new Readings(host, chat);
  new SettingsPanel(settings, host);
  if (hasKernels) new KernelsView(host, chat);
}
