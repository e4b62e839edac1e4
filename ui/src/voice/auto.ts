import { m } from '../paraglide/messages.js';

/** The modes for speaking answers automatically, with their labels. */
export const autoModes = () => [
  { value: 'off', label: m.voice_auto_off(), hint: m.voice_auto_off_hint() },
  { value: 'inbound', label: m.voice_auto_inbound(), hint: m.voice_auto_inbound_hint() },
  { value: 'tagged', label: m.voice_auto_tagged(), hint: m.voice_auto_tagged_hint() },
  { value: 'always', label: m.voice_auto_always(), hint: m.voice_auto_always_hint() },
];
