// Common purposes of a key or device: the scopes it needs and the methods and paths it is limited to.
import { m } from '../../../paraglide/messages.js';
import type { Scope } from './scopes';

export interface Preset {
  id: 'voice' | 'chat' | 'webhooks' | 'metrics';
  label: () => string;
  scopes: readonly Scope[];
  only: readonly string[];
}

export const PRESETS: readonly Preset[] = [
  {
    id: 'voice',
    label: m.security_preset_voice,
    scopes: ['operator.read', 'operator.write'],
    only: ['tts.*', 'stt.*', 'voice.personas.list', '/v1/audio/*', '/api/tts/stream'],
  },
  {
    id: 'chat',
    label: m.security_preset_chat,
    scopes: ['operator.read', 'operator.write'],
    only: ['chat.*', 'sessions.*', 'agents.list', 'models.list', '/api/sessions/*'],
  },
  {
    id: 'webhooks',
    label: m.security_preset_webhooks,
    scopes: ['operator.read', 'operator.write'],
    only: ['webhooks.*', 'channels.list', 'agents.list'],
  },
  { id: 'metrics', label: m.security_preset_metrics, scopes: ['operator.read'], only: ['/metrics'] },
];

/** The presets for devices, which call methods on a socket and no paths. */
export const DEVICE_PRESETS: readonly Preset[] = PRESETS.map((preset) => ({
  ...preset,
  only: preset.only.filter((pattern) => !pattern.startsWith('/')),
})).filter(({ only }) => only.length > 0);

const same = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((one) => b.includes(one));

/** The preset whose limits and scopes these are. */
export const presetOf = (presets: readonly Preset[], scopes: readonly Scope[], only: readonly string[]) =>
  presets.find((preset) => same(preset.only, only) && same(preset.scopes, scopes));
